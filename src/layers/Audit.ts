/**
 * The auditor: recomputes the books from the ledger alone and names every place that does not add up (equations E1-E5, E7).
 *
 * Read in one repeatable-read snapshot, so that it may run beside a busy service.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface Violation {
  readonly equation: string
  readonly subject: string
  readonly detail: string
}

export interface AuditReport {
  readonly wallets: number
  readonly entries: number
  readonly runs: number
  readonly violations: ReadonlyArray<Violation>
}

/** Enough to see what is wrong; a broken book can have millions. */
const violationsPerEquation = 50

export class Audit extends Context.Service<Audit, { readonly run: Effect.Effect<AuditReport> }>()(
  "rungate/layers/Audit"
) {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      type Row = { subject: string; detail: string }

      const checks: ReadonlyArray<readonly [string, () => Effect.Effect<ReadonlyArray<Row>, unknown>]> = [
        [
          "No command is set aside: one that can't be applied holds up its run, and its hold",
          () => sql<Row>`
            SELECT tag || ' of ' || coalesce(run_id, org_id) AS subject, parked AS detail FROM mailbox
            WHERE parked IS NOT NULL LIMIT ${violationsPerEquation}`
        ],
        [
          "E1 balance = sum of topup, bonus, refund and settle",
          () => sql<Row>`
            SELECT w.org_id AS subject, 'wallet ' || w.balance || ', ledger ' || coalesce(l.balance, 0) AS detail
            FROM wallets w LEFT JOIN (
              SELECT org_id, sum(amount) FILTER (WHERE type NOT IN ('reserve', 'release')) AS balance FROM ledger GROUP BY org_id
            ) l USING (org_id) WHERE w.balance <> coalesce(l.balance, 0) LIMIT ${violationsPerEquation}`
        ],
        [
          "E2 reserved = holds on the ledger = holds of open runs",
          () => sql<Row>`
            SELECT w.org_id AS subject,
                   'wallet ' || w.reserved || ', ledger ' || coalesce(l.reserved, 0) || ', open runs ' || coalesce(o.held, 0) AS detail
            FROM wallets w
            LEFT JOIN (SELECT org_id, -sum(amount) FILTER (WHERE type IN ('reserve', 'release'))
                              + coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS reserved FROM ledger GROUP BY org_id) l USING (org_id)
            LEFT JOIN (SELECT org_id, sum(hold) AS held FROM open_runs GROUP BY org_id) o USING (org_id)
            WHERE w.reserved <> coalesce(l.reserved, 0) OR w.reserved <> coalesce(o.held, 0) LIMIT ${violationsPerEquation}`
        ],
        [
          "E3 available >= 0",
          () => sql<Row>`
            SELECT org_id AS subject, 'available ' || balance - reserved AS detail FROM wallets
            WHERE balance - reserved < 0 LIMIT ${violationsPerEquation}`
        ],
        [
          "E4 each run is reserved at most once and resolved in full when it is final",
          () => sql<Row>`
            SELECT coalesce(l.run_id, r.run_id) AS subject,
                   'status ' || coalesce(r.status, 'no such run') || ', reserved ' || coalesce(l.reserved, 0) || ', resolved ' || coalesce(l.resolved, 0) AS detail
            FROM (SELECT org_id, run_id, -coalesce(sum(amount) FILTER (WHERE type = 'reserve'), 0) AS reserved,
                         coalesce(sum(amount) FILTER (WHERE type = 'release'), 0) - coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS resolved,
                         count(*) FILTER (WHERE type = 'reserve') AS reserves, count(*) FILTER (WHERE type = 'settle') AS settles
                  FROM ledger WHERE run_id IS NOT NULL GROUP BY org_id, run_id) l
            FULL JOIN runs r USING (org_id, run_id)
            LEFT JOIN open_runs o ON o.run_id = r.run_id
            WHERE r.run_id IS NULL OR coalesce(l.reserves, 0) > 1 OR coalesce(l.settles, 0) > 1
               OR (r.finished_at IS NOT NULL AND coalesce(l.reserved, 0) <> coalesce(l.resolved, 0))
               OR (r.finished_at IS NULL AND o.run_id IS NOT NULL AND (coalesce(l.reserved, 0) <> r.hold OR coalesce(l.resolved, 0) <> 0))
            LIMIT ${violationsPerEquation}`
        ],
        [
          "E5 0 <= charge <= hold, and only what was delivered is charged",
          () => sql<Row>`
            SELECT r.run_id AS subject, r.status || ', charged ' || coalesce(r.charged, 0) || ', settled ' || coalesce(-l.amount, 0) || ', held ' || r.hold AS detail
            FROM runs r LEFT JOIN ledger l ON l.run_id = r.run_id AND l.type = 'settle'
            WHERE coalesce(r.charged, 0) <> coalesce(-l.amount, 0) OR coalesce(r.charged, 0) > r.hold
               OR (coalesce(r.charged, 0) > 0 AND r.status NOT IN ('succeeded', 'no_match')) LIMIT ${violationsPerEquation}`
        ],
        [
          "E7 entries are numbered without gaps and each continues the one before",
          () => sql<Row>`
            SELECT org_id || ' entry ' || seq AS subject,
                   'balance_after ' || balance_after || ' after ' || before || ', previous number ' || coalesce(previous, 0) AS detail
            FROM (SELECT org_id, seq, type, amount, balance_after, lag(seq) OVER chain AS previous,
                         coalesce(lag(balance_after) OVER chain, 0) AS before
                  FROM ledger WINDOW chain AS (PARTITION BY org_id ORDER BY seq)) e
            WHERE seq <> coalesce(previous, 0) + 1
               OR balance_after <> before + CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END
            LIMIT ${violationsPerEquation}`
        ]
      ]

      const run = sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
            yield* sql`SET LOCAL statement_timeout = 0`
            // Everything is read once: the plans of a service that looks up single rows would take for ever.
            yield* sql`SET LOCAL enable_seqscan = on`
            yield* sql`SET LOCAL enable_hashjoin = on`
            yield* sql`SET LOCAL enable_mergejoin = on`
            yield* sql`SET LOCAL plan_cache_mode = auto`
            const violations: Array<Violation> = []
            for (const [equation, check] of checks) {
              for (const row of yield* check()) violations.push({ equation, ...row })
            }
            const [count] = yield* sql<{ wallets: bigint; entries: bigint; runs: bigint }>`
              SELECT (SELECT count(*) FROM wallets) AS wallets, (SELECT count(*) FROM ledger) AS entries, (SELECT count(*) FROM runs) AS runs`
            return {
              wallets: Number(count?.wallets ?? 0n),
              entries: Number(count?.entries ?? 0n),
              runs: Number(count?.runs ?? 0n),
              violations
            }
          })
        )
        .pipe(Effect.orDie)

      return Audit.of({ run })
    })
  )
}
