/**
 * Runs that wait for the index of history, many in a row: a row and its place in an index cost a run twice as much as its part of a turn's row.
 * And what segments are made of stays in its row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What the worker takes at once is four times as much. */
const runsOfRow = 256

export const queue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE history_queue RENAME TO single_queue`
  yield* sql`
    CREATE TABLE history_queue (
      org_id text NOT NULL,
      turn bigint GENERATED ALWAYS AS IDENTITY,
      -- Of one organization, ended by one turn. A run is in one row at most.
      run_ids text[] NOT NULL,
      -- Told apart, so that whoever counts them reads no ids.
      runs int GENERATED ALWAYS AS (cardinality(run_ids)) STORED CHECK (runs > 0),
      PRIMARY KEY (org_id, turn)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)`
  yield* sql`
    INSERT INTO history_queue (org_id, run_ids)
    SELECT org_id, array_agg(run_id ORDER BY run_id)
    FROM (SELECT org_id, run_id, (row_number() OVER (PARTITION BY org_id ORDER BY run_id) - 1) / ${runsOfRow}::int AS part FROM single_queue) q
    GROUP BY org_id, part ORDER BY org_id, part`
  yield* sql`DROP TABLE single_queue`
  // Blocks of young segments are longer than what Postgres keeps in a row by itself; cut up and put elsewhere, each took three rows.
  for (const table of ["history_blocks", "history_classes"])
    yield* sql`ALTER TABLE ${sql.literal(table)} SET (toast_tuple_target = 8160)`
})
