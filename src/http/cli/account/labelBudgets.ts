/** `rungate label-budgets`: what the runs with a label, such as a customer, may cost. Changing them needs a session. */
import { Command, Flag } from "effect/cli"
import { LabelBudget, LabelBudgetsApi } from "../../api/accounts/LabelBudgets.ts"
import { drawn, listed, said } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { amount, argument } from "../terminal/flags.ts"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { dollars } from "../terminal/values.ts"

const { endpoints } = LabelBudgetsApi

const list = row(endpoints.list, {
  alias: "ls",
  show: listed(LabelBudget, "There are no label budgets. Set one with: rungate label-budgets set customer", {
    limit: ({ limit, period }) => `${dollars(limit)} ${period === "total" ? "in total" : `per ${period}`}`
  })
})

const set = row(endpoints.set, {
  fields: {
    label: argument("label", "the name of a label in the metadata of runs, such as customer"),
    value: "the value that it is for; without it, each value has the budget by itself",
    limit: amount("limit", "the most that the runs may charge and hold, in USD"),
    period: Flag.Literals("period", budgetPeriods).pipe(Flag.withDefault("month"))
  },
  show: drawn(LabelBudget, ({ label, value, limit, period }) => [
    `Runs with ${label} ${value === null ? "may cost, for each value by itself," : `"${value}" may cost`} ${dollars(limit)} ${period === "total" ? "in total" : `per ${period}`}.`
  ]),
  examples: [
    {
      command: "rungate label-budgets set customer --value acme --limit 25 --period month",
      description: "One customer"
    },
    { command: "rungate label-budgets set customer --limit 5 --period day", description: "Every other customer" }
  ]
})

const remove = row(endpoints.remove, {
  alias: "rm",
  fields: { label_budget_id: "id from label-budgets list" },
  confirm: "Remove {label_budget_id}? Runs with the label will no longer be blocked by it.",
  show: said("Removed {label_budget_id}.")
})

export const labelBudgets = Command.make("label-budgets").pipe(
  Command.withDescription("List, set and remove what the runs with a label may cost"),
  Command.withSubcommands([list, set, remove])
)
