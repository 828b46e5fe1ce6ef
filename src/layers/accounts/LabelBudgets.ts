/**
 * Stores the budgets of labels. Triggers apply them to wallets (postgres/schema/keys.sql).
 *
 * What is counted is in `key_budgets`, and turns write it (ledger/LabelTurn.ts).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type BudgetPeriod, withZone, zoneChangesOn, zoneOf } from "../../schema/money/SpendDay.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { LabelBudget } from "../../schema/nouns/LabelBudget.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import { type LabelAsk, labelAsks, valueBudgetId } from "../../schema/wallet/LabelBudget.ts"
import { readBudgets } from "../ledger/BudgetTurn.ts"
import { withNewValues } from "../ledger/LabelTurn.ts"
import { newId } from "../platform/Ids.ts"
import { lockWallet, organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { oneRowOf, rowsOf, textValues } from "../postgres/Rows.ts"
import { dayOf, zonesOf } from "../postgres/SpendDay.ts"

/** More than a reseller has customers with limits of their own. The limit keeps a script from filling the table. */
export const labelBudgetsMax = 10_000

const { id, label, value, limit: amount, period, created_at } = LabelBudget.fields
const Row = Schema.Struct({
  ...{ id, label, value, amount, period, created_at, today: Schema.String },
  /** Those of the organization, if the budget has none of its own. */
  time_zones: Schema.NullOr(Zones),
  own_zones: Schema.NullOr(Zones)
})
const budgetRows = rowsOf(Row.fields)
const zoneRow = oneRowOf({
  ...{ own: Schema.NullOr(Zones), of_wallet: Schema.NullOr(Zones) },
  ...{ day: Schema.String, micros: Schema.BigInt }
})

/** `counted` is null for the budget of each value, and for a value of which no run was counted. */
export type LabelBudgetRow = typeof Row.Type & { readonly counted: KeyBudget | null }

export interface LabelBudgetOrder {
  readonly label: string
  readonly value: string | null
  readonly limit: MicroUsd
  readonly period: BudgetPeriod
  /** A name of PostgreSQL's list. Null: it does not change. */
  readonly time_zone: string | null
}

/** The time zone may not change before this day. */
export class ZoneKept extends Schema.TaggedError<ZoneKept>()("ZoneKept", { until: Schema.NullOr(Schema.String) }) {}

export class LabelBudgets extends Context.Service<
  LabelBudgets,
  {
    /** Makes or changes a budget. Null if the organization has `labelBudgetsMax`. */
    readonly set: (org_id: string, order: LabelBudgetOrder) => Effect.Effect<LabelBudgetRow | null, ZoneKept>
    /** The values that have a budget and of which runs were counted, or the one with this id, in the order of their ids. */
    readonly values: (
      org_id: string,
      of: { readonly label: string | null; readonly id: string | null },
      after: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<KeyBudget>>
    /** The time zones that a value counts in. Null: those of the organization. */
    readonly zones: (org_id: string, label: string, value: string) => Effect.Effect<Zones | null>
    /** Of the labels that have a budget, those of the run: what it would count in now. */
    readonly of: (
      labels: ReadonlyArray<string> | null,
      run: { readonly org_id: string; readonly metadata: string | null; readonly hold: bigint }
    ) => Effect.Effect<ReadonlyArray<KeyBudget>>
  } & Pick<OrganizationRows<LabelBudgetRow>, "list" | "remove">
>()("rungate/layers/accounts/LabelBudgets") {
  static readonly layer = Layer.effect(
    LabelBudgets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const zones = `coalesce(label_budgets.time_zones, ${zonesOf("label_budgets.org_id")})`
      const columns = sql.literal(
        `id, label, value, amount, period, created_at, ${dayOf("now()", zones)}::text AS today, ${zones} AS time_zones, time_zones AS own_zones`
      )

      const counted = Effect.fnUntraced(function* (statement: Statement.Statement<object>, org_id: string) {
        const rows = yield* budgetRows(statement)
        const ids = rows.map(({ label, value }) => (value === null ? null : valueBudgetId(org_id, label, value)))
        const budgets = yield* readBudgets(
          sql,
          ids.flatMap((id) => id ?? [])
        )
        return rows.map((row, n): LabelBudgetRow => ({ ...row, counted: budgets.get(ids[n] ?? "")?.budget ?? null }))
      }, Effect.orDie)
      const { list, remove } = organizationRows(sql, { table: "label_budgets", columns, changesWallet: true }, counted)

      /** The changes of a budget's time zone with one more. Null without any. */
      const zonesWith = Effect.fnUntraced(function* (
        org_id: string,
        label: string,
        id: string | null,
        zone: string | null
      ) {
        if (zone === null) return null
        const { own, of_wallet, day, micros } = yield* zoneRow(sql`
          SELECT b.time_zones AS own, w.time_zones AS of_wallet, (extract(epoch FROM now()) * 1000000)::bigint AS micros,
                 spend_day(coalesce(b.time_zones, w.time_zones), now())::text AS day
          FROM wallets w LEFT JOIN label_budgets b ON b.org_id = w.org_id AND b.label = ${label} AND b.budget_id IS NOT DISTINCT FROM ${id}
          WHERE w.org_id = ${org_id}`)
        if (own === null) return [{ zone, before: zoneOf(of_wallet ?? []), on: day, since: Number(micros) }]
        return withZone(own, zone, day, micros) ?? (yield* new ZoneKept({ until: zoneChangesOn(own) }))
      })

      /** What runs with these values would count in now. */
      const counting = Effect.fnUntraced(function* (asks: ReadonlyArray<LabelAsk>) {
        const stored = yield* readBudgets(
          sql,
          asks.map(({ budget_id }) => budget_id)
        )
        const budgets = yield* withNewValues(sql, asks, stored)
        return asks.flatMap(({ budget_id }) => budgets.get(budget_id)?.budget ?? [])
      }, Effect.orDie)

      return LabelBudgets.of({
        set: Effect.fnUntraced(
          function* (org_id, { label, value, limit, period, time_zone }) {
            const budget_id = value === null ? null : valueBudgetId(org_id, label, value)
            yield* lockWallet(sql, org_id)
            const changed = yield* zonesWith(org_id, label, budget_id, time_zone)
            const statement = sql`
              INSERT INTO label_budgets (id, org_id, label, value, budget_id, amount, period, time_zones)
              SELECT ${newId("lbl")}, ${org_id}, ${label}, ${value}, ${budget_id}, ${limit}, ${period}, ${changed === null ? null : JSON.stringify(changed)}::jsonb
              WHERE (SELECT count(*) FROM label_budgets WHERE org_id = ${org_id}) < ${labelBudgetsMax}
                 OR EXISTS (SELECT FROM label_budgets WHERE org_id = ${org_id} AND label = ${label} AND budget_id IS NOT DISTINCT FROM ${budget_id})
              ON CONFLICT ON CONSTRAINT label_budgets_once DO UPDATE SET amount = excluded.amount, period = excluded.period,
                time_zones = coalesce(excluded.time_zones, label_budgets.time_zones)
              RETURNING ${columns}`
            return (yield* counted(statement, org_id))[0] ?? null
          },
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
        list,
        remove,
        values: Effect.fnUntraced(function* (org_id, { label, id }, after, limit) {
          const wanted = yield* textValues(sql`
            SELECT b.budget_id FROM key_budgets b CROSS JOIN LATERAL label_budget_of(b.org_id, b.label, b.budget_id) l
            WHERE b.org_id = ${org_id} AND b.label IS NOT NULL AND (${label}::text IS NULL OR b.label = ${label})
              AND (${id}::text IS NULL OR b.budget_id = ${id}) AND (${after}::text IS NULL OR b.budget_id > ${after}) AND l.id IS NOT NULL
            ORDER BY b.budget_id LIMIT ${limit}`)
          const budgets = yield* readBudgets(sql, wanted)
          return wanted.flatMap((one) => budgets.get(one)?.budget ?? [])
        }, Effect.orDie),
        zones: (org_id, label, value) =>
          Effect.map(
            counting([{ budget_id: valueBudgetId(org_id, label, value), org_id, label, value }]),
            ([budget]) => budget?.zone?.zones ?? null
          ),
        of: (labels, run) => counting(labelAsks(labels ?? undefined, run))
      })
    })
  )
}
