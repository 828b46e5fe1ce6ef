/**
 * A rollup also knows the latest touch that went to its subject, which need not be the latest that names it. Rollups that don't know are
 * made anew, because the rules they were made by have another name.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const contacts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE history_rollups ADD COLUMN contact_id text`
})
