/**
 * What the repeat guard knows: runs of a caller that failed, and runs with the same input that were admitted since.
 *
 * A row counts for ten minutes and is deleted some minutes later. `input_hash` is a digest of target and input
 * (schema/guards/InputHash.ts). Runs of older releases have none and are not guarded.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const repeatGuard = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN input_hash text`
  yield* sql`
    CREATE TABLE repeat_tries (
      org_id text NOT NULL REFERENCES orgs,
      -- An API key's id, or "session".
      caller text NOT NULL,
      input_hash text NOT NULL,
      run_id text NOT NULL,
      -- When it failed, or when it was admitted if it has not ended.
      tried_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, caller, input_hash, run_id)
    )`
})
