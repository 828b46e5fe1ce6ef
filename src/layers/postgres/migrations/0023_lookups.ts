/**
 * When a call of unknown outcome is looked up at its provider, by the run id that was sent with it.
 *
 * Older processes write none of these columns. What they sent carries no run id, so their rows are never looked up: finding nothing would
 * then prove nothing.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const lookups = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Null: the provider can't be asked about this call.
  yield* sql`
    ALTER TABLE unknown_outcomes
      ADD COLUMN look_after timestamptz,
      ADD COLUMN looks smallint NOT NULL DEFAULT 0 CHECK (looks >= 0),
      ADD COLUMN look_failed boolean NOT NULL DEFAULT false`
  yield* sql`
    CREATE INDEX unknown_outcomes_look ON unknown_outcomes (look_after) WHERE finding IS NULL AND look_after IS NOT NULL`
  // Whether this worker's calls carry the run id, where the provider has a place for it.
  yield* sql`ALTER TABLE workers ADD COLUMN sends_run_id boolean NOT NULL DEFAULT false`
})
