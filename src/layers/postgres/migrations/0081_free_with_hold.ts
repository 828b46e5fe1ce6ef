/** Runs with a hold count what they may store at no charge, too: those that an own account may deliver. Older releases write none for them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const freeWithHold = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE open_runs
      DROP CONSTRAINT open_run_free,
      ADD CONSTRAINT open_run_free_bytes CHECK (free_bytes > 0) NOT VALID`
})
