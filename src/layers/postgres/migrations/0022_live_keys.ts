/**
 * API keys are found by an index that leaves revoked ones out. A revoked key then costs the same look-up as one that never existed, so the
 * time of an answer doesn't tell them apart.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const liveKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE UNIQUE INDEX api_keys_live ON api_keys (key_hash) WHERE revoked_at IS NULL`
  yield* sql`ALTER TABLE api_keys DROP CONSTRAINT api_keys_key_hash_key`
})
