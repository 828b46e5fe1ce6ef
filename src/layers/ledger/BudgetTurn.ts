/**
 * The key-budget part of a turn: the budgets that its runs count against, and their write in the turn's one statement.
 *
 * A turn whose runs have no budget reads and writes nothing here. Each write requires the version that was read, because a person may
 * change a limit between the turn's reading and its commit.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { budgetPeriods, type KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import { bigints, texts } from "../postgres/Columns.ts"
import { rowsOf } from "../postgres/Rows.ts"

/** A budget as it was read. */
export interface ReadBudget {
  readonly budget: KeyBudget
  readonly version: bigint
}

/** Keyed by budget id. */
export type BudgetView = ReadonlyMap<string, ReadBudget>
export const noBudgets: BudgetView = new Map()

export const BudgetRow = Schema.Struct({
  budget_id: Schema.String,
  version: Schema.BigInt,
  amount: Schema.BigInt,
  period: Schema.Literals(budgetPeriods),
  reserved: Schema.BigInt,
  counted_on: Schema.String,
  spent_day: Schema.BigInt,
  spent_week: Schema.BigInt,
  spent_month: Schema.BigInt,
  spent_total: Schema.BigInt
})
const budgetRows = rowsOf(BudgetRow.fields)

export const budgetOf = (row: typeof BudgetRow.Type): KeyBudget => ({
  budget_id: row.budget_id,
  limit: MicroUsd(row.amount),
  period: row.period,
  reserved: MicroUsd(row.reserved),
  counted_on: row.counted_on,
  spent_day: MicroUsd(row.spent_day),
  spent_week: MicroUsd(row.spent_week),
  spent_month: MicroUsd(row.spent_month),
  spent_total: MicroUsd(row.spent_total)
})

export const readBudgets = (sql: SqlClient.SqlClient, budget_ids: ReadonlyArray<string>) =>
  Effect.map(
    budgetRows(sql`
    SELECT budget_id, version, amount, period, reserved, counted_on::text AS counted_on, spent_day, spent_week, spent_month, spent_total
    FROM key_budgets WHERE budget_id = ANY(${texts(budget_ids)})`),
    (rows): BudgetView => new Map(rows.map((row) => [row.budget_id, { budget: budgetOf(row), version: row.version }]))
  )

/** A common table expression of the turn's statement, with a leading comma. */
export const writeBudgets = (sql: SqlClient.SqlClient, read: BudgetView, budgets: ReadonlyArray<KeyBudget>) =>
  budgets.length === 0
    ? sql.literal("")
    : sql`, budgeted AS (
            UPDATE key_budgets b SET version = b.version + 1, reserved = n.reserved, counted_on = n.counted_on, spent_day = n.spent_day,
                   spent_week = n.spent_week, spent_month = n.spent_month, spent_total = n.spent_total
            FROM unnest(${texts(budgets.map((b) => b.budget_id))}, ${bigints(budgets.map((b) => read.get(b.budget_id)?.version ?? null))},
                        ${bigints(budgets.map((b) => b.reserved))}, ${texts(budgets.map((b) => b.counted_on))}::date[],
                        ${bigints(budgets.map((b) => b.spent_day))}, ${bigints(budgets.map((b) => b.spent_week))},
                        ${bigints(budgets.map((b) => b.spent_month))}, ${bigints(budgets.map((b) => b.spent_total))})
                 AS n(budget_id, version, reserved, counted_on, spent_day, spent_week, spent_month, spent_total)
            WHERE b.budget_id = n.budget_id AND b.version = n.version
            RETURNING 1
          )`

/** Condition of the turn's statement: every budget still had the version that was read. */
export const budgetsAreCurrent = (sql: SqlClient.SqlClient, budgets: ReadonlyArray<KeyBudget>) =>
  budgets.length === 0 ? sql.literal("") : sql`AND (SELECT count(*) FROM budgeted) = ${budgets.length}::int`
