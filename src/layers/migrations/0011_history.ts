/**
 * What is known about a subject: which runs name it, by a hash of the organization and the subject, and the words of every run.
 *
 * The subjects of an input are written with the run's admission and those of its result with its end. Words take longer to cut up, so
 * a run that has ended waits in `word_queue` for a moment, where a question still finds it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const history = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE run_subjects (
      -- Of organization and subject; see layers/Subjects.ts. Two that share it are told apart by the run's own organization.
      subject bigint NOT NULL,
      run_id text NOT NULL,
      in_result boolean NOT NULL,
      -- The value names the subject itself.
      exact boolean NOT NULL,
      path text NOT NULL,
      PRIMARY KEY (subject, run_id, in_result)
    )`
  yield* sql`
    CREATE TABLE run_words (
      run_id text PRIMARY KEY,
      org_id text NOT NULL,
      -- With the organization as one more word.
      words tsvector NOT NULL
    )`
  yield* sql`CREATE INDEX run_words_words ON run_words USING gin (words)`
  yield* sql`
    CREATE TABLE word_queue (
      run_id text PRIMARY KEY,
      org_id text NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000)`
  yield* sql`CREATE INDEX word_queue_org ON word_queue (org_id)`
  // Strings and numbers of a JSON value; of a very long one its beginning, as text. What can't be cut up has no words.
  yield* sql`
    CREATE FUNCTION json_words(value json) RETURNS tsvector LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
    BEGIN
      IF value IS NULL THEN RETURN ''::tsvector; END IF;
      IF octet_length(value::text) <= 200000 THEN RETURN json_to_tsvector('simple', value, '["string", "numeric"]'); END IF;
      RETURN to_tsvector('simple', left(value::text, 200000));
    EXCEPTION WHEN OTHERS THEN RETURN ''::tsvector;
    END $$`
  yield* sql`ALTER TABLE mailbox ADD COLUMN subjects json`
  // When a run's input and result were erased on request or for their age. Its ledger entries stay.
  yield* sql`ALTER TABLE runs ADD COLUMN erased_at timestamptz`
  yield* sql`
    CREATE TABLE history_progress (
      -- 'reindex', or an organization whose old runs are being erased.
      name text PRIMARY KEY,
      org_id text NOT NULL,
      run_id text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    )`
})
