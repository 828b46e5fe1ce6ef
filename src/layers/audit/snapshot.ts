/** Runs `work` in a read-only repeatable-read transaction, so that all its statements see the same state of the database. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export const snapshot = <A, E, R>(sql: SqlClient.SqlClient, work: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
      // An audit reads whole tables. The timeout and the plans of this service are meant for single rows.
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL enable_seqscan = on`
      yield* sql`SET LOCAL enable_bitmapscan = on`
      yield* sql`SET LOCAL enable_hashjoin = on`
      yield* sql`SET LOCAL enable_mergejoin = on`
      yield* sql`SET LOCAL plan_cache_mode = force_custom_plan`
      // Before the snapshot, which the first query takes: no month is dropped while it is read.
      yield* sql`LOCK TABLE runs, ledger IN ACCESS SHARE MODE`
      return yield* work
    })
  )
