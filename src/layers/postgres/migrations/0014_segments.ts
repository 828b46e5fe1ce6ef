/**
 * Subjects move from a row for each run that names one into segments, as words have them (schema/segments): a row cost a run more than all
 * its words together, most of it for a place in an index that grows with the runs. What a segment knows of its runs is laid out anew, so that a
 * subject in a hundred thousand runs needs no rollup.
 *
 * All runs that have ended wait in `history_queue` until a worker has put them into segments.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const segments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["word_segments", "word_blocks", "word_runs", "run_subjects", "history_rollups"])
    yield* sql`DROP TABLE ${sql.literal(table)}`
  yield* sql`ALTER TABLE mailbox DROP COLUMN subjects, DROP COLUMN subject_keys, DROP COLUMN subject_places`
  yield* sql`DELETE FROM history_progress WHERE name = 'reindex'`
  yield* sql`
    CREATE TABLE history_segments (
      segment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      org_id text NOT NULL,
      family text NOT NULL CHECK (family IN ('subjects', 'words')),
      -- By which its runs were read; those by others are made anew.
      rules int NOT NULL,
      runs int NOT NULL CHECK (runs > 0),
      -- A power of two: the hash space is cut into so many slices.
      blocks int NOT NULL CHECK (blocks > 0 AND blocks & (blocks - 1) = 0),
      first_run text NOT NULL,
      last_run text NOT NULL CHECK (last_run >= first_run)
    )`
  yield* sql`CREATE INDEX history_segments_org ON history_segments (org_id, family)`
  // Which runs have a term.
  yield* sql`
    CREATE TABLE history_blocks (
      segment bigint NOT NULL,
      block int NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (segment, block)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)`
  // What its runs are to be counted by, 4,096 a page; and who they are, 32 a page.
  for (const table of ["history_classes", "history_docs"])
    yield* sql`
      CREATE TABLE ${sql.literal(table)} (
        segment bigint NOT NULL,
        page int NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (segment, page)
      ) WITH (autovacuum_vacuum_scale_factor = 0.05)`
  // They are dense already.
  for (const table of ["history_blocks", "history_classes", "history_docs"])
    yield* sql`ALTER TABLE ${sql.literal(table)} ALTER COLUMN bytes SET STORAGE EXTERNAL`
  yield* sql`ALTER TABLE word_queue RENAME TO history_queue`
  yield* sql`
    INSERT INTO history_queue (org_id, run_id) SELECT org_id, run_id FROM runs WHERE finished_at IS NOT NULL AND erased_at IS NULL
    ON CONFLICT DO NOTHING`
})
