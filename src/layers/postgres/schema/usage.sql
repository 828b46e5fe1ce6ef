-- Usage rollups: counts and charges of finished runs, by day and group.
--
-- A run is counted after the history worker has taken it from `history_queue`. A trigger on that removal moves it to `usage_queue`, so ending a
-- run costs nothing more.

-- Runs that wait to be counted, many in a row. The trigger below writes it, and the usage worker empties it.
CREATE TABLE usage_queue (
  org_id text NOT NULL,
  batch bigint GENERATED ALWAYS AS IDENTITY,
  run_ids text[] NOT NULL,
  runs int GENERATED ALWAYS AS (cardinality(run_ids)) STORED,
  PRIMARY KEY (org_id, batch)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION usage_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_queue (org_id, run_ids) SELECT org_id, run_ids FROM gone WHERE NOT counted;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_follows AFTER DELETE ON history_queue REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
EXECUTE FUNCTION usage_follows();

-- What a rollup's group stands for. The usage worker writes it.
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
);

-- One row for each day and group of an organization: its runs and charges. The usage worker adds to it.
CREATE TABLE usage_days (
  org_id text NOT NULL,
  name text NOT NULL,
  -- UTC day of the settlement, or of the end of a run without one.
  day date NOT NULL,
  group_id uuid NOT NULL,
  runs bigint NOT NULL CHECK (runs >= 0),
  charged bigint NOT NULL CHECK (charged >= 0),
  PRIMARY KEY (org_id, name, day, group_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Names of metadata that an organization's usage is counted by. The usage worker writes it.
CREATE TABLE usage_names (org_id text NOT NULL, name text NOT NULL, PRIMARY KEY (org_id, name));

-- How many values of a name have been counted on their own on a day. The usage worker writes it. It never shrinks, so a value beyond the
-- limit stays beyond it.
CREATE TABLE usage_labels (
  org_id text NOT NULL,
  name text NOT NULL,
  day date NOT NULL,
  distinct_values int NOT NULL CHECK (distinct_values >= 0),
  PRIMARY KEY (org_id, name, day)
);

-- The values of a name that are counted on their own on a day. The usage worker writes it.
CREATE TABLE usage_values (
  org_id text NOT NULL,
  name text NOT NULL,
  day date NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (org_id, name, day, value)
);

-- Sums of the rollups for each day: all runs, and by one of capability, provider, key and endpoint. A question with one of these groups reads
-- them, instead of a row for each day and group. The triggers below write them in the same transaction.
-- No CHECK as on usage_days: it would refuse a difference below zero before it is added to its row.
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
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION usage_sums_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_sums AS s (org_id, dimension, day, value, status, runs, charged)
  SELECT n.org_id, x.dimension, n.day, x.value, g.status, sum(n.runs)::bigint AS runs, sum(n.charged)::bigint AS charged
  FROM (SELECT org_id, day, group_id, runs, charged FROM added WHERE name = '') n
  JOIN usage_groups g ON g.org_id = n.org_id AND g.group_id = n.group_id
  CROSS JOIN LATERAL (VALUES ('', ''), ('capability', coalesce('=' || g.capability, '')), ('provider', coalesce('=' || g.provider, '')),
    ('key', coalesce('=' || g.key_id, '')), ('endpoint', coalesce('=' || g.endpoint, ''))) AS x (dimension, value)
  GROUP BY n.org_id, x.dimension, n.day, x.value, g.status
  ON CONFLICT (org_id, dimension, day, value, status) DO UPDATE SET runs = s.runs + excluded.runs, charged = s.charged + excluded.charged;
  RETURN NULL;
END $$;

CREATE FUNCTION usage_sums_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_sums AS s (org_id, dimension, day, value, status, runs, charged)
  SELECT n.org_id, x.dimension, n.day, x.value, g.status, sum(n.runs)::bigint AS runs, sum(n.charged)::bigint AS charged
  FROM (SELECT org_id, day, group_id, runs, charged FROM added WHERE name = ''
        UNION ALL SELECT org_id, day, group_id, -runs, -charged FROM gone WHERE name = '') n
  JOIN usage_groups g ON g.org_id = n.org_id AND g.group_id = n.group_id
  CROSS JOIN LATERAL (VALUES ('', ''), ('capability', coalesce('=' || g.capability, '')), ('provider', coalesce('=' || g.provider, '')),
    ('key', coalesce('=' || g.key_id, '')), ('endpoint', coalesce('=' || g.endpoint, ''))) AS x (dimension, value)
  GROUP BY n.org_id, x.dimension, n.day, x.value, g.status
  ON CONFLICT (org_id, dimension, day, value, status) DO UPDATE SET runs = s.runs + excluded.runs, charged = s.charged + excluded.charged;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_sums_grow AFTER INSERT ON usage_days REFERENCING NEW TABLE AS added FOR EACH STATEMENT
EXECUTE FUNCTION usage_sums_grow();
CREATE TRIGGER usage_sums_change AFTER UPDATE ON usage_days REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT
EXECUTE FUNCTION usage_sums_change();
