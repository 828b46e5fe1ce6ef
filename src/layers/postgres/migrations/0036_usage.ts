/**
 * Usage rollups: counts and charges of finished runs, by day and group.
 *
 * A run is counted after the history worker has taken it from `history_queue`. A trigger on that removal moves it to `usage_queue`, so ending a
 * run costs nothing more, and processes of older releases, which know nothing of usage, feed the rollups too.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const usage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE usage_groups (
      org_id text NOT NULL,
      -- A digest of the other columns.
      group_id uuid NOT NULL,
      capability text,
      provider text,
      key_id text,
      endpoint text,
      status text NOT NULL,
      -- A name of metadata. Empty for the groups of all runs.
      name text NOT NULL,
      -- Null for the values beyond the limit of a day, which are counted together.
      value text,
      PRIMARY KEY (org_id, group_id)
    )`
  yield* sql`
    CREATE TABLE usage_days (
      org_id text NOT NULL,
      name text NOT NULL,
      -- UTC day of the settlement, or of the end of a run without one.
      day date NOT NULL,
      group_id uuid NOT NULL,
      runs bigint NOT NULL CHECK (runs >= 0),
      charged bigint NOT NULL CHECK (charged >= 0),
      PRIMARY KEY (org_id, name, day, group_id)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`
  // Names of metadata that an organization's usage is counted by.
  yield* sql`CREATE TABLE usage_names (org_id text NOT NULL, name text NOT NULL, PRIMARY KEY (org_id, name))`
  // How many values of a name have been counted on their own on a day. It never shrinks, so a value beyond the limit stays beyond it.
  yield* sql`
    CREATE TABLE usage_labels (
      org_id text NOT NULL,
      name text NOT NULL,
      day date NOT NULL,
      distinct_values int NOT NULL CHECK (distinct_values >= 0),
      PRIMARY KEY (org_id, name, day)
    )`
  yield* sql`
    CREATE TABLE usage_values (
      org_id text NOT NULL,
      name text NOT NULL,
      day date NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (org_id, name, day, value)
    )`
  yield* sql`
    CREATE TABLE usage_queue (
      org_id text NOT NULL,
      batch bigint GENERATED ALWAYS AS IDENTITY,
      run_ids text[] NOT NULL,
      runs int GENERATED ALWAYS AS (cardinality(run_ids)) STORED,
      -- Counted rows are kept until the runs of older releases are counted too, so that none is counted twice.
      counted boolean NOT NULL DEFAULT false,
      PRIMARY KEY (org_id, batch)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)`
  // Runs that the history index is rebuilt from wait in the same queue. They have been counted before.
  yield* sql`ALTER TABLE history_queue ADD COLUMN counted boolean NOT NULL DEFAULT false`
  yield* sql`
    CREATE FUNCTION usage_follows() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_queue (org_id, run_ids) SELECT org_id, run_ids FROM gone WHERE NOT counted;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER usage_follows AFTER DELETE ON history_queue REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
    EXECUTE FUNCTION usage_follows()`
})
