/**
 * Segments of the history index get a format version and checksums. Processes of older releases write format 1, without checksums; a worker
 * rebuilds such segments in the current format.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const damage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE history_segments
      ADD COLUMN format int NOT NULL DEFAULT 1,
      ADD COLUMN checksum int`
  for (const table of ["history_blocks", "history_docs", "history_classes"])
    yield* sql`ALTER TABLE ${sql.literal(table)} ADD COLUMN checksum int`
  // Segments that a reader could not use. A worker rebuilds them from their runs.
  yield* sql`
    CREATE TABLE history_damage (
      segment bigint PRIMARY KEY,
      org_id text NOT NULL,
      family text NOT NULL CHECK (family IN ('subjects', 'words')),
      what text NOT NULL,
      found_at timestamptz NOT NULL DEFAULT now()
    )`
})
