/**
 * What runs without a price store: today's bytes of each organization, and what its open runs may store.
 *
 * Older releases write neither. Their runs count as if they stored nothing, and a run of this release that one of them ends is open no longer.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const freeStorage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE free_storage (
      org_id text PRIMARY KEY,
      -- The UTC day that bytes counts.
      day date NOT NULL,
      bytes bigint NOT NULL CHECK (bytes >= 0)
    ) WITH (fillfactor = 50)`
  // Null for a run with a hold.
  yield* sql`ALTER TABLE open_runs ADD COLUMN free_bytes bigint`
  yield* sql`ALTER TABLE open_runs ADD CONSTRAINT open_run_free CHECK (free_bytes IS NULL OR free_bytes > 0 AND hold = 0) NOT VALID`
  // No row fits yet, so that it is made in one short scan.
  yield* sql`CREATE INDEX open_runs_free ON open_runs (org_id) INCLUDE (free_bytes) WHERE free_bytes IS NOT NULL`
})
