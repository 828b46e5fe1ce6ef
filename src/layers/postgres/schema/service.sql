-- The service itself: its mode, its identity, its lanes and workers, and its schema.

-- One row: the mode of this database, sandbox or production. The first service that starts on the database writes it, and it never changes.
CREATE TABLE service_mode (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  mode text NOT NULL CHECK (mode IN ('sandbox', 'production')),
  set_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION service_mode_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the mode of a database never changes: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER service_mode_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON service_mode FOR EACH STATEMENT
EXECUTE FUNCTION service_mode_stays();

-- In production, triggers refuse simulated money, whichever process writes it.
CREATE FUNCTION money_is_real() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM service_mode WHERE mode = 'production') THEN
    RAISE EXCEPTION 'a production database accepts no simulated money (%)', TG_TABLE_NAME USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

-- One row: what tells this installation from others that share a Redis with it, and the key that signs challenges of passkeys. The schema makes it.
CREATE TABLE installation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  challenge_key bytea NOT NULL DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO installation DEFAULT VALUES;

-- One row: the number of lanes, and how wallets move to new lanes when it grows. A starting service writes it.
-- The number never shrinks: a process that has not read it yet may still store commands for the highest lane.
CREATE TABLE lane_count (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  lanes smallint NOT NULL CHECK (lanes BETWEEN 1 AND 32),
  -- All wallets are distributed over this many lanes. Smaller than lanes while wallets move.
  spread smallint NOT NULL CHECK (spread BETWEEN 1 AND lanes),
  -- While wallets move: the wallets up to this organization have moved.
  spread_after text NOT NULL DEFAULT ''
);

CREATE FUNCTION lane_count_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the number of lanes never shrinks: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER lane_count_grows BEFORE UPDATE ON lane_count FOR EACH ROW WHEN (NEW.lanes < OLD.lanes)
EXECUTE FUNCTION lane_count_grows();
CREATE TRIGGER lane_count_stays BEFORE DELETE OR TRUNCATE ON lane_count FOR EACH STATEMENT EXECUTE FUNCTION lane_count_grows();

-- Moves a page of wallets with their stored commands. False: another process has moved this page, or the number has grown since.
-- The lock waits for the statements that are storing or deciding commands, and lets no other begin. So no command of a moved
-- wallet is left or arrives in its old lane. The new version undoes every turn that has read the wallet before. All of it is one
-- statement, so a process that freezes meanwhile keeps no lock. Whoever waits for the lock blocks others, so the wait is short.
CREATE FUNCTION rungate_move_wallets(orgs text[], new_lanes bigint[], page_after text, page_end text, over bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF cardinality(orgs) > 0 THEN
    PERFORM set_config('lock_timeout', '100ms', true);
    LOCK TABLE mailbox IN SHARE ROW EXCLUSIVE MODE;
  END IF;
  UPDATE lane_count c SET spread_after = page_end, spread = CASE WHEN page_end = '' THEN c.lanes ELSE c.spread END
  WHERE c.lanes = over AND c.spread < over AND c.spread_after = page_after;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE wallets w SET lane = n.lane, version = w.version + 1 FROM unnest(orgs, new_lanes) AS n(org_id, lane)
  WHERE w.org_id = n.org_id AND w.lane <> n.lane;
  UPDATE mailbox m SET lane = n.lane FROM unnest(orgs, new_lanes) AS n(org_id, lane)
  WHERE m.org_id = n.org_id AND m.lane <> n.lane;
  RETURN true;
END $$;

-- One row for each process that executes runs. Workers write their own and renew it. One whose row expires has died.
CREATE TABLE workers (
  worker_id text PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- Whether this worker's calls carry the run id, where the provider has a place for it.
  sends_run_id boolean NOT NULL DEFAULT false
);

-- One row: which releases may use this schema. Migrations write it.
CREATE TABLE schema_compatibility (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- Processes that know only older schemas refuse to start.
  compatible_from int NOT NULL CHECK (compatible_from > 0)
);
INSERT INTO schema_compatibility (compatible_from) VALUES (1);

-- How far each background migration is. Workers write it.
CREATE TABLE background_migrations (
  name text PRIMARY KEY,
  -- Where the next batch continues. Empty: at the start.
  cursor text NOT NULL DEFAULT '',
  done bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
  -- An estimate.
  total bigint NOT NULL CHECK (total >= 0),
  started_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
