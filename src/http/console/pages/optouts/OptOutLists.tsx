/** The page of an opt-out list, of the organization or of the service: add values, import and export a CSV, remove an entry. */
import { addedSentence } from "../../../client/Words.ts"
import { type AnswerOf, api } from "../../data/api.ts"
import { useDenied } from "../../data/session.ts"
import { ActionForm, ConfirmAction, useAction } from "../../actions/Actions.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Allowed, Empty, Page, Panel } from "../../parts/Page.tsx"

type Entry = AnswerOf<"optOuts", "list">["items"][number]

interface ListProps {
  /** Of the contract's operations. The keys of the list's queries begin with it. */
  readonly group: "optOuts" | "operatorOptOuts"
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

const Add = ({ group }: ListProps) => {
  const add = useAction((sent: FormData) => api[group].add({ payload: { ...payloadIn(sent), source: "console" } }), {
    says: addedSentence,
    changes: [group]
  })
  return (
    <Panel title="Add opt-outs">
      <ActionForm action={add} submit="Add to the list" className="space-y-3">
        <PayloadFields form={form} words={words} />
      </ActionForm>
      {add.data !== undefined && <p className="mt-3 text-muted">{addedSentence(add.data)}</p>}
    </Panel>
  )
}

const textOf = (sent: FormData): Promise<string> => {
  const file = sent.get("file")
  return file instanceof File ? file.text() : Promise.resolve("")
}

const Exchange = ({ group, path }: ListProps) => {
  const load = useAction(async (sent: FormData) => api[group].import({ payload: await textOf(sent) }), {
    says: addedSentence,
    changes: [group]
  })
  return (
    <Panel title="Import and export">
      <ActionForm action={load} submit="Import the file" className="space-y-3">
        <label className="block">
          A CSV with a column of values, or an export of another system
          <input type="file" name="file" accept=".csv,text/csv" required className="mt-1 block" />
        </label>
      </ActionForm>
      {load.data !== undefined && <p className="mt-3 text-muted">{addedSentence(load.data)}</p>}
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

const Remove = ({ group, entry: { id, hint } }: Pick<ListProps, "group"> & { readonly entry: Entry }) => (
  <ConfirmAction
    send={() => api[group].remove({ params: { opt_out_id: id } })}
    says="The opt-out is removed."
    changes={[group]}
    word="Remove"
    label={`Remove the opt-out of ${hint ?? id}`}
    confirm="Remove the opt-out"
    cancel="Keep it"
  >
    <p>Runs may contact it again. Make sure that the person wants that.</p>
  </ConfirmAction>
)

export const OptOutLists = ({ children, ...list }: ListProps & { readonly children: string }) => {
  const { group } = list
  const mayImport = useDenied(`${group}.import`) === null
  const mayRemove = useDenied(`${group}.remove`) === null
  const paged = usePaged([group, "list"], (from) => api[group].list({ query: from }), { pageSize: 100 })
  return (
    <Page title="Opt-outs" lead={children}>
      <Allowed operation={`${group}.add`}>
        <Add {...list} />
      </Allowed>
      <PagedTable
        paged={paged}
        label="Opt-outs"
        columns={columnsOf("OptOut", { actions: mayRemove && ((entry) => <Remove group={group} entry={entry} />) })}
        keyOf={({ id }) => id}
        empty={
          <Empty title="Opt-outs will be here.">
            <p className="text-muted">Recipients add themselves with the link of a message.</p>
          </Empty>
        }
      />
      {mayImport && <Exchange {...list} />}
    </Page>
  )
}
