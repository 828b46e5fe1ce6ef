/**
 * One wallet's books as its owner and operators read them: balance, limits, ledger entries, open runs, and whether it all
 * adds up. Reads only; every change is the wallet actor's.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Violation } from "./Audit.ts"

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

export interface OpenRunRow {
  readonly run_id: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly state: string
  readonly hold: bigint
  /** Queued or running since. */
  readonly since: Date
}

/** Enough to see what is wrong; a broken book can have millions. */
const violationsPerEquation = 50

export class Books extends Context.Service<
  Books,
  {
    readonly wallet: (org_id: string) => Effect.Effect<WalletRow>
    /** Newest first; only entries before `before`, when given. */
    readonly entries: (org_id: string, before: bigint | null, limit: number) => Effect.Effect<ReadonlyArray<EntryRow>>
    /** The entry of a credit with this reference, when the ledger has it. */
    readonly credit: (org_id: string, reference: string) => Effect.Effect<EntryRow | null>
    /** Oldest first. */
    readonly openRuns: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<OpenRunRow>>
    /** The auditor's equations (Audit.ts) for one wallet. Read it in a snapshot. */
    readonly violations: (org_id: string) => Effect.Effect<ReadonlyArray<Violation>>
    /** All that `work` reads is of one instant, so it may be compared; nothing in it may write. */
    readonly snapshot: <A, R>(work: Effect.Effect<A, never, R>) => Effect.Effect<A, never, R>
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

      const credit = (org_id: string, reference: string) => sql<EntryRow>`
        SELECT seq, txn_id, type, amount, balance_after, reference, note, created_at FROM ledger
        WHERE org_id = ${org_id} AND type IN ('topup', 'bonus', 'refund') AND reference = ${reference} AND run_id IS NULL`

      const openRuns = (org_id: string, limit: number) => sql<OpenRunRow>`
        SELECT o.run_id, r.capability, r.endpoint, o.state, o.hold, o.since
        FROM open_runs o JOIN runs r ON r.org_id = o.org_id AND r.run_id = o.run_id
        WHERE o.org_id = ${org_id} ORDER BY o.run_id LIMIT ${limit}`

      const sums = (org_id: string) => sql<Violation>`
        SELECT e.equation, w.org_id AS subject, e.detail
        FROM wallets w,
          (SELECT coalesce(sum(amount) FILTER (WHERE type NOT IN ('reserve', 'release')), 0) AS balance,
                  coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0)
                    - coalesce(sum(amount) FILTER (WHERE type IN ('reserve', 'release')), 0) AS reserved
           FROM ledger WHERE org_id = ${org_id}) l,
          (SELECT coalesce(sum(hold), 0) AS held FROM open_runs WHERE org_id = ${org_id}) o,
          LATERAL (VALUES
            ('E1 balance = sum of topup, bonus, refund and settle', w.balance = l.balance,
             'wallet ' || w.balance || ', ledger ' || l.balance),
            ('E2 reserved = holds on the ledger = holds of open runs', w.reserved = l.reserved AND w.reserved = o.held,
             'wallet ' || w.reserved || ', ledger ' || l.reserved || ', open runs ' || o.held),
            ('E3 available >= 0', w.balance >= w.reserved, 'available ' || w.balance - w.reserved)
          ) AS e(equation, holds, detail)
        WHERE w.org_id = ${org_id} AND NOT e.holds`

      const runs = (org_id: string) => sql<Violation>`
        SELECT e.equation, coalesce(l.run_id, r.run_id) AS subject,
               'status ' || coalesce(r.status, 'no such run') || ', held ' || coalesce(r.hold, 0) || ', reserved ' || coalesce(l.reserved, 0)
                 || ', resolved ' || coalesce(l.resolved, 0) || ', settled ' || coalesce(l.settled, 0) || ', charged ' || coalesce(r.charged, 0) AS detail
        FROM (SELECT run_id, -coalesce(sum(amount) FILTER (WHERE type = 'reserve'), 0) AS reserved,
                     coalesce(sum(amount) FILTER (WHERE type = 'release'), 0) - coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS resolved,
                     -coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS settled,
                     count(*) FILTER (WHERE type = 'reserve') AS reserves, count(*) FILTER (WHERE type = 'settle') AS settles
              FROM ledger WHERE org_id = ${org_id} AND run_id IS NOT NULL GROUP BY run_id) l
        FULL JOIN (SELECT run_id, status, hold, charged, finished_at FROM runs WHERE org_id = ${org_id}) r USING (run_id)
        LEFT JOIN open_runs o ON o.run_id = r.run_id,
        LATERAL (VALUES
          ('E4 each run is reserved at most once and resolved in full when it is final',
           r.run_id IS NOT NULL AND coalesce(l.reserves, 0) <= 1 AND coalesce(l.settles, 0) <= 1
             AND (r.finished_at IS NULL OR coalesce(l.reserved, 0) = coalesce(l.resolved, 0))
             AND (r.finished_at IS NOT NULL OR o.run_id IS NULL
                  OR (coalesce(l.reserved, 0) = r.hold AND coalesce(l.resolved, 0) = 0))),
          ('E5 0 <= charge <= hold, and only what was delivered is charged',
           r.run_id IS NULL OR (coalesce(r.charged, 0) = coalesce(l.settled, 0) AND coalesce(r.charged, 0) <= r.hold
             AND (coalesce(r.charged, 0) = 0 OR r.status IN ('succeeded', 'no_match'))))
        ) AS e(equation, holds)
        WHERE NOT e.holds LIMIT ${2 * violationsPerEquation}`

      const chain = (org_id: string) => sql<Violation>`
        SELECT 'E7 entries are numbered without gaps and each continues the one before' AS equation,
               ${org_id} || ' entry ' || seq AS subject,
               'balance_after ' || balance_after || ' after ' || before || ', previous number ' || coalesce(previous, 0) AS detail
        FROM (SELECT seq, type, amount, balance_after, lag(seq) OVER chain AS previous,
                     coalesce(lag(balance_after) OVER chain, 0) AS before
              FROM ledger WHERE org_id = ${org_id} WINDOW chain AS (ORDER BY seq)) e
        WHERE seq <> coalesce(previous, 0) + 1
           OR balance_after <> before + CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END
        LIMIT ${violationsPerEquation}`

      const parked = (org_id: string) => sql<Violation>`
        SELECT 'No command is set aside' AS equation, tag || ' of ' || coalesce(run_id, org_id) AS subject, parked AS detail
        FROM mailbox WHERE org_id = ${org_id} AND parked IS NOT NULL LIMIT ${violationsPerEquation}`

      const violations = (org_id: string) =>
        Effect.map(Effect.all([parked(org_id), sums(org_id), runs(org_id), chain(org_id)]), (found) => found.flat())

      const oneInstant = Effect.gen(function* () {
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
        // A wallet is read whole: neither the time nor the plans of looking up single rows are right for it.
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`SET LOCAL enable_seqscan = on`
        yield* sql`SET LOCAL enable_hashjoin = on`
        yield* sql`SET LOCAL enable_mergejoin = on`
        yield* sql`SET LOCAL plan_cache_mode = auto`
      })
      const snapshot = <A, R>(work: Effect.Effect<A, never, R>) =>
        Effect.orDie(sql.withTransaction(Effect.andThen(oneInstant, work)))

      return Books.of({
        wallet,
        entries: (org_id, before, limit) => Effect.orDie(entries(org_id, before, limit)),
        credit: (org_id, reference) => Effect.orDie(Effect.map(credit(org_id, reference), (rows) => rows[0] ?? null)),
        openRuns: (org_id, limit) => Effect.orDie(openRuns(org_id, limit)),
        violations: (org_id) => Effect.orDie(violations(org_id)),
        snapshot
      })
    })
  )
}
