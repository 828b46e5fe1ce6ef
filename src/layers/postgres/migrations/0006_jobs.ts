/** What a running attempt has started at its provider, so that a restart goes on with it instead of starting it again. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const jobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE open_runs ADD COLUMN job json`
})
