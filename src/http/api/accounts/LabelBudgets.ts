/** The contract of the budgets of labels: what the runs with a label, such as a customer, may charge and hold. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, listQuery, optional, pages, pagesWith, reads } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { ZoneName } from "../../../schema/money/TimeZone.ts"
import { isMetadataName, nameCharsMax, nameRule, valueCharsMax } from "../../../schema/runs/Metadata.ts"
import { BudgetRequest } from "../shapes/KeyRules.ts"
import { LabelBudget, LabelValue } from "../../../schema/nouns/LabelBudget.ts"
import {
  component,
  nullableText,
  pageOf,
  run_id,
  text,
  timeText,
  withExample,
  removed
} from "../../../schema/nouns/Noun.ts"
import { ChainEntry } from "../../../schema/receipts/ChainEntry.ts"
import { StatementFacts, sums } from "../../../schema/receipts/LabelStatement.ts"
import { RunStatus } from "../../../schema/runs/Run.ts"

const Label = Schema.String.check(
  Schema.isMaxLength(nameCharsMax),
  Schema.makeFilter((name: string) => isMetadataName(name) || nameRule, {}, true)
).annotate({ description: "the name of a label in the metadata of runs, such as customer" })
const Value = Schema.String.check(Schema.isMaxLength(valueCharsMax)).annotate({
  description: "the value whose runs the budget counts; null: each value has the budget by itself"
})

const statement = Schema.NullOr(
  Schema.Struct({ ...StatementFacts.fields, signed: text("a JWS in compact form over the same facts") })
).annotate({ description: "of all pages together; null before the last page" })

export const StatementRun = component("LabelStatementRun", {
  run_id,
  status: RunStatus,
  capability: nullableText,
  endpoint: nullableText,
  finished_at: timeText,
  ...sums,
  ledger: Schema.Array(ChainEntry),
  receipt: Schema.NullOr(Schema.String).annotate({
    description: "a JWS in compact form; null for a run that ended before the period, and was refunded in it"
  })
})

export const StatementPage = Schema.Struct({ ...pageOf(StatementRun).fields, statement })

export const LabelBudgetRequest = component("LabelBudgetRequest", {
  label: Label,
  value: optional(Value),
  limit: Usd,
  period: BudgetRequest.fields.period,
  time_zone: Schema.optionalKey(
    ZoneName.annotate({ description: "the zone whose days it counts, such as Europe/Berlin" })
  )
}).pipe(withExample({ label: "customer", value: "acme", limit: "25.00", period: "month" }))

export class LabelBudgetsApi extends HttpApiGroup.make("labelBudgets").add(
  reads("List label budgets", "Newest first.", "label-budgets list").get("list", "/label-budgets", pages(LabelBudget)),
  reads(
    "List what is spent by value",
    "The values that have a budget and of which a run was counted, of one label if you ask for that, in no particular order.",
    "label-budgets values"
  ).get("values", "/label-budgets/values", {
    ...pagesWith(LabelValue, {
      label: Schema.optionalKey(Label),
      id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
    })
  }),
  reads(
    "Read a label's statement",
    "The runs with this value of the label that held money and ended in the period, with their ledger entries and signed receipts, and the warranty's refunds of the period. The last page has the signed statement: its amounts are the sums of these entries, and its digest covers their hashes. At most 100,000 runs. With `Accept: text/csv` the answer is CSV, without receipts.",
    "label-budgets statement"
  ).get("statement", "/label-budgets/statement", {
    query: {
      ...listQuery,
      label: Label,
      value: Value,
      period: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(10)))
    },
    success: StatementPage,
    error: [Wire.service_unavailable]
  }),
  byAdmins(
    "Set a label budget",
    "Makes the budget of a label's value, or changes it. Without a value, each value has the budget by itself, but those that have one of their own. It counts runs from now on: what open runs hold, and what was charged in the period. A run that would pass it is blocked with the control label_budget. time_zone is a name of the IANA list. Without one, the organization's days count, or those that the budget has. The day, week and month of a change keep their end. It changes once a month, and may be corrected on the same day.",
    "label-budgets set"
  ).put("set", "/label-budgets", {
    payload: LabelBudgetRequest,
    success: LabelBudget
  }),
  byAdmins(
    "Remove a label budget",
    "Runs with the label are no longer blocked by it. Runs that are open end as before.",
    "label-budgets remove"
  ).delete("remove", "/label-budgets/:label_budget_id", { success: removed("lbl", "RemovedLabelBudget") })
) {}
