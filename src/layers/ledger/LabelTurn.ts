/**
 * The part of a turn that is about budgets of labels: the values that its new runs have, and which of their budgets each run counts in.
 *
 * A wallet without such budgets, and a run without labels, read and write nothing here.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { budgetPeriods } from "../../schema/money/SpendDay.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import { type LabelAsk, labelAsks, newValueBudget } from "../../schema/wallet/LabelBudget.ts"
import { bigints, dates, rowsOf, tableOf, texts } from "../postgres/Rows.ts"
import { type BudgetView, hasRow, momentOf, ownZone, zonesColumn } from "./BudgetTurn.ts"
import type { AdmittedRun, TurnInput } from "./Turn.ts"

/** What the row of a value has as its limit. No run reaches it. */
const unlimited = 9_000_000_000_000_000_000n

/** The values of labels with a budget, of runs that may be admitted. */
export const turnAsks = ({ runs, wallets }: Pick<TurnInput, "runs" | "wallets">): ReadonlyArray<LabelAsk> =>
  [...runs.values()].flatMap((run) =>
    run.status === "created" ? labelAsks(wallets.get(run.org_id)?.wallet.budget_labels, run) : []
  )

const limitRows = rowsOf({
  budget_id: Schema.String,
  amount: Schema.BigInt,
  period: Schema.Literals(budgetPeriods),
  own_zones: Schema.NullOr(Zones),
  own_day: Schema.NullOr(Schema.String)
})

/**
 * Adds the budgets of values in which no run was counted yet. They have no row: the turn that admits the first run stores them, so a refused
 * run leaves nothing. A change of their limits changes the version of the wallet. Stored ones get the value that the run has: it may be erased.
 */
export const withNewValues = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  asks: ReadonlyArray<LabelAsk>,
  stored: BudgetView,
  micros: bigint | null = null
) {
  if (asks.length === 0) return stored
  const budgets = new Map(stored)
  const fresh = new Map<string, LabelAsk>()
  for (const ask of asks) {
    const { budget_id, label, value } = ask
    const read = stored.get(budget_id)
    if (read === undefined) fresh.set(budget_id, ask)
    else budgets.set(budget_id, { ...read, budget: { ...read.budget, label: { name: label, value } } })
  }
  if (fresh.size === 0) return budgets
  const values = [...fresh.values()]
  const at = momentOf(sql, micros)
  const rows = yield* limitRows(sql`
    SELECT n.budget_id, l.amount, l.period, z.zones AS own_zones, CASE WHEN z.zones IS NOT NULL THEN spend_day(z.zones, ${at})::text END AS own_day
    FROM ${tableOf("n", values, { budget_id: texts, org_id: texts, label: texts })}
    CROSS JOIN LATERAL label_budget_of(n.org_id, n.label, n.budget_id) l JOIN wallets w ON w.org_id = n.org_id
    CROSS JOIN LATERAL (SELECT value_zones(NULL, w.time_zones, l.time_zones, ${at}) AS zones) z WHERE l.id IS NOT NULL`)
  for (const { budget_id, amount, period, ...own } of rows) {
    const ask = fresh.get(budget_id)
    if (ask === undefined) continue
    const budget = newValueBudget(ask, MicroUsd(amount), period, ownZone(own))
    const { org_id } = ask
    budgets.set(budget_id, {
      ...{ budget, org_id, key_id: budget_id },
      ...{ version: null, parent_id: null, held_in: null, lastAlert: null }
    })
  }
  return budgets
})

/** Stores the budgets of values with their first run. Their limit stays in `label_budgets`. With a leading comma. */
export const storeNewValues = (sql: SqlClient.SqlClient, read: BudgetView, changed: ReadonlyArray<KeyBudget>) => {
  const budgets = changed.filter((budget) => !hasRow(read, budget))
  const none = sql.literal("")
  if (budgets.length === 0) return { rows: none, condition: none }
  const added = budgets.map(({ label, ...budget }) => {
    const { org_id = null } = read.get(budget.budget_id) ?? {}
    return { ...budget, org_id, label: label?.name ?? null, value: label?.value ?? null }
  })
  return {
    rows: sql`, first_counted AS (
            INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, label, value, reserved, counted_on, time_zones)
            SELECT n.budget_id, n.org_id, n.budget_id, ${unlimited}, 'total', n.label, n.value, n.reserved, n.counted_on, n.time_zones::jsonb
            FROM ${tableOf("n", added, { budget_id: texts, org_id: texts, label: texts, value: texts, reserved: bigints, counted_on: dates }, { time_zones: zonesColumn(budgets) })}
            ON CONFLICT DO NOTHING
            RETURNING 1
          )`,
    condition: sql` AND (SELECT count(*) FROM first_counted) = ${budgets.length}::int`
  }
}

/** Parts of the statement that opens runs. One without such runs is the same as before. */
export const openedLabels = (sql: SqlClient.SqlClient, opened: ReadonlyArray<AdmittedRun>) => {
  const none = sql.literal("")
  const pairs = opened.flatMap(({ run_id, org_id, label_budgets = [] }) =>
    label_budgets.map((budget_id) => ({ budget_id, run_id, org_id }))
  )
  if (pairs.length === 0) return { name: none, value: none, columns: {}, rows: none }
  return {
    name: sql.literal(", label_budgets"),
    value: sql.literal(", string_to_array(label_budgets, ' ')"),
    columns: {
      label_budgets: texts(opened.map(({ label_budgets: ids = [] }) => (ids.length === 0 ? null : ids.join(" "))))
    },
    rows: sql`, labelled AS (
            INSERT INTO label_budget_runs (budget_id, run_id, org_id)
            SELECT * FROM ${tableOf("n", pairs, { budget_id: texts, run_id: texts, org_id: texts })}
          )`
  }
}

/**
 * Erases the values of these budgets, which the next run that has one of them writes again. What was counted stays, found by the digest. It locks
 * the wallet as a turn does, and the new versions make a turn read again which has read the values.
 */
export const eraseValues = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  org_id: string,
  ids: ReadonlyArray<string>
) {
  if (ids.length === 0) return
  const stored = yield* sql`SELECT FROM key_budgets WHERE budget_id = ANY(${texts(ids)}) LIMIT 1`
  if (stored.length === 0) return
  yield* sql`SELECT FROM wallets WHERE org_id = ${org_id} FOR UPDATE`
  yield* sql`UPDATE key_budgets SET value = 'erased', version = version + 1 WHERE org_id = ${org_id} AND budget_id = ANY(${texts(ids)})`
})
