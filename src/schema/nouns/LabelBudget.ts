/** A budget of a label: what the runs with one value of it, or with each value by itself, may charge and hold. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { budgetPeriods } from "../money/SpendDay.ts"
import { component, amount, amountAs, idOf, such, text, time, withExample } from "./Noun.ts"

export const LabelBudget = component("LabelBudget", {
  id: idOf("lbl"),
  label: text("Name of the label in the metadata of runs."),
  value: Schema.NullOr(Schema.String).annotate({ description: "null: each value has this budget by itself" }),
  limit: amount,
  period: Schema.Literals(budgetPeriods),
  spent: Schema.NullOr(amountAs("charged in the current period; null for each value")),
  reserved: Schema.NullOr(amountAs("what open runs hold; null for each value")),
  resets_at: Schema.NullOr(time).annotate({ description: "null for total" }),
  time_zone: Schema.NullOr(Schema.String).annotate({
    description: "the zone whose days it counts; null: the organization's"
  }),
  created_at: time
}).pipe(
  withColumns({
    list: ["id", "label", "value", "limit", "spent", "created_at"],
    terminal: ["id"],
    wide: ["created_at"],
    titles: { created_at: "Set" },
    none: { value: "(each value)" }
  }),
  withExample({
    id: "lbl_01m81nzk5dej20zws915h61fdz",
    label: "customer",
    value: "acme",
    limit: "25.00",
    period: "month",
    spent: "3.72",
    reserved: "0.00",
    resets_at: "2026-12-01T00:00:00.000Z",
    time_zone: null,
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

/** What is counted of one value that has a budget, by itself or as each value has it. */
export const LabelValue = component("LabelValue", {
  id: such("val_1b2c3d4e5f60718293a4b5c6d7", "the id that budget.reached names"),
  label: LabelBudget.fields.label,
  value: text("The value; erased after the erasure of one of its runs, until its next run."),
  limit: amount,
  period: LabelBudget.fields.period,
  spent: amountAs("charged in the current period"),
  reserved: amountAs("what open runs hold"),
  resets_at: LabelBudget.fields.resets_at
}).pipe(
  withColumns({
    list: ["label", "value", "limit", "spent", "reserved", "resets_at"],
    wide: ["resets_at", "reserved"],
    titles: { reserved: "Held", resets_at: "Resets" }
  }),
  withExample({
    ...{ id: "val_1b2c3d4e5f60718293a4b5c6d7", label: "customer", value: "acme", limit: "25.00", period: "month" },
    ...{ spent: "3.72", reserved: "0.00", resets_at: "2026-12-01T00:00:00.000Z" }
  })
)
