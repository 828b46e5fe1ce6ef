-- API keys: expiry, scope and budget.

-- One row for each amount that a key, an allowance or a batch may spend. Wallets' turns count runs in it, and people set the amount.
-- It is a row of its own, because a key and the key that replaces it share one. The triggers repeat the rules of schema/wallet/KeyBudget.ts
-- and schema/wallet/Allowance.ts: no process can reserve more than a budget allows, whatever it computed.
CREATE TABLE key_budgets (
  budget_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  -- The newest of the keys that spend from it.
  key_id text NOT NULL,
  -- Counts the writes. A turn writes only over the version that it read.
  version bigint NOT NULL DEFAULT 0,
  amount bigint NOT NULL CHECK (amount >= 0),
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  -- What open runs hold.
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  -- The UTC day of the newest hold or charge. The sums below count the day, week and month that it lies in.
  counted_on date NOT NULL DEFAULT '1970-01-01',
  spent_day bigint NOT NULL DEFAULT 0 CHECK (spent_day >= 0),
  spent_week bigint NOT NULL DEFAULT 0 CHECK (spent_week >= spent_day),
  spent_month bigint NOT NULL DEFAULT 0 CHECK (spent_month >= spent_day),
  spent_total bigint NOT NULL DEFAULT 0 CHECK (spent_total >= greatest(spent_week, spent_month)),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The budget of the batch's API key.
  parent_id text,
  -- The version in which the parent was written in the same statement.
  parent_written bigint NOT NULL DEFAULT -1,
  -- The state of an allowance. Null for other budgets.
  allowance text,
  -- What the wallet holds for it.
  held bigint NOT NULL DEFAULT 0,
  -- The budget of the key that gave it, which counts the whole amount as one hold until the allowance is closed.
  held_in text,
  -- The value of a label whose runs it counts. Null for other budgets. Its limit is in `label_budgets`, and amount and period have none. The
  -- turn that admits the first run of the value inserts it. An erasure of one of its runs writes 'erased' in place of the value.
  label text,
  value text,
  -- The changes of the zone whose days it counts (`value_zones`). Null: the wallet's.
  time_zones jsonb,
  CONSTRAINT key_budget_label CHECK ((label IS NULL) = (value IS NULL) AND (label IS NOT NULL) = (left(budget_id, 4) = 'val_')),
  CONSTRAINT key_budget_allowance CHECK (allowance IN ('pending', 'open', 'ended', 'closed')),
  CONSTRAINT key_budget_held CHECK (held >= 0 AND held <= amount AND (held = 0 OR allowance IN ('open', 'ended')))
) WITH (fillfactor = 50);
CREATE INDEX key_budgets_values ON key_budgets (org_id, budget_id) WHERE label IS NOT NULL;
CREATE INDEX key_budgets_held ON key_budgets (org_id) WHERE held > 0;
CREATE INDEX key_budgets_unclosed ON key_budgets (budget_id) WHERE allowance IN ('pending', 'open', 'ended');

-- The audit log shows budgets that people set. Every run of a key with a budget writes what is counted. The budget of a batch is made with it,
-- and the batch is listed itself.
CREATE TRIGGER audited AFTER INSERT ON key_budgets FOR EACH ROW
WHEN (left(NEW.budget_id, 4) NOT IN ('bat_', 'val_'))
EXECUTE FUNCTION audit_row('key_budget', 'key_id', 'key_id,org_id,created_at,version,reserved,counted_on,spent_day,spent_week,spent_month,spent_total,parent_id,parent_written', 'all');
CREATE TRIGGER audited_changes AFTER UPDATE ON key_budgets FOR EACH ROW
WHEN (left(NEW.budget_id, 4) NOT IN ('bat_', 'val_') AND (OLD.amount, OLD.period) IS DISTINCT FROM (NEW.amount, NEW.period))
EXECUTE FUNCTION audit_row('key_budget', 'key_id', 'key_id,org_id,created_at,version,reserved,counted_on,spent_day,spent_week,spent_month,spent_total,parent_id,parent_written', 'all');

-- What a budget counts in the period in which a day lies.
CREATE FUNCTION key_budget_counted(b key_budgets, in_period text, on_day date) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT b.reserved + CASE
    WHEN in_period = 'total' THEN b.spent_total
    WHEN date_trunc(in_period, on_day::timestamp) > date_trunc(in_period, b.counted_on::timestamp) THEN 0
    WHEN in_period = 'day' THEN b.spent_day
    WHEN in_period = 'week' THEN b.spent_week
    ELSE b.spent_month END
$$;

CREATE FUNCTION key_budget_holds() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most bigint := NEW.amount;
  in_period text := NEW.period;
  counted bigint;
BEGIN
  IF NEW.label IS NOT NULL THEN
    SELECT least(most, l.amount), coalesce(l.period, in_period) INTO most, in_period FROM label_budget_of(NEW.org_id, NEW.label, NEW.budget_id) l;
  END IF;
  counted := key_budget_counted(NEW, in_period, NEW.counted_on);
  IF NEW.counted_on < OLD.counted_on OR NEW.spent_total < OLD.spent_total THEN
    RAISE EXCEPTION 'budget % does not forget charges', OLD.budget_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'key_budget_holds';
  END IF;
  -- A change is added, or the last one gets another zone on its day.
  IF OLD.time_zones <> NEW.time_zones AND OLD.time_zones <> NEW.time_zones - (-1)
     AND (OLD.time_zones - (-1) <> NEW.time_zones - (-1) OR (OLD.time_zones -> -1) - 'zone' <> (NEW.time_zones -> -1) - 'zone'
          OR (now() AT TIME ZONE (OLD.time_zones -> -1 ->> 'before'))::date > (OLD.time_zones -> -1 ->> 'on')::date) THEN
    RAISE EXCEPTION 'budget % keeps the time zones that it has counted in', OLD.budget_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'key_budget_zones';
  END IF;
  -- A limit that was lowered below what is counted stays exceeded until the period ends, but nothing is added.
  IF counted > most AND counted > coalesce(key_budget_counted(OLD, in_period, NEW.counted_on), 0) THEN
    RAISE EXCEPTION 'budget % allows %, and % would be counted', NEW.budget_id, most, counted
      USING ERRCODE = 'check_violation', CONSTRAINT = 'key_budget_holds';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER key_budget_holds BEFORE UPDATE ON key_budgets FOR EACH ROW EXECUTE FUNCTION key_budget_holds();
CREATE TRIGGER value_budget_holds BEFORE INSERT ON key_budgets FOR EACH ROW WHEN (NEW.label IS NOT NULL)
EXECUTE FUNCTION key_budget_holds();

-- Counts a run of a batch in the budget of the batch's key, unless the same statement has done it.
CREATE FUNCTION key_budget_in_parent() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE charge bigint := NEW.spent_total - OLD.spent_total;
BEGIN
  UPDATE key_budgets p SET
    version = p.version + 1,
    reserved = p.reserved + NEW.reserved - OLD.reserved,
    counted_on = greatest(p.counted_on, NEW.counted_on),
    spent_day = charge + CASE WHEN NEW.counted_on > p.counted_on THEN 0 ELSE p.spent_day END,
    spent_week = charge + CASE WHEN date_trunc('week', NEW.counted_on::timestamp) > date_trunc('week', p.counted_on::timestamp)
                               THEN 0 ELSE p.spent_week END,
    spent_month = charge + CASE WHEN date_trunc('month', NEW.counted_on::timestamp) > date_trunc('month', p.counted_on::timestamp)
                                THEN 0 ELSE p.spent_month END,
    spent_total = p.spent_total + charge
  WHERE p.budget_id = NEW.parent_id;
  RETURN NULL;
END $$;
CREATE TRIGGER key_budget_in_parent AFTER UPDATE ON key_budgets FOR EACH ROW
WHEN (NEW.parent_id IS NOT NULL AND NEW.parent_written <> NEW.version
      AND (OLD.reserved, OLD.spent_total) IS DISTINCT FROM (NEW.reserved, NEW.spent_total))
EXECUTE FUNCTION key_budget_in_parent();

-- One row for each API key. People, operators, allowances and connected agents write it; revoked keys stay.
CREATE TABLE api_keys (
  key_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  environment text NOT NULL CHECK (environment IN ('test', 'live')),
  key_hash bytea NOT NULL CHECK (length(key_hash) = 32),
  display text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- Counts the changes below. A run is admitted only with the version that its request was checked against.
  version bigint NOT NULL DEFAULT 0,
  expires_at timestamptz,
  -- Null: everything is allowed.
  allow jsonb,
  -- A copy of allow.max_cost, in microdollars.
  max_cost bigint,
  budget_id text,
  -- The key that a rotation made in its place.
  replaced_by text,
  -- The person who created the key. Null for keys of operators.
  created_by text DEFAULT rungate_person(),
  CONSTRAINT api_keys_max_cost CHECK (max_cost >= 0),
  CONSTRAINT api_keys_budget FOREIGN KEY (budget_id) REFERENCES key_budgets
);
CREATE INDEX api_keys_org ON api_keys (org_id, key_id);
CREATE UNIQUE INDEX api_keys_live ON api_keys (key_hash) WHERE revoked_at IS NULL;
-- Each request of a key that reads its own runs asks which keys it has replaced.
CREATE INDEX api_keys_replaced ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE TRIGGER name_is_printable BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION name_is_printable();

-- The use of keys is stored every few seconds, and is not logged.
CREATE TRIGGER audited AFTER INSERT ON api_keys FOR EACH ROW
EXECUTE FUNCTION audit_row('key', 'key_id', 'key_id,org_id,created_at,key_hash,last_used_at,created_by,version', 'all');
CREATE TRIGGER audited_changes AFTER UPDATE ON api_keys FOR EACH ROW
WHEN (OLD.last_used_at IS NOT DISTINCT FROM NEW.last_used_at)
EXECUTE FUNCTION audit_row('key', 'key_id', 'key_id,org_id,created_at,key_hash,last_used_at,created_by,version', 'all');

-- Revocation is permanent: nothing moves a key back.
CREATE FUNCTION api_key_stays_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a revoked key stays revoked: %', OLD.key_id USING ERRCODE = 'check_violation'; END $$;
CREATE TRIGGER api_key_stays_revoked BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
EXECUTE FUNCTION api_key_stays_revoked();

CREATE FUNCTION api_key_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$;
CREATE TRIGGER api_key_version BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN ((OLD.expires_at, OLD.allow, OLD.max_cost, OLD.budget_id) IS DISTINCT FROM (NEW.expires_at, NEW.allow, NEW.max_cost, NEW.budget_id))
EXECUTE FUNCTION api_key_version();

-- At most 100 API keys in use per organization.
-- The lock on the organization's row makes keys that are created at once wait for each other, so each of them counts the others.
CREATE FUNCTION api_keys_at_most() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM orgs WHERE org_id = NEW.org_id FOR NO KEY UPDATE;
  IF (SELECT count(*) FROM api_keys WHERE org_id = NEW.org_id AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now())) >= 100 THEN
    RAISE EXCEPTION 'organization % has 100 keys in use', NEW.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'api_keys_at_most';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER api_keys_at_most BEFORE INSERT ON api_keys FOR EACH ROW
WHEN (NEW.revoked_at IS NULL) EXECUTE FUNCTION api_keys_at_most();

-- A key, and the keys that it replaced.
CREATE FUNCTION key_line(org text, key text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  WITH RECURSIVE line AS (
    SELECT key AS key_id
    UNION SELECT k.key_id FROM line JOIN api_keys k ON k.org_id = org AND k.replaced_by = line.key_id)
  SELECT key_id FROM line $$;

-- Nobody renews the secret of another person's key.
CREATE FUNCTION secret_stays_with_creator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF rungate_person() <> NEW.created_by THEN
    RAISE EXCEPTION 'the secret of key % belongs to another person', NEW.key_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'secret_stays_with_creator';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER secret_stays_with_creator BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN (OLD.key_hash <> NEW.key_hash) EXECUTE FUNCTION secret_stays_with_creator();

-- A key that an acting member creates or changes has a scope (`scopeFor` in schema/accounts/KeyAccess.ts is the same rule). Owners and admins
-- may widen a member's key. Workers and operators act without a person.
CREATE FUNCTION key_is_unrestricted(allow jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT allow IS NULL OR jsonb_typeof(allow) <> 'object' OR jsonb_strip_nulls(allow) = '{}' $$;

-- The lock makes a change of the role wait for the commit, so that it then finds the key.
CREATE FUNCTION acting_member_has_scope() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  acting text := rungate_person();
  has text;
BEGIN
  IF acting IS NULL OR NEW.revoked_at IS NOT NULL OR (TG_OP = 'UPDATE' AND NOT key_is_unrestricted(NEW.allow)) THEN RETURN NEW; END IF;
  SELECT m.role INTO has FROM members m WHERE m.org_id = NEW.org_id AND m.user_id = acting FOR SHARE;
  IF coalesce(has, 'viewer') = 'viewer' THEN
    RAISE EXCEPTION '% may not create or change keys of %', acting, NEW.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'acting_member_has_scope';
  END IF;
  IF has = 'member' AND key_is_unrestricted(NEW.allow) THEN
    RAISE EXCEPTION '% is a member of %, whose keys may not be without a scope', acting, NEW.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'acting_member_has_scope';
  END IF;
  RETURN NEW;
END $$;
-- Its name sorts before api_keys_at_most, which locks the organization: a change of a role locks the member before the organization.
CREATE TRIGGER acting_member_has_scope BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION acting_member_has_scope();

-- What a person's keys may do follows the person's role, whichever process changes the role. When a person is demoted or removed, their keys
-- and connections lose what the person may no longer do.
-- `becomes` is the new role. Null for somebody who is removed: the keys that the organization keeps have the scope of a member's.
CREATE FUNCTION keys_follow_role(org text, person text, becomes text)
RETURNS TABLE (key_id text, name text, connected boolean, change text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF becomes IN ('owner', 'admin') THEN RETURN; END IF;
  IF becomes IS DISTINCT FROM 'member' THEN
    UPDATE oauth_grants SET ended_at = now() WHERE org_id = org AND user_id = person AND ended_at IS NULL;
    DELETE FROM oauth_codes WHERE org_id = org AND user_id = person;
  END IF;
  RETURN QUERY
    WITH held AS (
      SELECT k.key_id, g.key_id IS NOT NULL AS connected,
             coalesce(becomes = 'viewer', g.key_id IS NOT NULL) AS ends
      FROM api_keys k LEFT JOIN oauth_grants g USING (key_id)
      WHERE k.org_id = org AND k.created_by = person AND k.revoked_at IS NULL)
    UPDATE api_keys k SET
      revoked_at = CASE WHEN held.ends THEN now() END,
      allow = CASE WHEN held.ends THEN k.allow ELSE '{"raw": true}' END,
      max_cost = CASE WHEN held.ends THEN k.max_cost END
    FROM held WHERE k.key_id = held.key_id AND (held.ends OR key_is_unrestricted(k.allow))
    RETURNING k.key_id, k.name, held.connected, CASE WHEN held.ends THEN 'revoked' ELSE 'narrowed' END;
END $$;

CREATE FUNCTION member_keys_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM keys_follow_role(OLD.org_id, OLD.user_id, CASE WHEN TG_OP = 'UPDATE' THEN NEW.role END);
  RETURN NULL;
END $$;
CREATE TRIGGER member_keys_follow_role AFTER UPDATE ON members FOR EACH ROW
WHEN (OLD.role <> NEW.role) EXECUTE FUNCTION member_keys_follow();
CREATE TRIGGER member_keys_follow_removal AFTER DELETE ON members FOR EACH ROW EXECUTE FUNCTION member_keys_follow();

-- Which part of a key's budget was told last, so that each crossing is told once per period. Turns write it.
-- A table of its own, because it changes three times in a period and `key_budgets` with every run.
CREATE TABLE key_budget_alerts (
  budget_id text PRIMARY KEY REFERENCES key_budgets,
  -- In percent.
  reached smallint NOT NULL CHECK (reached IN (50, 80, 100)),
  -- The limit that it is about, in microdollars.
  amount bigint NOT NULL CHECK (amount > 0),
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  -- The first day of the period that it is about.
  starts_on date,
  CONSTRAINT key_budget_alert_period CHECK ((starts_on IS NULL) = (period = 'total'))
);

-- Budgets of labels: what the runs with a label may charge and hold. People write them.

-- One row for each budget: of one value, or of each value by itself (value is null). The budget of a value counts instead of that of each value.
CREATE TABLE label_budgets (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9_.-]{1,64}$'),
  value text CHECK (length(value) <= 500),
  -- The id of the value's row in `key_budgets`, a digest.
  budget_id text CHECK (left(budget_id, 4) = 'val_'),
  amount bigint NOT NULL CHECK (amount >= 0),
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The changes of its own time zone, oldest first. Null: the wallet's counts.
  time_zones jsonb,
  CONSTRAINT label_budgets_value CHECK ((budget_id IS NULL) = (value IS NULL)),
  CONSTRAINT label_budgets_once UNIQUE NULLS NOT DISTINCT (org_id, label, budget_id)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON label_budgets FOR EACH ROW
EXECUTE FUNCTION audit_row('label_budget', 'id', 'id,org_id,created_at,budget_id', 'all');

-- The budget that counts for a value of a label, by the id of its row in `key_budgets`.
CREATE FUNCTION label_budget_of(org text, of_label text, of_value text) RETURNS label_budgets LANGUAGE sql STABLE AS $$
  SELECT b FROM label_budgets b WHERE b.org_id = org AND b.label = of_label AND (b.budget_id = of_value OR b.budget_id IS NULL)
  ORDER BY b.budget_id NULLS LAST LIMIT 1
$$;

-- A wallet names the labels that have a budget, so that a turn without such labels reads nothing more. The rows of values have no limit of their
-- own: who reads or writes one takes that of `label_budgets`. So a change costs the same for any number of values, and what was counted stays. The
-- wallet's new version makes a turn that has read it roll back.
CREATE FUNCTION label_budget_applies() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE org text := coalesce(NEW.org_id, OLD.org_id);
BEGIN
  UPDATE wallets w SET version = w.version + 1, budget_labels = (SELECT array_agg(DISTINCT b.label) FROM label_budgets b WHERE b.org_id = org)
  WHERE w.org_id = org;
  RETURN NULL;
END $$;
CREATE TRIGGER label_budget_applies AFTER INSERT OR UPDATE OR DELETE ON label_budgets FOR EACH ROW EXECUTE FUNCTION label_budget_applies();

-- One row for each run and value whose budget it counts in. The turn that admits the run writes it.
CREATE TABLE label_budget_runs (
  budget_id text NOT NULL REFERENCES key_budgets,
  run_id text NOT NULL,
  org_id text NOT NULL,
  PRIMARY KEY (budget_id, run_id)
);
