-- The audit log: who changed what, when and from where, with the values before and after.
--
-- Triggers write it, so no change is without its entry, whichever process makes it. A transaction says who acts in the setting `rungate.actor`.
-- A wallet's turn applies commands of many people, so each such command carries its own actor.

-- Sorts by time, as the ids of Ids.ts do.
CREATE FUNCTION audit_entry_id() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT 'aud_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', digit + 1, 1), '' ORDER BY place)
  FROM (SELECT place, CASE WHEN place <= 10 THEN ((millis >> (5 * (10 - place))) & 31)::int ELSE floor(random() * 32)::int END AS digit
        FROM generate_series(1, 26) AS place, (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS millis) AS now) AS digits $$;

-- One row for each change by a person, a key, an operator or the system. Only `audit_write` inserts, and nobody changes or deletes a row.
CREATE TABLE audit_log (
  entry_id text PRIMARY KEY DEFAULT audit_entry_id(),
  -- Null: it concerns the whole service.
  org_id text,
  actor text NOT NULL CHECK (actor IN ('person', 'key', 'operator', 'system')),
  actor_id text,
  actor_name text,
  -- The client address. Deleted after 180 days.
  address text,
  action text NOT NULL,
  object text NOT NULL,
  before jsonb,
  after jsonb,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_org ON audit_log (org_id, entry_id);
CREATE INDEX audit_log_addresses ON audit_log (created_at) WHERE address IS NOT NULL;

CREATE FUNCTION audit_log_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.address IS NULL AND OLD.created_at < now() - interval '180 days'
     AND to_jsonb(NEW) - 'address' = to_jsonb(OLD) - 'address' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER audit_log_is_immutable BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_is_immutable();
CREATE TRIGGER audit_log_is_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_immutable();

-- The service's role may not update the log. It may call this, which runs as the owner.
CREATE FUNCTION audit_log_forget_addresses() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH forgotten AS (
    UPDATE audit_log SET address = NULL WHERE address IS NOT NULL AND created_at < now() - interval '180 days' RETURNING 1)
  SELECT count(*) FROM forgotten $$;

CREATE FUNCTION audit_actor() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT nullif(current_setting('rungate.actor', true), '')::jsonb $$;

-- The person on whose behalf the transaction changes something (layers/auditlog/AuditLog.ts). Null for a key, an operator or nobody.
CREATE FUNCTION rungate_person() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN actor ->> 'kind' = 'person' THEN actor ->> 'id' END
  FROM (SELECT nullif(current_setting('rungate.actor', true), '')::jsonb AS actor) AS known $$;

CREATE FUNCTION audit_write(who jsonb, org text, what text, thing text, was jsonb, becomes jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit_log (org_id, actor, actor_id, actor_name, address, action, object, before, after)
  VALUES (org, coalesce(who ->> 'kind', 'system'), who ->> 'id', who ->> 'name', who ->> 'address', what, thing, was, becomes) $$;

CREATE FUNCTION audit_changed(one jsonb, other jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(key, value) FROM jsonb_each(one) WHERE value IS DISTINCT FROM other -> key $$;

-- Shows an amount of microdollars as US dollars.
CREATE FUNCTION audit_usd(micros bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(to_char(micros / 1000000.0, 'FM9999999999990.000000'), '(\.\d\d\d*?)0+$', '\1') $$;

-- Puts changes of a table's rows into the log: `CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON <table> … audit_row(…)`.
-- Arguments:
-- 1. what a row is called in an action, such as `sender` in `sender.created`
-- 2. the column whose value is the entry's `object`
-- 3. columns that the log must not show, such as secrets, and columns whose changes do not matter
-- 4. `all`, or `known`: only changes by somebody who is known. Other changes are the system's.
CREATE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  hidden text[] := string_to_array(TG_ARGV[2], ',');
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  any_row jsonb := coalesce(new_row, old_row);
  was jsonb := old_row - hidden;
  becomes jsonb := new_row - hidden;
  verb text := CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'removed' ELSE 'changed' END;
BEGIN
  IF TG_ARGV[3] = 'known' AND audit_actor() IS NULL THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' THEN
    was := audit_changed(old_row - hidden, new_row);
    becomes := audit_changed(new_row - hidden, old_row);
    IF becomes IS NULL THEN RETURN NULL; END IF;
    verb := CASE WHEN becomes ->> 'revoked_at' IS NOT NULL THEN 'revoked' WHEN becomes ->> 'verified_at' IS NOT NULL THEN 'verified'
                 WHEN becomes ->> 'accepted_at' IS NOT NULL THEN 'accepted' WHEN becomes ->> 'withdrawn_at' IS NOT NULL THEN 'withdrawn'
                 ELSE verb END;
  END IF;
  PERFORM audit_write(audit_actor(), any_row ->> 'org_id', TG_ARGV[0] || '.' || verb, any_row ->> TG_ARGV[1], was, becomes);
  RETURN NULL;
END $$;

-- What the commands of a wallet's turn change. Runs before a command is deleted. What the command changes is logged after the statement, and
-- finds the actor in this setting.
CREATE FUNCTION audit_command() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.payload -> 'actor' IS NOT NULL THEN
    PERFORM set_config('rungate.actors', (coalesce(nullif(current_setting('rungate.actors', true), ''), '{}')::jsonb
      || jsonb_build_object(OLD.org_id || ' ' || OLD.tag || ' ' || coalesce(OLD.payload ->> 'reference', ''), OLD.payload -> 'actor'))::text, true);
  END IF;
  RETURN OLD;
END $$;

CREATE FUNCTION audit_command_actor(org text, tag text, reference text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT nullif(current_setting('rungate.actors', true), '')::jsonb -> (org || ' ' || tag || ' ' || reference) $$;
