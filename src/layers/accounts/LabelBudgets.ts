/**
 * Stores the budgets of labels. Triggers apply them to wallets (postgres/schema/labels.sql).
 *
 * What is counted is in `key_budgets`, and turns write it (ledger/LabelTurn.ts).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type BudgetPeriod, budgetPeriods } from "../../schema/money/SpendDay.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import { type LabelAsk, labelAsks, valueBudgetId } from "../../schema/wallet/LabelBudget.ts"
import { noBudgets, readBudgets } from "../ledger/BudgetTurn.ts"
import { withNewValues } from "../ledger/LabelTurn.ts"
import { newId } from "../platform/Ids.ts"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { dayOf, zonesOf } from "../postgres/SpendDay.ts"

/** More than a reseller has customers with limits of their own. The limit keeps a script from filling the table. */
export const labelBudgetsMax = 10_000

const Row = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  value: Schema.NullOr(Schema.String),
  amount: Schema.BigInt,
  period: Schema.Literals(budgetPeriods),
  created_at: Schema.Date,
  today: Schema.String,
  time_zones: Schema.NullOr(Zones)
})
const budgetRows = rowsOf(Row.fields)
const labelsRow = oneRowOf({ labels: Schema.NullOr(Schema.Array(Schema.String)) })

/** `counted` is null for the budget of each value, and for a value of which no run was counted. */
export type LabelBudgetRow = typeof Row.Type & { readonly counted: KeyBudget | null }

export interface LabelBudgetOrder {
  readonly label: string
  readonly value: string | null
  readonly limit: MicroUsd
  readonly period: BudgetPeriod
}

export class LabelBudgets extends Context.Service<
  LabelBudgets,
  {
    /** Makes or changes a budget. Null if the organization has `labelBudgetsMax`. */
    readonly set: (org_id: string, order: LabelBudgetOrder) => Effect.Effect<LabelBudgetRow | null>
    /** Newest first. */
    readonly list: (
      org_id: string,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<LabelBudgetRow>>
    readonly remove: (org_id: string, id: string) => Effect.Effect<boolean>
    /** The budgets that a run with this metadata would count in now. */
    readonly of: (run: {
      readonly org_id: string
      readonly metadata: string | null
      readonly hold: bigint
    }) => Effect.Effect<ReadonlyArray<KeyBudget>>
  }
>()("rungate/layers/accounts/LabelBudgets") {
  static readonly layer = Layer.effect(
    LabelBudgets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(
        `id, label, value, amount, period, created_at, ${dayOf("now()", zonesOf("label_budgets.org_id"))}::text AS today, ${zonesOf("label_budgets.org_id")} AS time_zones`
      )

      const counted = Effect.fnUntraced(function* (org_id: string, rows: ReadonlyArray<typeof Row.Type>) {
        const ids = rows.flatMap(({ label, value }) => (value === null ? [] : [valueBudgetId(org_id, label, value)]))
        const budgets = ids.length === 0 ? noBudgets : yield* readBudgets(sql, ids)
        return rows.map((row): LabelBudgetRow => {
          const id = row.value === null ? null : valueBudgetId(org_id, row.label, row.value)
          return { ...row, counted: id === null ? null : (budgets.get(id)?.budget ?? null) }
        })
      })

      const set = Effect.fnUntraced(function* (org_id: string, { label, value, limit, period }: LabelBudgetOrder) {
        const budget_id = value === null ? null : valueBudgetId(org_id, label, value)
        // Locks the wallet as a turn does, before the budgets.
        yield* sql`SELECT 1 FROM wallets WHERE org_id = ${org_id} FOR UPDATE`
        const rows = yield* budgetRows(sql`
          INSERT INTO label_budgets (id, org_id, label, value, budget_id, amount, period)
          SELECT ${newId("lbl")}, ${org_id}, ${label}, ${value}, ${budget_id}, ${limit}, ${period}
          WHERE (SELECT count(*) FROM label_budgets WHERE org_id = ${org_id}) < ${labelBudgetsMax}
             OR EXISTS (SELECT FROM label_budgets WHERE org_id = ${org_id} AND label = ${label} AND budget_id IS NOT DISTINCT FROM ${budget_id})
          ON CONFLICT ON CONSTRAINT label_budgets_once DO UPDATE SET amount = excluded.amount, period = excluded.period
          RETURNING ${columns}`)
        return (yield* counted(org_id, rows))[0] ?? null
      }, sql.withTransaction)

      const list = Effect.fnUntraced(function* (org_id: string, before: string | null, limit: number) {
        const rows = yield* budgetRows(sql`
          SELECT ${columns} FROM label_budgets WHERE org_id = ${org_id} AND (${before}::text IS NULL OR id < ${before})
          ORDER BY id DESC LIMIT ${limit}`)
        return yield* counted(org_id, rows)
      })

      const remove = Effect.fnUntraced(function* (org_id: string, id: string) {
        yield* sql`SELECT 1 FROM wallets WHERE org_id = ${org_id} FOR UPDATE`
        return (yield* sql`DELETE FROM label_budgets WHERE org_id = ${org_id} AND id = ${id} RETURNING 1`).length > 0
      }, sql.withTransaction)

      const read = Effect.fnUntraced(function* (asks: ReadonlyArray<LabelAsk>) {
        const ids = asks.map(({ budget_id }) => budget_id)
        const budgets = yield* withNewValues(sql, asks, yield* readBudgets(sql, ids))
        return asks.flatMap(({ budget_id }) => budgets.get(budget_id)?.budget ?? [])
      })

      const of = Effect.fnUntraced(function* (run: Parameters<typeof labelAsks>[1]) {
        if ((run.metadata ?? null) === null) return []
        const { labels } = yield* labelsRow(
          sql`SELECT budget_labels AS labels FROM wallets WHERE org_id = ${run.org_id}`
        )
        const asks = labelAsks(labels ?? undefined, run)
        return asks.length === 0 ? [] : yield* read(asks)
      })

      return LabelBudgets.of({
        set: (org_id, order) => Effect.orDie(set(org_id, order)),
        list: (org_id, before, limit) => Effect.orDie(list(org_id, before, limit)),
        remove: (org_id, id) => Effect.orDie(remove(org_id, id)),
        of: (run) => Effect.orDie(of(run))
      })
    })
  )
}
