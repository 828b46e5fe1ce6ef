/**
 * The index of phrases as segments (schema/words/Segment.ts) instead of a row of words for each run: it costs less to write, and a phrase
 * is found by its pairs of words without looking at every run that has the words somewhere.
 *
 * Runs that have ended wait in `word_queue` until a worker has put them into a segment, all that were there before this migration with them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const words = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE word_segments (
      segment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      org_id text NOT NULL,
      -- By which texts were cut up; others are made anew.
      rules int NOT NULL,
      runs int NOT NULL CHECK (runs > 0),
      -- A power of two: the hash space is cut into so many slices.
      blocks int NOT NULL CHECK (blocks > 0 AND blocks & (blocks - 1) = 0),
      first_run text NOT NULL,
      last_run text NOT NULL CHECK (last_run >= first_run),
      -- [status, capability, endpoint, provider] of its runs, each once.
      kinds text NOT NULL
    )`
  yield* sql`CREATE INDEX word_segments_org ON word_segments (org_id)`
  // Which runs have a term.
  yield* sql`
    CREATE TABLE word_blocks (
      segment bigint NOT NULL,
      block int NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (segment, block)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)`
  // Which runs there are, 32 a page, and what a question sums up of them.
  yield* sql`
    CREATE TABLE word_runs (
      segment bigint NOT NULL,
      page int NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (segment, page)
    )`
  // They are dense already.
  yield* sql`ALTER TABLE word_blocks ALTER COLUMN bytes SET STORAGE EXTERNAL`
  yield* sql`ALTER TABLE word_runs ALTER COLUMN bytes SET STORAGE EXTERNAL`
  // What a result is about, as lists that Postgres reads faster than JSON (layers/Subjects.ts).
  yield* sql`ALTER TABLE mailbox ADD COLUMN subject_keys text, ADD COLUMN subject_places text`
  yield* sql`DROP INDEX word_queue_org`
  yield* sql`ALTER TABLE word_queue DROP CONSTRAINT word_queue_pkey`
  yield* sql`ALTER TABLE word_queue ADD PRIMARY KEY (org_id, run_id)`
  yield* sql`
    INSERT INTO word_queue (org_id, run_id) SELECT org_id, run_id FROM runs WHERE finished_at IS NOT NULL AND erased_at IS NULL
    ON CONFLICT DO NOTHING`
  yield* sql`DROP TABLE run_words`
  yield* sql`DROP FUNCTION run_words_of(json, json)`
  yield* sql`DROP FUNCTION json_words(json)`
  yield* sql`DROP FUNCTION folded(text)`
})
