/**
 * Counts small limits of open runs under the lock always.
 *
 * Below a quarter of the limit an admission takes no lock, so one that is under way is not counted by others. Where a limit is small,
 * such admissions together could exceed it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const room = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // As in migration 0019, with the first condition added.
  yield* sql`
    CREATE OR REPLACE FUNCTION room_for_runs(orgs text[], asked bigint[], most bigint) RETURNS TABLE (org_id text, room bigint)
    LANGUAGE plpgsql VOLATILE AS $$
    DECLARE tight text[]; names text[]; counts bigint[];
    BEGIN
      IF most < 200 THEN
        tight := orgs;
      ELSE
        SELECT array_agg(o.org_id), array_agg(o.runs), array_agg(o.org_id) FILTER (WHERE 4 * (o.runs + n.asked) > most)
        INTO names, counts, tight
        FROM open_runs_of(orgs) o JOIN unnest(orgs, asked) AS n(org_id, asked) ON n.org_id = o.org_id;
      END IF;
      IF tight IS NULL THEN
        RETURN QUERY SELECT c.org_id, most - c.runs FROM unnest(names, counts) AS c(org_id, runs);
        RETURN;
      END IF;
      PERFORM pg_advisory_xact_lock(730581, k.key) FROM (SELECT DISTINCT hashtext(t) AS key FROM unnest(tight) t ORDER BY 1) k;
      RETURN QUERY SELECT o.org_id, most - o.runs FROM open_runs_of(orgs) o;
    END $$`
})
