-- `runs` and `ledger` in one partition for each month, by the time in run ids; how months are made and moved, and how old ones are dropped.
--
-- `runs_first` and `ledger_first` have all ids before the first month. Months follow, and `runs_future` and `ledger_future` have the ids after
-- the last one, so that no row is ever without a place. `make_months` adds months before they are needed.
-- `ledger_first` is also the default partition: it has all credits, which name no run.
--
-- A statement prepares a scan of every partition, which costs more the more months there are. So the newest months are partitions of
-- `runs_recent`, and the statements of a turn name that table. `age_month` moves a month out of it when all of its runs are final.

-- The first run id of a time, and the time of a run id: see schema/Ids.ts.
CREATE FUNCTION run_id_at(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT 'run_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((floor(extract(epoch FROM at) * 1000)::bigint >> (5 * n)) & 31)::int, 1), '' ORDER BY n DESC)
  FROM generate_series(0, 9) n $$;

CREATE FUNCTION time_of_run_id(run_id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(run_id, 14 - n, 1)) - 1)::bigint << (5 * n))::float8 / 1000)
  FROM generate_series(0, 9) n $$;

-- Partitions are read and written through their table only, whose privileges count. Default privileges would open them.
CREATE FUNCTION close_partitions() RETURNS void LANGUAGE plpgsql AS $$
DECLARE given record;
BEGIN
  FOR given IN
    SELECT DISTINCT c.oid::regclass AS name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, aclexplode(c.relacl) a
    WHERE i.inhparent IN (to_regclass('runs'), to_regclass('runs_recent'), to_regclass('ledger')) AND c.relkind = 'r' AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', given.name, given.grantee);
  END LOOP;
END $$;

-- The newest months of runs, whose runs may still be open. Turns write it.
CREATE TABLE runs_recent PARTITION OF runs FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (run_id);
-- Runs before the first month: those of a database that was moved here. `rungate admin move` writes it.
CREATE TABLE runs_first PARTITION OF runs_recent FOR VALUES FROM (MINVALUE) TO (run_id_at(date_trunc('month', now(), 'UTC'))) WITH (fillfactor = 70);
-- Runs after the last month that was made.
CREATE TABLE runs_future PARTITION OF runs_recent FOR VALUES FROM (run_id_at(date_trunc('month', now(), 'UTC'))) TO (MAXVALUE) WITH (fillfactor = 70);

-- All credits, which name no run, and entries of runs before the first month. Turns write it.
CREATE TABLE ledger_first PARTITION OF ledger DEFAULT;
ALTER TABLE ledger_first ADD PRIMARY KEY (org_id, seq);
CREATE UNIQUE INDEX ledger_first_once_per_run ON ledger_first (run_id, type) WHERE run_id IS NOT NULL;
-- One reserve, one settle and one release per run; one credit per reference: nothing is paid or credited twice.
CREATE UNIQUE INDEX ledger_once_per_run ON ledger (run_id, type) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX ledger_once_per_credit ON ledger_first (org_id, type, reference) WHERE run_id IS NULL;
-- A statement that names the partition fires the triggers of the partition and not those of the ledger.
CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_first FOR EACH STATEMENT
EXECUTE FUNCTION ledger_is_immutable();
CREATE TRIGGER ledger_chains AFTER INSERT ON ledger_first REFERENCING NEW TABLE AS added FOR EACH STATEMENT
EXECUTE FUNCTION ledger_chains();

-- With it, the partition can be moved, and a new month needs no scan that proves that its rows are not here.
DO $$
DECLARE first_id text := run_id_at(date_trunc('month', now(), 'UTC'));
BEGIN
  EXECUTE format('ALTER TABLE runs_first ADD CONSTRAINT before_first_month CHECK (run_id < %L)', first_id);
  EXECUTE format('ALTER TABLE ledger_first ADD CONSTRAINT before_first_month CHECK (run_id IS NULL OR run_id < %L)', first_id);
END $$;

-- One row for each Idempotency-Key of a run, because no unique index can span all months. Admission writes it, and dropping a month deletes its keys.
CREATE TABLE idempotency_keys (
  org_id text NOT NULL,
  idempotency_key text NOT NULL,
  run_id text NOT NULL,
  PRIMARY KEY (org_id, idempotency_key)
);
-- Rows stand in the order of their runs, so a small index finds the oldest ones. A row that lies in a summarized range may update its
-- summary, so ranges are small.
CREATE INDEX idempotency_keys_age ON idempotency_keys USING brin (run_id) WITH (pages_per_range = 8);

-- Claims the Idempotency-Key of a run for a statement that has not done it itself.
CREATE FUNCTION run_claims_key() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE holder text;
BEGIN
  INSERT INTO idempotency_keys (org_id, idempotency_key, run_id) VALUES (NEW.org_id, NEW.idempotency_key, NEW.run_id)
  ON CONFLICT (org_id, idempotency_key) DO NOTHING;
  IF FOUND THEN RETURN NEW; END IF;
  SELECT k.run_id INTO holder FROM idempotency_keys k
  WHERE k.org_id = NEW.org_id AND k.idempotency_key = NEW.idempotency_key AND k.run_id <> NEW.run_id;
  IF holder IS NULL THEN RETURN NEW; END IF;
  -- A trigger isn't told what the statement asks.
  IF strpos(current_query(), 'ON CONFLICT DO NOTHING') > 0 THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'run % has the Idempotency-Key of %', NEW.run_id, holder
    USING ERRCODE = 'unique_violation', CONSTRAINT = 'runs_idempotency';
END $$;
CREATE TRIGGER run_claims_key BEFORE INSERT ON runs FOR EACH ROW
WHEN (NEW.idempotency_key IS NOT NULL AND NEW.key_claimed IS NOT TRUE)
EXECUTE FUNCTION run_claims_key();

-- What a partition needs besides what its table gives it.
CREATE FUNCTION make_partition(parent text, name text, from_id text, to_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%s)%s', name, parent, from_id, coalesce(quote_literal(to_id), 'MAXVALUE'),
    CASE parent WHEN 'runs_recent' THEN ' WITH (fillfactor = 70)' ELSE '' END);
  IF parent = 'ledger' THEN
    EXECUTE format('CREATE UNIQUE INDEX %I ON %I (org_id, seq)', name || '_chain', name);
    -- A statement that names the partition fires the triggers of the partition and not those of the ledger.
    EXECUTE format('CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_immutable()', name);
    EXECUTE format('CREATE TRIGGER ledger_chains AFTER INSERT ON %I REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_chains()', name);
  END IF;
  -- With it, the partition can be moved without a scan.
  IF to_id IS NOT NULL THEN
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT of_month CHECK (run_id >= %L AND run_id < %L)', name, from_id, to_id);
  END IF;
END $$;

-- Makes the tables that begin where the last month ends. If such a table has rows of the month that is to be made, because nobody made it in
-- time, it becomes a partition itself, up to the month of its newest row. Returns whether rows still wait for their month.
-- Statements of runs would wait behind a function that waits for a table, so it waits only briefly. Each month ahead costs the statements of
-- turns some microseconds, so there is one.
CREATE FUNCTION make_months(what text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET lock_timeout = '500ms' SET timezone = 'UTC' AS $$
DECLARE parent text := CASE what WHEN 'runs' THEN 'runs_recent' WHEN 'ledger' THEN 'ledger' END; future text := what || '_future';
  from_id text; starts timestamptz; ends timestamptz; newest text; late boolean; name text;
BEGIN
  IF parent IS NULL THEN RAISE EXCEPTION '% has no months', what; END IF;
  PERFORM pg_advisory_xact_lock(hashtext(current_schema()), hashtext('months'));
  LOOP
    SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM '''(run_[^'']+)''') INTO from_id FROM pg_class c WHERE c.oid = to_regclass(future);
    starts := time_of_run_id(from_id);
    EXIT WHEN starts > date_trunc('month', now()) + interval '1 months';
    ends := date_trunc('month', starts) + interval '1 month';
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, future);
    EXECUTE format('SELECT max(run_id), coalesce(bool_or(run_id < %L), false) FROM %I', run_id_at(ends), future) INTO newest, late;
    name := what || to_char(starts, '_YYYY_MM');
    IF late THEN
      ends := date_trunc('month', time_of_run_id(newest)) + interval '1 month';
      IF ends > now() + interval '6 months' THEN
        RAISE EXCEPTION '% has rows of % and, by a wrong clock, of the time before %', future, starts, ends;
      END IF;
      EXECUTE format('ALTER TABLE %I RENAME TO %I', future, name);
      IF what = 'ledger' THEN EXECUTE format('ALTER INDEX %I RENAME TO %I', future || '_chain', name || '_chain'); END IF;
      EXECUTE format('ALTER TABLE %I ADD CONSTRAINT of_month CHECK (run_id >= %L AND run_id < %L)', name, from_id, run_id_at(ends));
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, from_id, run_id_at(ends));
      PERFORM make_partition(parent, future, run_id_at(ends), NULL);
    ELSE
      PERFORM make_partition(parent, name, from_id, run_id_at(ends));
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', parent, future, run_id_at(ends));
    END IF;
  END LOOP;
  PERFORM close_partitions();
  EXECUTE format('SELECT EXISTS (SELECT FROM %I)', future) INTO late;
  RETURN late;
END $$;

SELECT make_partition('ledger', 'ledger_future', run_id_at(date_trunc('month', now(), 'UTC')), NULL);
SELECT make_months('runs');
SELECT make_months('ledger');

-- Moves the oldest month out of `runs_recent`: one step per call, so that the long ones hold no lock that a turn waits for.
CREATE FUNCTION age_month() RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET lock_timeout = '500ms' SET timezone = 'UTC' AS $$
DECLARE leaf text; bounds text; valid boolean; open boolean; to_id text; from_id text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(current_schema()), hashtext('months'));
  SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), k.convalidated INTO leaf, bounds, valid
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.conname = 'all_final'
  WHERE i.inhparent = 'runs_recent'::regclass ORDER BY split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) LIKE '%MAXVALUE%',
    split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) LIMIT 1;
  to_id := substring(split_part(bounds, ' TO ', 2) FROM 'run_[^'']+');
  from_id := coalesce(quote_literal(substring(split_part(bounds, ' TO ', 1) FROM 'run_[^'']+')), 'MINVALUE');
  IF to_id IS NULL OR time_of_run_id(to_id) > now() - interval '62 days' THEN RETURN NULL; END IF;
  IF valid IS NULL THEN
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE finished_at IS NULL)', leaf) INTO open;
    IF open THEN RETURN NULL; END IF;
    -- From here on the month takes no run that is not final.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT all_final CHECK (finished_at IS NOT NULL) NOT VALID', leaf);
    RETURN leaf || ' checked';
  END IF;
  IF NOT valid THEN
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT all_final', leaf);
    RETURN leaf || ' validated';
  END IF;
  ALTER TABLE runs DETACH PARTITION runs_recent;
  EXECUTE format('ALTER TABLE runs_recent DETACH PARTITION %I', leaf);
  EXECUTE format('ALTER TABLE runs ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', leaf, from_id, to_id);
  EXECUTE format('ALTER TABLE runs ATTACH PARTITION runs_recent FOR VALUES FROM (%L) TO (MAXVALUE)', to_id);
  RETURN leaf || ' moved';
END $$;

-- For each organization and dropped month: the newest dropped entry, with its hash, and the sums of all that were dropped with it. The audit
-- starts there. Only `drop_months` writes it.
CREATE TABLE ledger_checkpoints (
  org_id text NOT NULL,
  -- The newest of the dropped entries, and the wallet after it.
  seq bigint NOT NULL CHECK (seq > 0),
  balance_after bigint NOT NULL,
  reserved_after bigint NOT NULL CHECK (reserved_after >= 0),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  -- Number and sums of the entries that were dropped with it.
  entries bigint NOT NULL CHECK (entries > 0),
  reserve bigint NOT NULL CHECK (reserve <= 0),
  settle bigint NOT NULL CHECK (settle <= 0),
  release bigint NOT NULL CHECK (release >= 0),
  -- What a referrer's share was computed from.
  net_revenue bigint NOT NULL CHECK (net_revenue >= 0),
  PRIMARY KEY (org_id, seq),
  CONSTRAINT no_hold_was_open CHECK (reserve + release = settle)
);
CREATE TRIGGER ledger_checkpoints_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_checkpoints FOR EACH STATEMENT
EXECUTE FUNCTION ledger_is_immutable();

-- One row for each dropped month: what the audit needs of its runs. Only `drop_months` writes it.
CREATE TABLE dropped_months (
  -- Runs from this id on, and before the other one.
  from_id text PRIMARY KEY,
  to_id text NOT NULL CHECK (to_id > from_id),
  runs bigint NOT NULL CHECK (runs >= 0),
  entries bigint NOT NULL CHECK (entries >= 0),
  provider_cost bigint NOT NULL CHECK (provider_cost >= 0),
  -- Charged runs whose provider cost is unknown.
  cost_unknown bigint NOT NULL CHECK (cost_unknown >= 0),
  -- The last UTC day with a settlement of its runs. The usage of that day and of earlier ones is more than what the ledger still has.
  settled_until date,
  dropped_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER dropped_months_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON dropped_months FOR EACH STATEMENT
EXECUTE FUNCTION ledger_is_immutable();

-- One step towards dropping the oldest month that ended before a time: a day of Idempotency-Keys, or the month itself. Returns what was done, or
-- why the month waits. Null: no month is that old. Credits name no run, so they are in no month and stay.
-- It is the only way, and belongs to the owner: nobody else may call it before the owner grants it.
-- It reads whole months. The plans of the service are meant for single rows.
CREATE FUNCTION drop_months(before timestamptz) RETURNS TABLE (done text, waits text) LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET lock_timeout = '500ms' SET timezone = 'UTC' SET plan_cache_mode = force_custom_plan SET enable_seqscan = on
SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on AS $$
DECLARE first_id text; end_id text; month text; key_from text; key_to text; leaf record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(current_schema()), hashtext('months'));
  DROP TABLE IF EXISTS pg_temp.month_leaves;
  CREATE TEMP TABLE month_leaves ON COMMIT DROP AS
    SELECT i.inhparent::regclass::text AS parent, c.relname::text AS name,
           substring(split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 1) FROM 'run_[^'']+') AS from_id,
           substring(split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) FROM 'run_[^'']+') AS to_id
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('runs'::regclass, 'ledger'::regclass) AND c.relkind = 'r';
  -- Months of runs and of the ledger may differ: one was made late, with the rows of two. Both tables are cut at the same place.
  SELECT min(r.from_id), min(r.to_id) FILTER (WHERE time_of_run_id(r.to_id) <= before
    AND EXISTS (SELECT FROM month_leaves l WHERE l.parent = 'ledger' AND l.to_id = r.to_id))
  INTO first_id, end_id FROM month_leaves r WHERE r.parent = 'runs' AND r.from_id IS NOT NULL AND r.to_id IS NOT NULL;
  IF end_id IS NULL OR NOT EXISTS (SELECT FROM month_leaves l WHERE l.parent = 'ledger' AND l.from_id = first_id) THEN RETURN; END IF;
  month := to_char(time_of_run_id(first_id), 'YYYY-MM');

  waits := CASE
    WHEN EXISTS (SELECT FROM open_runs o WHERE o.run_id >= first_id AND o.run_id < end_id)
      OR EXISTS (SELECT FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id AND r.finished_at IS NULL) THEN 'a run is open'
    WHEN EXISTS (SELECT FROM mailbox m WHERE m.run_id >= first_id AND m.run_id < end_id) THEN 'a command is stored for one of its runs'
    WHEN EXISTS (SELECT FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id AND r.erased_at IS NULL) THEN 'a run is not erased'
    WHEN EXISTS (SELECT FROM unknown_outcomes u WHERE u.finding IS NULL AND u.run_id >= first_id AND u.run_id < end_id) THEN 'an outcome is unknown'
    WHEN EXISTS (SELECT FROM referrals f JOIN ledger l ON l.org_id = f.referred_org AND l.seq > f.accrued_seq
                 WHERE l.run_id >= first_id AND l.run_id < end_id) THEN 'a referral share is not counted'
    WHEN EXISTS (SELECT FROM usage_queue u, unnest(u.run_ids) AS w (run_id) WHERE w.run_id >= first_id AND w.run_id < end_id)
      THEN 'the usage of a run is not counted'
  END;
  IF waits IS NOT NULL THEN waits := month || ': ' || waits; RETURN NEXT; RETURN; END IF;

  SELECT min(k.run_id) INTO key_from FROM idempotency_keys k WHERE k.run_id >= first_id AND k.run_id < end_id;
  IF key_from IS NOT NULL THEN
    key_to := least(end_id, run_id_at(date_trunc('day', time_of_run_id(key_from)) + interval '1 day'));
    DELETE FROM idempotency_keys k WHERE k.run_id >= key_from AND k.run_id < key_to;
    done := 'Idempotency-Keys of ' || to_char(time_of_run_id(key_from), 'YYYY-MM-DD') || ' deleted';
    RETURN NEXT;
    RETURN;
  END IF;

  INSERT INTO ledger_checkpoints (org_id, seq, balance_after, reserved_after, hash, entries, reserve, settle, release, net_revenue)
  SELECT s.org_id, s.seq, l.balance_after, l.reserved_after, l.hash, s.entries, s.reserve, s.settle, s.release, coalesce(n.counted, 0)
  FROM (SELECT e.org_id, max(e.seq) AS seq, count(*) AS entries, coalesce(sum(e.amount) FILTER (WHERE e.type = 'reserve'), 0) AS reserve,
               coalesce(sum(e.amount) FILTER (WHERE e.type = 'settle'), 0) AS settle,
               coalesce(sum(e.amount) FILTER (WHERE e.type = 'release'), 0) AS release
        FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY e.org_id) s
  JOIN ledger l ON l.org_id = s.org_id AND l.seq = s.seq AND l.run_id >= first_id AND l.run_id < end_id
  LEFT JOIN (
    -- As the audit counts a referral's net revenue.
    SELECT f.referred_org, sum(greatest(0, -e.amount - coalesce(r.provider_cost, (-e.amount * 5 + 5) / 6))) AS counted
    FROM referrals f JOIN ledger e ON e.org_id = f.referred_org AND e.type = 'settle' AND e.created_at < f.ends_at
    LEFT JOIN runs r ON r.org_id = e.org_id AND r.run_id = e.run_id AND r.run_id >= first_id AND r.run_id < end_id
    WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY f.referred_org) n ON n.referred_org = s.org_id;
  IF EXISTS (
    SELECT FROM (SELECT r.org_id, sum(r.charged) AS charged FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id GROUP BY r.org_id) r
    FULL JOIN (SELECT e.org_id, -sum(e.amount) FILTER (WHERE e.type = 'settle') AS settled FROM ledger e
               WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY e.org_id) e USING (org_id)
    WHERE coalesce(r.charged, 0) <> coalesce(e.settled, 0)
  ) THEN
    RAISE EXCEPTION 'the charges of the runs of % are not their ledger entries: run rungate audit', month USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO dropped_months (from_id, to_id, runs, entries, provider_cost, cost_unknown, settled_until)
  SELECT first_id, end_id, count(*), (SELECT count(*) FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id),
         coalesce(sum(r.provider_cost), 0), count(*) FILTER (WHERE r.charged > 0 AND r.provider_cost IS NULL),
         (SELECT (max(e.created_at) AT TIME ZONE 'UTC')::date FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id AND e.type = 'settle')
  FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id;

  DELETE FROM label_budget_runs l WHERE l.run_id >= first_id AND l.run_id < end_id;
  DELETE FROM opt_out_refusals x WHERE x.run_id >= first_id AND x.run_id < end_id;
  DELETE FROM approvals a WHERE a.run_id >= first_id AND a.run_id < end_id;
  LOCK TABLE ONLY runs, ONLY ledger IN ACCESS EXCLUSIVE MODE;
  FOR leaf IN SELECT l.parent, l.name FROM month_leaves l WHERE l.from_id >= first_id AND l.to_id <= end_id LOOP
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', leaf.parent, leaf.name);
    EXECUTE format('DROP TABLE %I', leaf.name);
  END LOOP;
  done := month || ' dropped';
  RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION drop_months(timestamptz) FROM PUBLIC;
