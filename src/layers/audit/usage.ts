/**
 * Compares the rollups of usage with the ledger, for operators.
 *
 * Days whose ledger entries were dropped with their month are left out.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { violationRows } from "./equations.ts"

/** Violations listed per equation. */
const perEquation = 50

export const usageViolations = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const settlements = violationRows(sql`
    SELECT 'U1 the charges of usage on each day equal the settlements of the ledger' AS equation, org_id || ' on ' || day AS subject,
           'usage ' || coalesce(u.charged, 0) || ', ledger ' || coalesce(s.charged, 0) AS detail
    FROM (
      SELECT org_id, day, sum(charged) AS charged FROM (
        SELECT org_id, day, charged FROM usage_days WHERE name = ''
        UNION ALL
        SELECT l.org_id, spend_day(z.time_zones, l.created_at), -l.amount
        FROM (SELECT unnest(run_ids) AS run_id FROM history_queue WHERE NOT counted
              UNION SELECT unnest(run_ids) FROM usage_queue) w
        JOIN ledger l ON l.run_id = w.run_id AND l.type = 'settle' JOIN wallets z ON z.org_id = l.org_id
      ) c GROUP BY org_id, day
    ) u
    FULL JOIN (SELECT l.org_id, spend_day(z.time_zones, l.created_at) AS day, -sum(l.amount) AS charged FROM ledger l JOIN wallets z USING (org_id)
               WHERE l.type = 'settle' GROUP BY 1, 2) s USING (org_id, day)
    WHERE coalesce(u.charged, 0) <> coalesce(s.charged, 0)
      AND day > (SELECT coalesce(max(settled_until), '-infinity') FROM dropped_months) + CASE WHEN EXISTS (SELECT FROM wallets z WHERE z.org_id = coalesce(u.org_id, s.org_id) AND z.time_zones IS NOT NULL) THEN 1 ELSE 0 END LIMIT ${perEquation}`)
  const labels = violationRows(sql`
    SELECT 'U2 no label is counted more often than there are runs' AS equation, org_id || ' ' || n.name || ' on ' || day AS subject,
           'labelled ' || n.runs || ' runs of ' || coalesce(a.runs, 0) || ', charged ' || n.charged || ' of ' || coalesce(a.charged, 0) AS detail
    FROM (SELECT org_id, day, name, sum(runs) AS runs, sum(charged) AS charged FROM usage_days WHERE name <> '' GROUP BY 1, 2, 3) n
    LEFT JOIN (SELECT org_id, day, sum(runs) AS runs, sum(charged) AS charged FROM usage_days WHERE name = '' GROUP BY 1, 2) a USING (org_id, day)
    WHERE n.runs > coalesce(a.runs, 0) OR n.charged > coalesce(a.charged, 0) LIMIT ${perEquation}`)
  const sums = violationRows(sql`
    SELECT 'U3 the sums of usage equal its rollups' AS equation, org_id || ' by ' || coalesce(nullif(dimension, ''), 'nothing') || ' on ' || day AS subject,
           'sums ' || coalesce(s.runs, 0) || ' runs, charged ' || coalesce(s.charged, 0) || ', rollups ' || coalesce(n.runs, 0) || ' runs, charged '
             || coalesce(n.charged, 0) AS detail
    FROM (
      SELECT d.org_id, d.day, g.status, sum(d.runs) AS runs, sum(d.charged) AS charged,
        CASE grouping(g.capability, g.provider, g.key_id, g.endpoint)
          WHEN 15 THEN '' WHEN 7 THEN 'capability' WHEN 11 THEN 'provider' WHEN 13 THEN 'key' ELSE 'endpoint' END AS dimension,
        coalesce('=' || coalesce(g.capability, g.provider, g.key_id, g.endpoint), '') AS value
      FROM usage_days d JOIN usage_groups g ON g.org_id = d.org_id AND g.group_id = d.group_id WHERE d.name = ''
      GROUP BY d.org_id, d.day, g.status, GROUPING SETS ((), (g.capability), (g.provider), (g.key_id), (g.endpoint))
    ) n
    FULL JOIN usage_sums s USING (org_id, dimension, day, value, status)
    WHERE coalesce(s.runs, 0) <> coalesce(n.runs, 0) OR coalesce(s.charged, 0) <> coalesce(n.charged, 0) LIMIT ${perEquation}`)
  return (yield* Effect.all([settlements, labels, sums])).flat()
})
