/** The page of an opt-out list, of the organization or of the service: add values, import and export a CSV, remove an entry. */
import { addedSentence, refusalLines } from "../../../client/Words.ts"
import { type AnswerOf, api } from "../../data/api.ts"
import { ActionForm, ConfirmAction, SaveButton } from "../../actions/Actions.tsx"
import { saveAnswer } from "../../data/save.ts"
import { useDenied } from "../../data/session.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Page, Panel } from "../../parts/Page.tsx"

interface Props {
  readonly group: "optOuts" | "operatorOptOuts"
  /** The first part of the keys of its queries. An operator's list is read with everything of the operator. */
  readonly name: string
  readonly path: string
  readonly children: string
}

const form = payloadForm("optOuts", "add", ["source"])
const words = {
  values: {
    label: "Addresses, domains or profiles",
    hint: "One in each line. A domain covers its addresses and subdomains."
  },
  reason: { label: "Reason (optional)" }
}

const textIn = async (sent: FormData): Promise<string> => {
  const file = sent.get("file")
  return file instanceof File ? file.text() : ""
}

const addedWords = (answer: AnswerOf<"optOuts", "import">) =>
  [addedSentence(answer), ...refusalLines(answer)].map((line) => (
    <span key={line} className="block">
      {line}
    </span>
  ))

const OptOutList = ({ group, name, path, children }: Props) => {
  const list = api[group]
  const denied = useDenied(`${group}.add`)
  const mayRemove = useDenied(`${group}.remove`) === null
  const added = { says: addedSentence, saved: addedWords, changes: [name] }
  const paged = usePaged([name, "opt-outs"], (from) => list.list({ query: from }), { pageSize: 100 })
  const remove = ({ id, hint }: AnswerOf<"optOuts", "list">["items"][number]) => (
    <ConfirmAction
      send={() => list.remove({ params: { opt_out_id: id } })}
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
  return (
    <Page lead={children}>
      {denied === null ? (
        <PayloadForm
          title="Add opt-outs"
          form={form}
          words={words}
          send={(payload) => list.add({ payload: { ...payload, source: "console" } })}
          submit="Add to the list"
          {...added}
        />
      ) : (
        <p className="text-muted">{denied}</p>
      )}
      <PagedTable
        paged={paged}
        label="Opt-outs"
        columns={columnsOf("OptOut", { actions: mayRemove && remove })}
        empty="Opt-outs will be here."
        hint="Recipients add themselves with the link of a message."
      />
      <Panel title={denied === null ? "Import and export" : "Export"}>
        {denied === null && (
          <ActionForm
            send={async (sent) => list.import({ payload: await textIn(sent) })}
            submit="Import the file"
            className="space-y-3"
            {...added}
          >
            <label className="block">
              A CSV with a column of values, or an export of another system
              <input type="file" name="file" accept=".csv,text/csv" required className="mt-1 block" />
            </label>
          </ActionForm>
        )}
        <div className="mt-3 flex flex-wrap items-center gap-3">
          <SaveButton send={async () => void (await saveAnswer(path, "text/csv", "opt-outs.csv"))}>
            Export the list
          </SaveButton>
          <p className="text-muted">
            The file has digests of addresses. Anybody who has it can check whether an address is in it.
          </p>
        </div>
      </Panel>
    </Page>
  )
}

const OptOuts = () => (
  <OptOutList group="optOuts" name="optOuts" path="/v1/opt-outs/export">
    Addresses, domains and profiles that no run of the organization may contact.
  </OptOutList>
)
export default OptOuts

/** Organizations see an entry only as the reason of a refused run. */
export const ServiceOptOuts = () => (
  <OptOutList group="operatorOptOuts" name="operator" path="/v1/operator/opt-outs/export">
    Addresses, domains and profiles that no organization&apos;s run may contact.
  </OptOutList>
)
