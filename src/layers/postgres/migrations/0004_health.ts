/**
 * Attempts by subject, time and outcome: what health and routing stand on.
 *
 * Counts are added to by the turn that ends a run, so each lane has rows of its own: turns of two lanes never wait for each
 * other here. No organization stands in this table.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const health = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The newest windows are read and the oldest deleted, whatever their subject: time stands first in the key.
  yield* sql`
    CREATE TABLE attempt_windows (
      span text NOT NULL CHECK (span IN ('5m', '1d')),
      starts_at timestamptz NOT NULL,
      subject text NOT NULL,
      lane smallint NOT NULL,
      ok boolean NOT NULL,
      -- Of successes only; see schema/runs/Health.ts.
      latency_bucket smallint NOT NULL CHECK (latency_bucket >= 0 AND (ok OR latency_bucket = 0)),
      count bigint NOT NULL CHECK (count > 0),
      PRIMARY KEY (span, starts_at, subject, lane, ok, latency_bucket)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000)`
})
