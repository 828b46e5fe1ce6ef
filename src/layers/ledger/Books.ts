/**
 * Reads one wallet for its owner and for operators: balance, limits, ledger entries, open runs and audit violations.
 *
 * Nothing here writes: only the wallet actor's turns change a wallet.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Violation, violations } from "../audit/equations.ts"
import { snapshot } from "../audit/snapshot.ts"

export interface WalletRow {
  readonly balance: bigint
  readonly reserved: bigint
  readonly per_run_limit: bigint | null
  readonly daily_limit: bigint | null
  /** Charged on the current UTC day. */
  readonly spent_today: bigint
  /** The next midnight, UTC. */
  readonly resets_at: Date
}

export interface EntryRow {
  readonly seq: bigint
  readonly txn_id: string
  readonly type: string
  readonly amount: bigint
  readonly balance_after: bigint
  readonly reference: string
  readonly note: string | null
  readonly created_at: Date
}

export interface OpenRunRow {
  readonly run_id: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly state: string
  readonly hold: bigint
  /** Queued or running since. */
  readonly since: Date
}

export class Books extends Context.Service<
  Books,
  {
    readonly wallet: (org_id: string) => Effect.Effect<WalletRow>
    /** Newest first; only entries before `before`, when given. */
    readonly entries: (org_id: string, before: bigint | null, limit: number) => Effect.Effect<ReadonlyArray<EntryRow>>
    /** The ledger entry of the credit with this reference; null when it was not credited. */
    readonly credit: (org_id: string, reference: string) => Effect.Effect<EntryRow | null>
    /** Oldest first. */
    readonly openRuns: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<OpenRunRow>>
    /** Places where this wallet breaks an equation of audit/equations.ts. Run it inside `snapshot`. */
    readonly violations: (org_id: string) => Effect.Effect<ReadonlyArray<Violation>>
    /** Runs `work` in one read-only snapshot, so that the rows it reads can be compared. */
    readonly snapshot: <A, R>(work: Effect.Effect<A, never, R>) => Effect.Effect<A, never, R>
  }
>()("rungate/layers/ledger/Books") {
  static readonly layer = Layer.effect(
    Books,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const wallet = Effect.fnUntraced(function* (org_id: string) {
        const [row] = yield* sql<WalletRow>`
          SELECT balance, reserved, per_run_limit, daily_limit,
                 CASE WHEN spent_day = (now() AT TIME ZONE 'UTC')::date THEN spent ELSE 0 END AS spent_today,
                 ((now() AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC' AS resets_at
          FROM wallets WHERE org_id = ${org_id}`
        if (row === undefined) return yield* Effect.die(new Error(`${org_id} has no wallet`))
        return row
      }, Effect.orDie)

      const entries = (org_id: string, before: bigint | null, limit: number) => sql<EntryRow>`
        SELECT seq, txn_id, type, amount, balance_after, reference, note, created_at FROM ledger
        WHERE org_id = ${org_id} AND (${before}::bigint IS NULL OR seq < ${before}) ORDER BY seq DESC LIMIT ${limit}`

      const credit = (org_id: string, reference: string) => sql<EntryRow>`
        SELECT seq, txn_id, type, amount, balance_after, reference, note, created_at FROM ledger
        WHERE org_id = ${org_id} AND type IN ('topup', 'bonus', 'refund') AND reference = ${reference} AND run_id IS NULL`

      const openRuns = (org_id: string, limit: number) => sql<OpenRunRow>`
        SELECT o.run_id, r.capability, r.endpoint, o.state, o.hold, o.since
        FROM open_runs o JOIN runs r ON r.org_id = o.org_id AND r.run_id = o.run_id
        WHERE o.org_id = ${org_id} ORDER BY o.run_id LIMIT ${limit}`

      return Books.of({
        wallet,
        entries: (org_id, before, limit) => Effect.orDie(entries(org_id, before, limit)),
        credit: (org_id, reference) => Effect.orDie(Effect.map(credit(org_id, reference), (rows) => rows[0] ?? null)),
        openRuns: (org_id, limit) => Effect.orDie(openRuns(org_id, limit)),
        violations: (org_id) => Effect.orDie(violations(sql, org_id)),
        snapshot: (work) => Effect.orDie(snapshot(sql, work))
      })
    })
  )
}
