/**
 * Lanes that no stranger stops, and fair shares of workers.
 *
 * Queued runs are found by organization and provider, so that a worker claims them in turns. A wallet counts its open runs, so
 * that admission can refuse one too many.
 * A turn that meets another one is undone by an error of its own, so that errors of class 22 (a string that Postgres can't read)
 * are a command's fault and nothing else.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const lanes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Volatile: a call that the planner could make in advance would undo every turn.
  yield* sql`
    CREATE FUNCTION rungate_turn_conflict() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
    BEGIN RAISE EXCEPTION 'another turn has changed what this one has read' USING ERRCODE = 'RG001'; END $$`
  // What tells this installation from others that share a Redis with it.
  yield* sql`
    CREATE TABLE installation (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`INSERT INTO installation DEFAULT VALUES`

  yield* sql`
    ALTER TABLE open_runs
      -- Whom the run asks next.
      ADD COLUMN provider text NOT NULL DEFAULT '',
      ADD COLUMN free boolean GENERATED ALWAYS AS (hold = 0) STORED`
  yield* sql`
    UPDATE open_runs o SET provider = coalesce(r.provider, '') FROM runs r WHERE r.org_id = o.org_id AND r.run_id = o.run_id`
  yield* sql`CREATE INDEX open_runs_waiting ON open_runs (org_id, provider, free, since) WHERE state = 'queued'`
  yield* sql`DROP INDEX open_runs_queued`
  yield* sql`ALTER TABLE wallets ADD COLUMN open_runs bigint NOT NULL DEFAULT 0 CHECK (open_runs >= 0)`
  yield* sql`
    UPDATE wallets w SET open_runs = o.runs FROM (SELECT org_id, count(*) AS runs FROM open_runs GROUP BY org_id) o
    WHERE o.org_id = w.org_id`
  // Open runs of organizations: those that a turn has opened, and those that wait for their turn.
  yield* sql`
    CREATE FUNCTION open_runs_of(orgs text[]) RETURNS TABLE (org_id text, runs bigint) LANGUAGE sql VOLATILE AS $$
      WITH asked AS (SELECT w.org_id, w.lane, w.open_runs FROM wallets w WHERE w.org_id = ANY(orgs)),
           waiting AS (
             SELECT m.org_id, count(*) AS runs FROM mailbox m
             WHERE m.lane IN (SELECT lane FROM asked) AND m.tag = 'Reserve' AND m.parked IS NULL GROUP BY m.org_id)
      SELECT a.org_id, a.open_runs + coalesce(n.runs, 0) FROM asked a LEFT JOIN waiting n ON n.org_id = a.org_id
    $$`
  // How many more runs each organization may have, decided one process after the other where it becomes tight: below a quarter of
  // the limit nobody waits for a lock. Volatile, so what is counted after the lock is what the lock's last holder has committed.
  yield* sql`
    CREATE FUNCTION room_for_runs(orgs text[], asked bigint[], most bigint) RETURNS TABLE (org_id text, room bigint)
    LANGUAGE plpgsql VOLATILE AS $$
    DECLARE tight text[]; names text[]; counts bigint[];
    BEGIN
      SELECT array_agg(o.org_id), array_agg(o.runs), array_agg(o.org_id) FILTER (WHERE 4 * (o.runs + n.asked) > most)
      INTO names, counts, tight
      FROM open_runs_of(orgs) o JOIN unnest(orgs, asked) AS n(org_id, asked) ON n.org_id = o.org_id;
      IF tight IS NULL THEN
        RETURN QUERY SELECT c.org_id, most - c.runs FROM unnest(names, counts) AS c(org_id, runs);
        RETURN;
      END IF;
      PERFORM pg_advisory_xact_lock(730581, k.key) FROM (SELECT DISTINCT hashtext(t) AS key FROM unnest(tight) t ORDER BY 1) k;
      RETURN QUERY SELECT o.org_id, most - o.runs FROM open_runs_of(orgs) o;
    END $$`
})
