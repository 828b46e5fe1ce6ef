-- Allowances: an amount of the wallet that one API key may spend. The key that gives one is its parent.
--
-- An allowance is a key, a budget in total, and the part of the wallet's reserved amount that the budget has left. The ledger has entries of
-- its own for what moves in and out of that part. They have no run.

-- One row for each allowance. The command that gives one writes it.
CREATE TABLE allowances (
  key_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  budget_id text NOT NULL UNIQUE REFERENCES key_budgets,
  -- The key that gave it. Null if a person did.
  parent_key_id text,
  -- 1 for an allowance that no other allowance gave.
  depth smallint NOT NULL CHECK (depth BETWEEN 1 AND 3),
  idempotency_key text,
  fingerprint text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX allowances_list ON allowances (org_id, key_id);
CREATE INDEX allowances_children ON allowances (parent_key_id) WHERE parent_key_id IS NOT NULL;
CREATE UNIQUE INDEX allowances_once ON allowances (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TRIGGER audited AFTER INSERT ON allowances FOR EACH ROW
EXECUTE FUNCTION audit_row('allowance', 'key_id', 'key_id,org_id,created_at,idempotency_key,fingerprint', 'all');

CREATE FUNCTION key_reads(k api_keys) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN k.allow IS NOT NULL AND coalesce(k.allow ->> 'read', CASE
      WHEN EXISTS (SELECT FROM allowances a WHERE a.key_id = k.key_id) OR EXISTS (SELECT FROM oauth_grants g WHERE g.key_id = k.key_id)
      THEN 'own' END) = 'own'
    THEN ARRAY(SELECT key_line(k.org_id, k.key_id)) END $$;

CREATE FUNCTION allows_raw(allow jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce((allow ->> 'raw')::boolean, allow -> 'capabilities' IS NULL)
$$;

-- The rule of schema/accounts/ChildScope.ts. A key without a scope may do everything but give allowances. A child without `read` is an
-- allowance, so it reads its own runs.
CREATE FUNCTION key_exceeds(child api_keys, parent api_keys) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (coalesce((child.allow ->> 'mint')::boolean, false) AND NOT coalesce((parent.allow ->> 'mint')::boolean, false))
    OR (parent.allow IS NOT NULL AND (
      child.allow IS NULL
      OR (parent.allow -> 'capabilities' IS NOT NULL
          AND NOT coalesce(child.allow -> 'capabilities' <@ (parent.allow -> 'capabilities'), false))
      OR (parent.allow -> 'providers' IS NOT NULL
          AND NOT coalesce(child.allow -> 'providers' <@ (parent.allow -> 'providers'), false))
      OR (coalesce((parent.allow ->> 'read_only')::boolean, false) AND NOT coalesce((child.allow ->> 'read_only')::boolean, false))
      OR (parent.max_cost IS NOT NULL AND (child.max_cost IS NULL OR child.max_cost > parent.max_cost))
      OR (allows_raw(child.allow) AND NOT allows_raw(parent.allow))
      OR (parent.allow -> 'labels' IS NOT NULL AND NOT coalesce(child.allow -> 'labels' @> (parent.allow -> 'labels'), false))
      OR (child.allow ->> 'read' = 'organization' AND key_reads(parent) IS NOT NULL)))
$$;

CREATE FUNCTION allowance_depth() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.depth <> 1 + coalesce((SELECT p.depth FROM allowances p WHERE p.key_id = NEW.parent_key_id), 0) THEN
    RAISE EXCEPTION 'allowance % has another depth than %', NEW.key_id, NEW.depth
      USING ERRCODE = 'check_violation', CONSTRAINT = 'allowance_depth';
  END IF;
  IF EXISTS (SELECT FROM api_keys k, api_keys p WHERE k.key_id = NEW.key_id AND p.key_id = NEW.parent_key_id
               AND (p.org_id <> NEW.org_id OR key_exceeds(k, p) OR coalesce(k.expires_at, 'infinity') > coalesce(p.expires_at, 'infinity'))) THEN
    RAISE EXCEPTION 'allowance % may do more than the key that gives it', NEW.key_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'allowance_scope';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER allowance_depth BEFORE INSERT ON allowances FOR EACH ROW EXECUTE FUNCTION allowance_depth();

-- What ends a key ends the allowances beneath it, whichever process ends it.
CREATE FUNCTION allowances_follow_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A rotated key hands its allowances to the new one.
  IF NEW.replaced_by IS NOT NULL AND OLD.replaced_by IS NULL THEN
    UPDATE allowances SET parent_key_id = NEW.replaced_by WHERE parent_key_id = NEW.key_id;
    RETURN NULL;
  END IF;
  -- One that may do more than its parent may do now ends too.
  UPDATE api_keys k SET expires_at = least(k.expires_at, NEW.expires_at),
         revoked_at = coalesce(k.revoked_at, NEW.revoked_at, CASE WHEN key_exceeds(k, NEW) THEN now() END)
  FROM allowances a
  WHERE a.parent_key_id = NEW.key_id AND k.key_id = a.key_id AND k.revoked_at IS NULL
    AND (NEW.revoked_at IS NOT NULL OR k.expires_at IS DISTINCT FROM least(k.expires_at, NEW.expires_at) OR key_exceeds(k, NEW));
  RETURN NULL;
END $$;
CREATE TRIGGER allowances_follow_key AFTER UPDATE ON api_keys FOR EACH ROW
WHEN ((OLD.revoked_at, OLD.expires_at, OLD.replaced_by, OLD.allow, OLD.max_cost)
        IS DISTINCT FROM (NEW.revoked_at, NEW.expires_at, NEW.replaced_by, NEW.allow, NEW.max_cost))
EXECUTE FUNCTION allowances_follow_key();

-- Fires at the end of the turn's statement, when all of its rows are written.
CREATE FUNCTION allowance_is_held() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF array_position(ARRAY['pending', 'open', 'ended', 'closed'], NEW.allowance)
       < array_position(ARRAY['pending', 'open', 'ended', 'closed'], OLD.allowance) THEN
    RAISE EXCEPTION 'allowance % was % and can''t be % again', NEW.key_id, OLD.allowance, NEW.allowance
      USING ERRCODE = 'check_violation', CONSTRAINT = 'allowance_is_held';
  END IF;
  IF (SELECT w.allowances_held FROM wallets w WHERE w.org_id = NEW.org_id)
       <> (SELECT coalesce(sum(b.held), 0) FROM key_budgets b WHERE b.org_id = NEW.org_id AND b.held > 0) THEN
    RAISE EXCEPTION 'the wallet of % does not hold what its allowances hold', NEW.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'allowance_is_held';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER allowance_is_held AFTER UPDATE ON key_budgets FOR EACH ROW
WHEN ((OLD.held, OLD.allowance) IS DISTINCT FROM (NEW.held, NEW.allowance)) EXECUTE FUNCTION allowance_is_held();
