/** A list of opt-outs, of the organization or of the service: add values, import and export a CSV, remove an entry. */
import type { AnswerOf, api } from "../../data/api.ts"
import { ActionForm, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Empty, Panel } from "../../parts/Page.tsx"

type Entry = AnswerOf<"optOuts", "list">["items"][number]

type Sent<Name extends keyof typeof api.optOuts> = Parameters<(typeof api.optOuts)[Name]>[0]

/** The operations, of either list. */
interface Lists {
  readonly list: (sent: Sent<"list">) => Promise<AnswerOf<"optOuts", "list">>
  readonly add: (sent: Sent<"add">) => Promise<AnswerOf<"optOuts", "add">>
  readonly import: (sent: Sent<"import">) => Promise<AnswerOf<"optOuts", "import">>
  readonly remove: (sent: Sent<"remove">) => Promise<AnswerOf<"optOuts", "remove">>
}

interface ListProps {
  readonly lists: Lists
  /** The first part of the keys of its queries. */
  readonly name: string
  /** Where the export is. */
  readonly path: string
}

const form = payloadForm("optOuts", "add", ["source"])
const words = {
  values: {
    label: "Addresses, domains or profiles",
    hint: "One in each line. A domain covers its addresses and subdomains."
  },
  reason: { label: "Reason (optional)" }
}

const said = ({ added, already, refused }: AnswerOf<"optOuts", "import">) =>
  `Added ${added}. The list had ${already} already.${refused === 0 ? "" : ` ${refused} rows have no value that can be read.`}`

const Add = ({ lists, name }: ListProps) => {
  const add = useAction((sent: FormData) => lists.add({ payload: { ...payloadIn(sent), source: "console" } }), {
    says: said,
    changes: [name]
  })
  return (
    <Panel title="Add opt-outs">
      <ActionForm action={add} submit="Add to the list" className="space-y-3">
        <PayloadFields form={form} words={words} />
      </ActionForm>
      {add.data !== undefined && <p className="mt-3 text-muted">{said(add.data)}</p>}
    </Panel>
  )
}

const textOf = (sent: FormData): Promise<string> => {
  const file = sent.get("file")
  return file instanceof File ? file.text() : Promise.resolve("")
}

const Exchange = ({ lists, name, path }: ListProps) => {
  const load = useAction(async (sent: FormData) => lists.import({ payload: await textOf(sent) }), {
    says: said,
    changes: [name]
  })
  return (
    <Panel title="Import and export">
      <ActionForm action={load} submit="Import the file" className="space-y-3">
        <label className="block">
          A CSV with a column of values, or an export of another system
          <input type="file" name="file" accept=".csv,text/csv" required className="mt-1 block" />
        </label>
      </ActionForm>
      {load.data !== undefined && <p className="mt-3 text-muted">{said(load.data)}</p>}
      <p className="mt-3">
        <a href={path} download="opt-outs.csv">
          Export the list
        </a>{" "}
        <span className="text-muted">
          The file has digests of addresses. Anybody who has it can check whether an address is in it.
        </span>
      </p>
    </Panel>
  )
}

const Remove = ({ lists, name, entry: { id, hint } }: Omit<ListProps, "path"> & { readonly entry: Entry }) => (
  <ConfirmAction
    send={() => lists.remove({ params: { opt_out_id: id } })}
    says="The opt-out is removed."
    changes={[name]}
    word="Remove"
    label={`Remove the opt-out of ${hint ?? id}`}
    title={`Remove the opt-out of ${hint ?? id}?`}
    confirm="Remove the opt-out"
    cancel="Keep it"
  >
    <p>Runs may contact it again. Make sure that the person wants that.</p>
  </ConfirmAction>
)

export const OptOutLists = ({
  mayAdd,
  mayRemove,
  ...list
}: ListProps & { readonly mayAdd: boolean; readonly mayRemove: boolean }) => {
  const { lists, name } = list
  const paged = usePaged([name, "opt-outs"], (from) => lists.list({ query: { limit: 100, ...from } }))
  const actions = {
    title: "Actions",
    cell: (entry: Entry) => <Remove lists={lists} name={name} entry={entry} />,
    align: "right" as const
  }
  const columns = columnsOf("OptOut")
  return (
    <div className="grid grid-cols-1 gap-6">
      {mayAdd ? <Add {...list} /> : <p className="text-muted">A member of the organization can add opt-outs.</p>}
      <PagedTable
        paged={paged}
        label="Opt-outs"
        columns={mayRemove ? [...columns, actions] : columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="Opt-outs will be here.">
            <p className="text-muted">Recipients add themselves with the link of a message.</p>
          </Empty>
        }
      />
      {mayAdd && <Exchange {...list} />}
    </div>
  )
}
