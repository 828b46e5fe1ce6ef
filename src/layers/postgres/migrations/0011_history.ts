/**
 * What is known about a subject: which runs name it, by a hash of the organization and the subject, and the words of every run.
 *
 * A subject that thousands of runs name has a rollup: what the older of them come to, so that a question reads only the newest.
 *
 * The subjects of an input are written with the run's admission and those of its result with its end. Words take longer to cut up, so
 * a run that has ended waits in `word_queue` for a moment, where a question still finds it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What nobody sees and copying carries along, as in schema/subjects/Form.ts. */
const invisible =
  "\u00AD\u061C\u180E\u200B\u200C\u200D\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\uFEFF"

export const history = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE run_subjects (
      -- Of organization and subject; see layers/Subjects.ts. Two that share it are told apart by the run's own organization.
      subject bigint NOT NULL,
      run_id text NOT NULL,
      -- The best of the places where it stands: one that names it goes before one that mentions it, and then the input before the result.
      in_result boolean NOT NULL,
      -- The value names the subject itself.
      exact boolean NOT NULL,
      path text NOT NULL,
      PRIMARY KEY (subject, run_id)
    )`
  // Which subjects are in thousands of runs: what the planner knows of them is what rollups are made by.
  yield* sql`ALTER TABLE run_subjects ALTER COLUMN subject SET STATISTICS 2000`
  yield* sql`
    CREATE TABLE history_rollups (
      org_id text NOT NULL,
      subject bigint NOT NULL,
      -- All matches of runs before this one, which are final, are in it.
      before text NOT NULL,
      -- Which lookups counted as such; by other rules it is made anew.
      rules text NOT NULL,
      groups json NOT NULL,
      touch_id text,
      reusable_ids text[] NOT NULL,
      -- A question found many matches behind it.
      wanted boolean NOT NULL,
      PRIMARY KEY (org_id, subject)
    )`
  yield* sql`CREATE INDEX history_rollups_wanted ON history_rollups (org_id, subject) WHERE wanted`
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
  // As `searchable` of schema/subjects/Text.ts folds a phrase, so that both sides read alike. Quotes and backslashes of other widths, which would
  // end a string when they are folded, become blanks.
  yield* sql`
    CREATE FUNCTION folded(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT replace(replace(translate(normalize(translate(value, ${sql.literal(`'＂＼﹨${invisible}', '   '`)}), NFKC), 'ςı', 'σi'), 'ß', 'ss'), 'ẞ', 'ss')
    $$`
  // Strings and numbers of a JSON value; of a very long one its beginning, as text. An escaped NUL or half of a letter is valid JSON that
  // can't be cut up: it becomes a blank. What still can't be, or has more words than an index entry holds, has those of its beginning.
  yield* sql`
    CREATE FUNCTION json_words(value json) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
    BEGIN
      IF value IS NULL THEN RETURN ''::tsvector; END IF;
      IF octet_length(value::text) > 200000 THEN RETURN to_tsvector('simple', folded(left(value::text, 200000))); END IF;
      IF value::text !~ '[^[:ascii:]]|\\\\u' THEN RETURN json_to_tsvector('simple', value, '["string", "numeric"]'); END IF;
      RETURN json_to_tsvector('simple', folded(value::jsonb::text)::json, '["string", "numeric"]');
    EXCEPTION WHEN OTHERS THEN
      BEGIN
        RETURN json_to_tsvector('simple', folded(regexp_replace(left(value::text, 200001),
          '(\\\\\\\\)|\\\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\1 ', 'g')::jsonb::text)::json, '["string", "numeric"]');
      EXCEPTION WHEN OTHERS THEN
        BEGIN RETURN to_tsvector('simple', left(value::text, 50000));
        EXCEPTION WHEN OTHERS THEN RETURN ''::tsvector; END;
      END;
    END $$`
  // Of both, as far as an index entry holds them; those of the input have weight A, so that a question tells them apart.
  yield* sql`
    CREATE FUNCTION run_words_of(input json, result json) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
    BEGIN RETURN setweight(json_words(input), 'A') || json_words(result);
    EXCEPTION WHEN OTHERS THEN RETURN setweight(to_tsvector('simple', left(input::text, 50000)), 'A') || to_tsvector('simple', left(coalesce(result::text, ''), 50000));
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
