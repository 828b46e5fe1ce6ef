/**
 * Sums of the usage rollups for each day: all runs, and by one of capability, provider, key and endpoint. A question with one of these groups
 * reads them, instead of a row for each day and group.
 *
 * Triggers on the rollups write them in the same transaction, so processes of older releases, which know nothing of sums, keep them exact too.
 * A background migration sums the rollups of before (usage/OldSums.ts).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What rows are summed by besides day and status. Empty: all runs. */
export const dimensions = ["", "capability", "provider", "key", "endpoint"] as const

/** SQL: the sums of rows with the columns org_id, day, group_id, runs and charged. Values are written as `cellOf` reads them. */
export const sumsOf = (rows: string): string => `
  SELECT n.org_id, x.dimension, n.day, x.value, g.status, sum(n.runs)::bigint AS runs, sum(n.charged)::bigint AS charged
  FROM (${rows}) n
  JOIN usage_groups g ON g.org_id = n.org_id AND g.group_id = n.group_id
  CROSS JOIN LATERAL (VALUES ('', ''), ('capability', coalesce('=' || g.capability, '')), ('provider', coalesce('=' || g.provider, '')),
    ('key', coalesce('=' || g.key_id, '')), ('endpoint', coalesce('=' || g.endpoint, ''))) AS x (dimension, value)
  GROUP BY n.org_id, x.dimension, n.day, x.value, g.status`

const added = "SELECT org_id, day, group_id, runs, charged FROM added WHERE name = ''"
const changed = `${added} UNION ALL SELECT org_id, day, group_id, -runs, -charged FROM gone WHERE name = ''`

const adding = (rows: string): string => `
  BEGIN
    INSERT INTO usage_sums AS s (org_id, dimension, day, value, status, runs, charged) ${sumsOf(rows)}
    ON CONFLICT (org_id, dimension, day, value, status) DO UPDATE SET runs = s.runs + excluded.runs, charged = s.charged + excluded.charged;
    RETURN NULL;
  END`

export const usageSums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // No CHECK as on usage_days: it would refuse a difference below zero before it is added to its row.
  yield* sql`
    CREATE TABLE usage_sums (
      org_id text NOT NULL,
      -- What the rows are grouped by besides day and status: capability, provider, key or endpoint. Empty for all runs.
      dimension text NOT NULL,
      day date NOT NULL,
      -- "=" and the value. Empty for none.
      value text NOT NULL,
      status text NOT NULL,
      runs bigint NOT NULL,
      charged bigint NOT NULL,
      PRIMARY KEY (org_id, dimension, day, value, status)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`
  yield* sql`
    CREATE FUNCTION usage_sums_grow() RETURNS trigger LANGUAGE plpgsql AS $$ ${sql.literal(adding(added))} $$`
  yield* sql`
    CREATE FUNCTION usage_sums_change() RETURNS trigger LANGUAGE plpgsql AS $$ ${sql.literal(adding(changed))} $$`
  yield* sql`
    CREATE TRIGGER usage_sums_grow AFTER INSERT ON usage_days REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION usage_sums_grow()`
  yield* sql`
    CREATE TRIGGER usage_sums_change AFTER UPDATE ON usage_days REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION usage_sums_change()`
})
