/**
 * The part of a turn that is about budgets of labels: the values that its new runs have, and which of their budgets each run counts in.
 *
 * A wallet without such budgets, and a run without labels, read and write nothing here.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type LabelAsk, labelAsks } from "../../schema/wallet/LabelBudget.ts"
import { texts } from "../postgres/Columns.ts"
import type { AdmittedRun, TurnInput } from "./Turn.ts"

/** The values of labels with a budget, of runs that may be admitted. */
export const turnAsks = ({ runs, wallets }: Pick<TurnInput, "runs" | "wallets">): ReadonlyArray<LabelAsk> =>
  [...runs.values()].flatMap((run) =>
    run.status === "created" ? labelAsks(wallets.get(run.org_id)?.wallet.budget_labels, run) : []
  )

/** Makes the rows of values that have a budget and were never counted. They count nothing yet. */
export const makeValueBudgets = (sql: SqlClient.SqlClient, asks: ReadonlyArray<LabelAsk>) =>
  asks.length === 0
    ? Effect.void
    : Effect.asVoid(sql`
        INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, label, value)
        SELECT DISTINCT ON (n.budget_id) n.budget_id, n.org_id, n.budget_id, b.amount, b.period, n.label, n.value
        FROM unnest(${texts(asks.map((a) => a.budget_id))}, ${texts(asks.map((a) => a.org_id))}, ${texts(asks.map((a) => a.label))},
                    ${texts(asks.map((a) => a.value))}) AS n(budget_id, org_id, label, value)
        CROSS JOIN LATERAL label_budget_of(n.org_id, n.label, n.value) b
        WHERE b.id IS NOT NULL AND NOT EXISTS (SELECT FROM key_budgets k WHERE k.budget_id = n.budget_id)
        ON CONFLICT DO NOTHING`)

/** Parts of the statement that opens runs. One without such runs is the same as before. */
export const openedLabels = (sql: SqlClient.SqlClient, opened: ReadonlyArray<AdmittedRun>) => {
  const none = sql.literal("")
  const pairs = opened.flatMap(({ run_id, org_id, label_budgets = [] }) =>
    label_budgets.map((budget_id) => ({ budget_id, run_id, org_id }))
  )
  if (pairs.length === 0) return { name: none, value: none, column: none, rows: none }
  return {
    name: sql.literal(", label_budgets"),
    value: sql.literal(", string_to_array(label_budgets, ' ')"),
    column: sql`, ${texts(opened.map(({ label_budgets = [] }) => (label_budgets.length === 0 ? null : label_budgets.join(" "))))}`,
    rows: sql`, labelled AS (
            INSERT INTO label_budget_runs (budget_id, run_id, org_id)
            SELECT * FROM unnest(${texts(pairs.map((p) => p.budget_id))}, ${texts(pairs.map((p) => p.run_id))}, ${texts(pairs.map((p) => p.org_id))})
          )`
  }
}
