/** Runs `work` in a read-only transaction in which all statements see the same instant. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export const snapshot = <A, E, R>(sql: SqlClient.SqlClient, work: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
      // Whole wallets are read, or all of them: neither the time nor the plans of looking up single rows are right for it.
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL enable_seqscan = on`
      yield* sql`SET LOCAL enable_hashjoin = on`
      yield* sql`SET LOCAL enable_mergejoin = on`
      yield* sql`SET LOCAL plan_cache_mode = force_custom_plan`
      return yield* work
    })
  )
