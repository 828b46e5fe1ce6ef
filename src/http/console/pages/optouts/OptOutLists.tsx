/** The page of an opt-out list, of the organization or of the service: add values, import and export a CSV, remove an entry. */
import { addedSentence } from "../../../client/Words.ts"
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionForm, ConfirmAction, SaveButton } from "../../actions/Actions.tsx"
import { saveAnswer } from "../../data/save.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Page, Panel } from "../../parts/Page.tsx"

type Entry = AnswerOf<"optOuts", "list">["items"][number]

interface ListProps {
  readonly group: "optOuts" | "operatorOptOuts"
  /** The first part of the keys of its queries. An operator's list is read with everything of the operator. */
  readonly name: string
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

const Add = ({ group, name }: ListProps) => (
  <PayloadForm
    title="Add opt-outs"
    form={form}
    words={words}
    send={(payload) => api[group].add({ payload: { ...payload, source: "console" } })}
    says={addedSentence}
    changes={[name]}
    submit="Add to the list"
    saved={addedSentence}
  />
)

const textOf = (sent: FormData): Promise<string> => {
  const file = sent.get("file")
  return file instanceof File ? file.text() : Promise.resolve("")
}

const Exchange = ({ group, name, path }: ListProps) => (
  <Panel title="Import and export">
    <ActionForm
      send={async (sent) => api[group].import({ payload: await textOf(sent) })}
      says={addedSentence}
      changes={[name]}
      submit="Import the file"
      saved={addedSentence}
      className="space-y-3"
    >
      <label className="block">
        A CSV with a column of values, or an export of another system
        <input type="file" name="file" accept=".csv,text/csv" required className="mt-1 block" />
      </label>
    </ActionForm>

    <div className="mt-3 flex flex-wrap items-center gap-3">
      <SaveButton send={async () => void (await saveAnswer(path, "text/csv", "opt-outs.csv"))}>
        Export the list
      </SaveButton>
      <p className="text-muted">
        The file has digests of addresses. Anybody who has it can check whether an address is in it.
      </p>
    </div>
  </Panel>
)

const Remove = ({ group, name, entry: { id, hint } }: Omit<ListProps, "path"> & { readonly entry: Entry }) => (
  <ConfirmAction
    send={() => api[group].remove({ params: { opt_out_id: id } })}
    says="The opt-out is removed."
    changes={[name]}
    word="Remove"
    label={`Remove the opt-out of ${hint ?? id}`}
    confirm="Remove the opt-out"
    cancel="Keep it"
  >
    <p>Runs may contact it again. Make sure that the person wants that.</p>
  </ConfirmAction>
)

/** Who may not do what. The page of operators needs no session of an organization, and may not ask for one. */
type Denied = Readonly<Record<"add" | "import" | "remove", string | null>>

export const OptOutLists = ({
  denied,
  children,
  ...list
}: ListProps & { readonly denied: Denied; readonly children: string }) => {
  const { group, name } = list
  const paged = usePaged([name, "opt-outs"], (from) => api[group].list({ query: from }), { pageSize: 100 })
  const remove = (entry: Entry) => <Remove group={group} name={name} entry={entry} />
  return (
    <Page title="Opt-outs" lead={children}>
      {denied.add === null ? <Add {...list} /> : <p className="text-muted">{denied.add}</p>}
      <PagedTable
        paged={paged}
        label="Opt-outs"
        columns={columnsOf("OptOut", { actions: denied.remove === null && remove })}
        empty="Opt-outs will be here."
        hint="Recipients add themselves with the link of a message."
      />
      {denied.import === null && <Exchange {...list} />}
    </Page>
  )
}
