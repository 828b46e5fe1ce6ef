/**
 * An index of runs by their labels, for the filter `metadata.<name>` of `GET /v1/runs`: one row for each label of a run.
 *
 * Triggers write it, so processes of older releases feed it too, and erasing a run's metadata deletes its rows. A run without labels costs
 * nothing. It is a table and not an index of `runs`: a page of the newest runs with a common label reads a page of rows, where a GIN index
 * would read and sort every run that has the label.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const runLabels = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Values may have 500 characters, so the index has a digest of name and value. No name contains "=".
  yield* sql`
    CREATE FUNCTION run_label(name text, value text) RETURNS bytea LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
      SELECT substr(sha256(convert_to(name || '=' || value, 'UTF8')), 1, 16) $$`
  yield* sql`
    CREATE TABLE run_labels (
      org_id text NOT NULL,
      label bytea NOT NULL CHECK (length(label) = 16),
      run_id text NOT NULL,
      PRIMARY KEY (org_id, label, run_id)
    )`
  yield* sql`
    CREATE FUNCTION run_is_labelled() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        DELETE FROM run_labels l USING jsonb_each_text(OLD.metadata) AS one
        WHERE l.org_id = OLD.org_id AND l.label = run_label(one.key, one.value) AND l.run_id = OLD.run_id;
      END IF;
      INSERT INTO run_labels (org_id, label, run_id)
      SELECT NEW.org_id, run_label(one.key, one.value), NEW.run_id FROM jsonb_each_text(NEW.metadata) AS one
      ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER run_is_labelled AFTER INSERT ON runs FOR EACH ROW WHEN (NEW.metadata IS NOT NULL)
    EXECUTE FUNCTION run_is_labelled()`
  yield* sql`
    CREATE TRIGGER run_is_relabelled AFTER UPDATE OF metadata ON runs FOR EACH ROW WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata)
    EXECUTE FUNCTION run_is_labelled()`
})
