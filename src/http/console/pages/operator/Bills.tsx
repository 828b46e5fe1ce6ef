/** Compares a provider's bill with what runs have cost, as `rungate admin bills match` does. Nothing is stored. */
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { billLines } from "../../../client/BillCsv.ts"
import { readCsv } from "../../../client/Csv.ts"
import { type AnswerOf, api } from "../../data/api.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Field, Select } from "../../parts/Field.tsx"
import { Button, Panel } from "../../parts/Page.tsx"
import { SmallTable } from "./parts.tsx"

type Match = AnswerOf<"operatorCredits", "matchBill">

const columns = columnsOf("BillDifference", { kind: ({ kind }) => kind.replaceAll("_", " ") })

const compared = async (sent: FormData): Promise<Match> => {
  const file = sent.get("file")
  const { rows: all, brokenLine } = readCsv(file instanceof File ? await file.text() : "")
  if (brokenLine !== null) throw new Error(`The file has a quote that is not closed, in line ${brokenLine}.`)
  const [header = [], ...rows] = all
  const [date, amount, reference] = [textIn(sent, "date"), textIn(sent, "amount"), textIn(sent, "reference")]
  const [from, to] = [textIn(sent, "from"), textIn(sent, "to")]
  const columns = { date, amount, reference: reference === "" ? null : reference }
  const lines = billLines({ header, rows }, columns, [from, to])
  if (typeof lines === "string") throw new Error(`The file ${lines}`)
  const payload = { provider: textIn(sent, "provider").trim(), from, to }
  const unit = textIn(sent, "unit") === "USD" ? "USD" : "credit"
  return api.operatorCredits.matchBill({ payload: { ...payload, unit, lines } })
}

const sums = ({ billed, recorded, unit }: Match) => `Billed ${billed}, recorded ${recorded} ${unit}.`

export const Bills = () => (
  <Panel title="Compare a bill">
    <ActionForm
      send={compared}
      says={sums}
      instead={(match, again) => (
        <div className="space-y-3">
          <p>{sums(match)}</p>
          <SmallTable
            label="Differences"
            rows={match.differences}
            none="The bill is what was recorded."
            columns={columns}
          />
          <Button onClick={again}>Compare another bill</Button>
        </div>
      )}
      submit="Compare the bill"
      className="space-y-3"
    >
      <div className="flex flex-wrap gap-3">
        <Field name="provider" label="Provider of the bill" required />
        <Field name="from" label="First day (UTC)" type="date" required />
        <Field name="to" label="Last day" type="date" required />
        <Select name="unit" label="Unit of the amounts" options={{ credit: "Credits of the provider", USD: "USD" }} />
      </div>
      <label className="block">
        The bill as a CSV with a header line
        <input type="file" name="file" accept=".csv,text/csv" required className="mt-1 block" />
      </label>
      <div className="flex flex-wrap gap-3">
        <Field name="date" label="Column of the dates" defaultValue="date" required />
        <Field name="amount" label="Column of the amounts" defaultValue="amount" required />
        <Field name="reference" label="Column of the runs' ids (optional)" />
      </div>
    </ActionForm>
  </Panel>
)
