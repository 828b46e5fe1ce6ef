/** The wallet as its owner reads it: balance, limits, ledger entries. Reads only; every change is the wallet actor's. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface WalletRow {
  readonly balance: bigint
  readonly reserved: bigint
  readonly per_run_limit: bigint | null
  readonly daily_limit: bigint | null
  /** Charged on today's UTC day. */
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

export class Books extends Context.Service<
  Books,
  {
    readonly wallet: (org_id: string) => Effect.Effect<WalletRow>
    /** Newest first; only entries before `before`, when given. */
    readonly entries: (org_id: string, before: bigint | null, limit: number) => Effect.Effect<ReadonlyArray<EntryRow>>
  }
>()("rungate/layers/Books") {
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

      return Books.of({ wallet, entries: (org_id, before, limit) => Effect.orDie(entries(org_id, before, limit)) })
    })
  )
}
