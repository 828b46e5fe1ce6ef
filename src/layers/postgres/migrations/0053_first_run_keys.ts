/**
 * The Idempotency-Keys of runs from before the months, for statements that look one up. The service's restricted role may not read the
 * partition itself.
 *
 * The second branch has no rows. It makes the view one that nobody can write through.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const firstRunKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE VIEW first_run_keys AS
      SELECT org_id, idempotency_key, run_id FROM runs_first WHERE idempotency_key IS NOT NULL
      UNION ALL
      SELECT NULL::text, NULL::text, NULL::text WHERE false`
  yield* sql`SELECT copy_privileges('runs', 'first_run_keys')`
})
