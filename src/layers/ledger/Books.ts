/**
 * Reads one wallet for its owner and for operators: balance, limits, ledger entries, open runs and audit violations.
 *
 * Nothing here writes.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Violation, violations } from "../audit/equations.ts"
import { snapshot } from "../audit/snapshot.ts"
import { oneFlag, rowsOf, storedAs } from "../postgres/Rows.ts"
import { spentToday, todayOf } from "../postgres/SpendDay.ts"
import { dayEnd } from "../../schema/money/SpendDay.ts"
import { zoneNames, Zones } from "../../schema/money/TimeZone.ts"
import { allEntries, type EntryFilter, entryList, type EntryRow, entryRows } from "./EntryList.ts"

export const WalletRow = Schema.Struct({
  balance: Schema.BigInt,
  reserved: Schema.BigInt,
  /** The part of `reserved` that allowances hold. */
  allowances_held: Schema.BigInt,
  per_run_limit: Schema.NullOr(Schema.BigInt),
  daily_limit: Schema.NullOr(Schema.BigInt),
  /** A check found that its books do not add up, so it takes no new runs. */
  suspended: Schema.Boolean,
  time_zones: Schema.NullOr(Zones),
  /** JSON: `decodeRules` reads it. Null: no run needs an approval. */
  approval_rules: Schema.Unknown,
  /** The labels that have a budget. Null: none has. */
  budget_labels: Schema.NullOr(Schema.Array(Schema.String)),
  today: Schema.String,
  /** Charged today. */
  spent_today: Schema.BigInt
})
/** `resets_at`: when the next day begins. */
export type WalletRow = typeof WalletRow.Type & { readonly resets_at: Date }
const walletRows = rowsOf(WalletRow.fields)

export const OpenRunRow = Schema.Struct({
  run_id: Schema.String,
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  state: Schema.String,
  hold: Schema.BigInt,
  /** Queued or running since. */
  since: Schema.Date
})
export type OpenRunRow = typeof OpenRunRow.Type
const openRunRows = storedAs(OpenRunRow.fields)

const zoneRows = storedAs({ time_zones: Schema.NullOr(Zones) })
const costRows = storedAs({ provider_cost: Schema.NullOr(Schema.BigInt) })

export class Books extends Context.Service<
  Books,
  {
    readonly wallet: (org_id: string) => Effect.Effect<WalletRow>
    /** Newest first; only entries before `before` and those of the filter, when given. */
    readonly entries: (
      org_id: string,
      before: bigint | null,
      limit: number,
      filter?: EntryFilter
    ) => Effect.Effect<ReadonlyArray<EntryRow>>
    /** The ledger entry of the credit with this reference; null when it was not credited. */
    readonly credit: (org_id: string, reference: string) => Effect.Effect<EntryRow | null>
    /** Oldest first. */
    readonly openRuns: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<OpenRunRow>>
    /** What a run's providers charged the operator. Null if it is unknown. */
    readonly providerCost: (run_id: string) => Effect.Effect<bigint | null>
    /** Places where this wallet breaks an equation of audit/equations.ts. Run it inside `snapshot`. */
    readonly violations: (org_id: string) => Effect.Effect<ReadonlyArray<Violation>>
    /** Whether PostgreSQL and this process have a time zone of this name. */
    readonly hasZone: (name: string) => Effect.Effect<boolean>
    /** The changes of an organization's time zone. */
    readonly zones: (org_id: string) => Effect.Effect<Zones>
    /** Runs `work` in one read-only snapshot, so that the rows it reads can be compared. */
    readonly snapshot: <A, R>(work: Effect.Effect<A, never, R>) => Effect.Effect<A, never, R>
  }
>()("rungate/layers/ledger/Books") {
  static readonly layer = Layer.effect(
    Books,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const entries = entryList(sql)

      return Books.of({
        wallet: Effect.fnUntraced(function* (org_id) {
          const [row] = yield* walletRows(sql`
            SELECT balance, reserved, allowances_held, per_run_limit, daily_limit, suspended,
                   w.time_zones, w.approval_rules, w.budget_labels, ${sql.literal(todayOf("w"))}::text AS today, ${sql.literal(spentToday("w"))} AS spent_today
            FROM wallets w WHERE org_id = ${org_id}`)
          if (row === undefined) return yield* Effect.die(new Error(`${org_id} has no wallet`))
          return { ...row, resets_at: dayEnd(row.today, row.time_zones ?? []) }
        }, Effect.orDie),
        entries: (org_id, before, limit, filter = allEntries) => Effect.orDie(entries(org_id, before, limit, filter)),
        credit: (org_id, reference) =>
          Effect.orDie(
            Effect.map(
              entryRows(sql`
                SELECT seq, txn_id, type, amount, balance_after, reference, note, created_at FROM ledger
                WHERE org_id = ${org_id} AND type IN ('topup', 'bonus', 'refund') AND reference = ${reference} AND run_id IS NULL`),
              (rows) => rows[0] ?? null
            )
          ),
        providerCost: (run_id) =>
          Effect.map(
            costRows.all(sql`SELECT provider_cost FROM runs WHERE run_id = ${run_id}`),
            ([row]) => row?.provider_cost ?? null
          ),
        openRuns: (org_id, limit) =>
          openRunRows.all(sql`
            SELECT o.run_id, r.capability, r.endpoint, o.state, o.hold, o.since
            FROM open_runs o JOIN runs r ON r.org_id = o.org_id AND r.run_id = o.run_id
            WHERE o.org_id = ${org_id} ORDER BY o.run_id LIMIT ${limit}`),
        violations: (org_id) => Effect.orDie(violations(sql, org_id)),
        hasZone: (name) =>
          zoneNames.includes(name) ? Effect.orDie(oneFlag(sql`SELECT is_time_zone(${name})`)) : Effect.succeed(false),
        zones: (org_id) =>
          Effect.map(
            zoneRows.all(sql`SELECT time_zones FROM wallets WHERE org_id = ${org_id}`),
            ([row]) => row?.time_zones ?? []
          ),
        snapshot: (work) => Effect.orDie(snapshot(sql, work))
      })
    })
  )
}
