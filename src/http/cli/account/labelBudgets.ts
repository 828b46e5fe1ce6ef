/** `rungate label-budgets`: what the runs with a label, such as a customer, may cost. Changing them needs a session. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { LabelBudget, LabelValue } from "../../../schema/nouns/LabelBudget.ts"
import { LabelBudgetsApi, StatementPage } from "../../api/accounts/LabelBudgets.ts"
import { drawn, listed, said } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { read, show } from "../answers/show.ts"
import { outputFlag, saveFile } from "../receipts/files.ts"
import { failedWith } from "../terminal/exits.ts"
import { amount, argument } from "../terminal/flags.ts"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { dollars } from "../terminal/values.ts"

const { endpoints } = LabelBudgetsApi

const limit = ({ limit, period }: Pick<typeof LabelBudget.Encoded, "limit" | "period">) =>
  `${dollars(limit)} ${period === "total" ? "in total" : `per ${period}`}`

const list = row(endpoints.list, {
  show: listed(LabelBudget, "There are no label budgets. Set one with: rungate label-budgets set customer", { limit })
})

const set = row(endpoints.set, {
  fields: {
    label: argument("label", "the name of a label in the metadata of runs, such as customer"),
    value: "the value that it is for; without it, each value has the budget by itself",
    limit: amount("limit", "the most that the runs may charge and hold, in USD"),
    period: Flag.Literals("period", budgetPeriods).pipe(Flag.withDefault("month"))
  },
  show: drawn(LabelBudget, ({ label, value, ...budget }) => [
    `Runs with ${label} ${value === null ? "may cost, for each value by itself," : `"${value}" may cost`} ${limit(budget)}.`
  ]),
  examples: {
    "rungate label-budgets set customer --value acme --limit 25 --period month": "One customer",
    "rungate label-budgets set customer --limit 5 --period day": "Every other customer"
  }
})

const values = row(endpoints.values, {
  fields: { label: "only the values of this label", id: false },
  show: listed(LabelValue, "No run with a budget of its label was counted yet.", { limit })
})

/** The statement and the receipts, one JWS a line, as `rungate receipt verify` reads them. */
const statement = rowWith(
  endpoints.statement,
  { output: outputFlag("statement-<period>.jws") },
  () => Effect.succeed({}),
  {
    about: "Save the statement of a label's runs with their receipts; rungate receipt verify verifies it offline",
    lists: "whole",
    csv: true,
    fields: {
      label: argument("label", "the name of the label, such as customer"),
      value: argument("value", "its value, such as acme"),
      period: "a month such as 2026-11, or a day such as 2026-11-21; default: the present month"
    },
    examples: {
      "rungate label-budgets statement customer acme --period 2026-11": "One customer's month",
      "rungate receipt verify statement-2026-11.jws --jwks jwks.json": "What the customer does"
    },
    show: Effect.fnUntraced(function* (answer, shown, { output }) {
      if (shown.json || shown.jsonl) return yield* show(answer, shown, () => null)
      const { items, statement } = yield* read(StatementPage, answer)
      if (statement === null) return yield* failedWith("The service sent no statement. Run the command again.")
      const { period, charged, runs } = statement
      const lines = [statement.signed, ...items.flatMap(({ receipt }) => receipt ?? [])]
      const what = `the statement of ${period}: ${runs} runs, ${dollars(charged)} charged`
      yield* saveFile(output ?? `statement-${period}.jws`, lines.join("\n"), what)
    })
  }
)

const remove = row(endpoints.remove, {
  confirm: "Remove {label_budget_id}? Runs with the label will no longer be blocked by it.",
  show: said("Removed {label_budget_id}.")
})

export const labelBudgets = Command.make("label-budgets").pipe(
  Command.withDescription("List, set and remove what the runs with a label may cost; save statements of them"),
  Command.withSubcommands([list, values, set, statement, remove])
)
