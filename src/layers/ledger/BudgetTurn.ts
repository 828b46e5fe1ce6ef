/**
 * The key-budget part of a turn: the budgets that its runs count against, and their write in the turn's one statement.
 *
 * A turn whose runs have no budget reads and writes nothing here. Each write requires the version that was read, because a person may
 * change a limit between the turn's reading and its commit. What a budget crossed goes to the event log in the same statement.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { budgetSteps } from "../../schema/events/Alerts.ts"
import { type KeyBudget, purseStates } from "../../schema/wallet/KeyBudget.ts"
import { isOfValue } from "../../schema/wallet/LabelBudget.ts"
import { budgetPeriods } from "../../schema/money/SpendDay.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import type { LastAlert } from "../../schema/events/BudgetAlerts.ts"
import { writeInbox } from "../events/Inbox.ts"
import { bigints, dates, ints, jsons, rowsOf, tableOf, texts } from "../postgres/Rows.ts"

/** A budget as it was read. */
export interface ReadBudget {
  readonly budget: KeyBudget
  /** Null for that of a label's value which has no row yet: see LabelTurn.ts. */
  readonly version: bigint | null
  /** For a batch's budget, the budget of its API key. */
  readonly parent_id: string | null
  /** For an allowance's budget, that of the key which gave it. Null if that key had none, or a person gave it. */
  readonly held_in: string | null
  readonly org_id: string
  /** The newest of the keys that spend from it. Of a batch, nobody's. */
  readonly key_id: string
  readonly lastAlert: LastAlert | null
}

/** Parts of a budget's limit that a turn tells. */
export interface BudgetAlertWrite {
  readonly budget_id: string
  readonly org_id: string
  readonly key_id: string
  readonly lastAlert: LastAlert
  /** The data of an event for each part, lowest first. */
  readonly events: ReadonlyArray<object>
}

/** Keyed by budget id. */
export type BudgetView = ReadonlyMap<string, ReadBudget>
export const noBudgets: BudgetView = new Map()

export const BudgetRow = Schema.Struct({
  budget_id: Schema.String,
  parent_id: Schema.NullOr(Schema.String),
  org_id: Schema.String,
  key_id: Schema.String,
  version: Schema.BigInt,
  amount: Schema.BigInt,
  period: Schema.Literals(budgetPeriods),
  reserved: Schema.BigInt,
  counted_on: Schema.String,
  spent_day: Schema.BigInt,
  spent_week: Schema.BigInt,
  spent_month: Schema.BigInt,
  spent_total: Schema.BigInt,
  /** The state of an allowance. Null for other budgets. */
  allowance: Schema.NullOr(Schema.Literals(purseStates)),
  held: Schema.BigInt,
  held_in: Schema.NullOr(Schema.String),
  /** Null for a budget that is of no label's value. */
  label: Schema.NullOr(Schema.String),
  value: Schema.NullOr(Schema.String),
  /** Null for a budget that counts the wallet's day. */
  own_zones: Schema.NullOr(Zones),
  own_day: Schema.NullOr(Schema.String),
  /** What was told last. Null if nothing was. */
  reached: Schema.NullOr(Schema.Literals(budgetSteps)),
  told_amount: Schema.NullOr(Schema.BigInt),
  told_period: Schema.NullOr(Schema.Literals(budgetPeriods)),
  starts_on: Schema.NullOr(Schema.String)
})
const budgetRows = rowsOf(BudgetRow.fields)

/** The zone of a budget that has one of its own. */
export const ownZone = ({ own_zones: zones, own_day: day }: Pick<typeof BudgetRow.Type, "own_zones" | "own_day">) =>
  zones === null || day === null ? {} : { zone: { zones, day } }

/** The time of a turn. Null: now. */
export const momentOf = (sql: SqlClient.SqlClient, micros: bigint | null) =>
  micros === null ? sql.literal("now()") : sql`('epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond')`

export const budgetOf = (row: typeof BudgetRow.Type): KeyBudget => ({
  budget_id: row.budget_id,
  limit: MicroUsd(row.amount),
  period: row.period,
  reserved: MicroUsd(row.reserved),
  counted_on: row.counted_on,
  spent_day: MicroUsd(row.spent_day),
  spent_week: MicroUsd(row.spent_week),
  spent_month: MicroUsd(row.spent_month),
  spent_total: MicroUsd(row.spent_total),
  ...ownZone(row),
  ...(row.label === null || row.value === null ? {} : { label: { name: row.label, value: row.value } }),
  ...(row.allowance === null
    ? {}
    : { purse: { key_id: row.key_id, state: row.allowance, held: MicroUsd(row.held), nested: row.held_in !== null } })
})

const alertOf = ({ reached, told_amount, told_period, starts_on }: typeof BudgetRow.Type): LastAlert | null =>
  reached === null || told_amount === null || told_period === null
    ? null
    : { reached, limit: MicroUsd(told_amount), period: told_period, starts_on }

/** Reads budgets and their parents. The limit of a label's value is in `label_budgets`, and without one no run reaches it. */
export const readBudgets = (
  sql: SqlClient.SqlClient,
  budget_ids: ReadonlyArray<string>,
  micros: bigint | null = null
) => {
  if (budget_ids.length === 0) return Effect.succeed(noBudgets)
  const at = momentOf(sql, micros)
  const [limit, labels] = budget_ids.some(isOfValue)
    ? [
        sql`least(b.amount, l.amount) AS amount, coalesce(l.period, b.period) AS period, z.zones AS own_zones,
           CASE WHEN z.zones IS NOT NULL THEN spend_day(z.zones, ${at})::text END AS own_day`,
        sql`LEFT JOIN LATERAL label_budget_of(b.org_id, b.label, b.budget_id) l ON b.label IS NOT NULL
    LEFT JOIN wallets w ON b.label IS NOT NULL AND w.org_id = b.org_id
    LEFT JOIN LATERAL (SELECT value_zones(b.time_zones, w.time_zones, l.time_zones, ${at}) AS zones) z ON b.label IS NOT NULL`
      ]
    : [sql.literal("b.amount, b.period, NULL::jsonb AS own_zones, NULL::text AS own_day"), sql.literal("")]
  return Effect.map(
    budgetRows(sql`
    SELECT b.budget_id, b.parent_id, b.org_id, b.key_id, b.version, ${limit}, b.reserved, b.counted_on::text AS counted_on, b.spent_day,
           b.spent_week, b.spent_month, b.spent_total, b.allowance, b.held, b.held_in, b.label, b.value, a.reached::int AS reached, a.amount AS told_amount, a.period AS told_period,
           a.starts_on::text AS starts_on
    FROM key_budgets b LEFT JOIN key_budget_alerts a USING (budget_id) ${labels}
    WHERE b.budget_id = ANY(${texts(budget_ids)})
      OR b.budget_id IN (SELECT parent_id FROM key_budgets WHERE budget_id = ANY(${texts(budget_ids)}))`),
    (rows): BudgetView =>
      new Map(
        rows.map((row) => {
          const { budget_id, parent_id, held_in, version, org_id, key_id } = row
          return [
            budget_id,
            { budget: budgetOf(row), parent_id, held_in, version, org_id, key_id, lastAlert: alertOf(row) }
          ]
        })
      )
  )
}

/** Stores what was told, and hands the events to the event log. Only the turn that writes the budget's version gets here. */
const writeAlerts = (sql: SqlClient.SqlClient, alerts: ReadonlyArray<BudgetAlertWrite>) => {
  if (alerts.length === 0) return sql.literal("")
  const rows = alerts.map(({ budget_id, lastAlert: { limit, ...last } }) => ({ budget_id, amount: limit, ...last }))
  const events = alerts.flatMap(({ org_id, key_id, events }) =>
    events.map((data) => ({ org_id, kind: "budget.reached" as const, reference: key_id, data }))
  )
  return sql`, told AS (
            INSERT INTO key_budget_alerts (budget_id, reached, amount, period, starts_on)
            SELECT budget_id, reached::smallint, amount, period, starts_on
            FROM ${tableOf("n", rows, { budget_id: texts, reached: ints, amount: bigints, period: texts, starts_on: dates })}
            ON CONFLICT (budget_id) DO UPDATE SET reached = excluded.reached, amount = excluded.amount, period = excluded.period,
                   starts_on = excluded.starts_on
          )${writeInbox(sql, "budgets", events)}`
}

/** Whether a budget is stored. That of a label's value may have no row yet; see LabelTurn.ts. */
export const hasRow = (read: BudgetView, { budget_id }: KeyBudget): boolean => read.get(budget_id)?.version !== null

/** The zones that values count in. Null for other budgets. */
export const zonesColumn = (budgets: ReadonlyArray<KeyBudget>) =>
  jsons(budgets.map(({ zone }) => (zone === undefined ? null : JSON.stringify(zone.zones))))

/** Stores what is counted in budgets that have a row. An admitted run writes its value, which may be erased; a refused one does not. With a leading comma. */
export const writeBudgets = (
  sql: SqlClient.SqlClient,
  read: BudgetView,
  changed: ReadonlyArray<KeyBudget>,
  alerts: ReadonlyArray<BudgetAlertWrite>
) => {
  const budgets = changed.filter((budget) => hasRow(read, budget))
  const rows = budgets.map((budget) => {
    const { version = null, budget: before = budget } = read.get(budget.budget_id) ?? {}
    const value = budget.reserved > before.reserved ? (budget.label?.value ?? null) : null
    return { ...budget, version, allowance: budget.purse?.state ?? null, held: budget.purse?.held ?? 0n, value }
  })
  const written =
    budgets.length === 0
      ? sql.literal("")
      : sql`, budgeted AS (
            UPDATE key_budgets b SET version = b.version + 1, parent_written = b.version + 1, reserved = n.reserved, counted_on = n.counted_on, spent_day = n.spent_day,
                   spent_week = n.spent_week, spent_month = n.spent_month, spent_total = n.spent_total, allowance = n.allowance, held = n.held,
                   value = coalesce(n.value, b.value), time_zones = coalesce(n.time_zones::jsonb, b.time_zones)
            FROM ${tableOf("n", rows, { budget_id: texts, version: bigints, reserved: bigints, counted_on: dates, spent_day: bigints, spent_week: bigints, spent_month: bigints, spent_total: bigints, allowance: texts, held: bigints, value: texts }, { time_zones: zonesColumn(budgets) })}
            WHERE b.budget_id = n.budget_id AND b.version = n.version
            RETURNING 1
          )`
  return sql`${written}${writeAlerts(sql, alerts)}`
}

/** Condition of the turn's statement: every budget still had the version that was read. */
export const budgetsAreCurrent = (sql: SqlClient.SqlClient, read: BudgetView, changed: ReadonlyArray<KeyBudget>) => {
  const rows = changed.filter((budget) => hasRow(read, budget)).length
  return rows === 0 ? sql.literal("") : sql` AND (SELECT count(*) FROM budgeted) = ${rows}::int`
}
