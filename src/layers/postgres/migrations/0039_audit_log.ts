/**
 * The audit log: who changed what, when and from where, with the values before and after.
 *
 * Triggers write it, so no change is without its entry, whichever process or release makes it. A transaction says who acts in the setting
 * `rungate.actor`. A wallet's turn applies commands of many people, so each such command carries its own actor.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

const log = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Sorts by time, as the ids of Ids.ts do.
  yield* sql`
    CREATE FUNCTION audit_entry_id() RETURNS text LANGUAGE sql VOLATILE AS $$
      SELECT 'aud_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', digit + 1, 1), '' ORDER BY place)
      FROM (SELECT place, CASE WHEN place <= 10 THEN ((millis >> (5 * (10 - place))) & 31)::int ELSE floor(random() * 32)::int END AS digit
            FROM generate_series(1, 26) AS place, (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS millis) AS now) AS digits $$`
  yield* sql`
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
    )`
  yield* sql`CREATE INDEX audit_log_org ON audit_log (org_id, entry_id)`
  yield* sql`CREATE INDEX audit_log_addresses ON audit_log (created_at) WHERE address IS NOT NULL`
  yield* sql`
    CREATE FUNCTION audit_log_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND NEW.address IS NULL AND OLD.created_at < now() - interval '180 days'
         AND to_jsonb(NEW) - 'address' = to_jsonb(OLD) - 'address' THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'check_violation';
    END $$`
  yield* sql`
    CREATE TRIGGER audit_log_is_immutable BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_is_immutable()`
  yield* sql`
    CREATE TRIGGER audit_log_is_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_immutable()`
  // The service's role may not update the log. It may call this, which runs as the owner.
  yield* sql`
    CREATE FUNCTION audit_log_forget_addresses() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      WITH forgotten AS (
        UPDATE audit_log SET address = NULL WHERE address IS NOT NULL AND created_at < now() - interval '180 days' RETURNING 1)
      SELECT count(*) FROM forgotten $$`
})

/** Functions that write entries. */
const writers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION audit_actor() RETURNS jsonb LANGUAGE sql STABLE AS $$
      SELECT nullif(current_setting('rungate.actor', true), '')::jsonb $$`
  yield* sql`
    CREATE FUNCTION audit_write(who jsonb, org text, what text, thing text, was jsonb, becomes jsonb) RETURNS void LANGUAGE sql AS $$
      INSERT INTO audit_log (org_id, actor, actor_id, actor_name, address, action, object, before, after)
      VALUES (org, coalesce(who ->> 'kind', 'system'), who ->> 'id', who ->> 'name', who ->> 'address', what, thing, was, becomes) $$`
  yield* sql`
    CREATE FUNCTION audit_changed(one jsonb, other jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
      SELECT jsonb_object_agg(key, value) FROM jsonb_each(one) WHERE value IS DISTINCT FROM other -> key $$`
  // Arguments: noun, column of the object, columns that are not shown, whether an unknown actor's changes count.
  yield* sql`
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
    END $$`
})

const tables = Effect.gen(function* () {
  yield* audited({ table: "members", noun: "member", id: "user_id", hidden: [] })
  yield* audited({
    table: "member_invitations",
    noun: "invitation",
    id: "invitation_id",
    hidden: ["invited_by", "token_hash", "send_at", "attempts", "sent_at"],
    on: "INSERT OR UPDATE"
  })
  const hiddenOfKeys = ["key_hash", "last_used_at", "created_by", "version"]
  yield* audited({ table: "api_keys", noun: "key", id: "key_id", hidden: hiddenOfKeys, on: "INSERT" })
  yield* audited({
    table: "api_keys",
    noun: "key",
    id: "key_id",
    hidden: hiddenOfKeys,
    on: "UPDATE",
    // The use of keys is stored every few seconds.
    when: "OLD.last_used_at IS NOT DISTINCT FROM NEW.last_used_at",
    suffix: "_changes"
  })
  // Every run of a key with a budget writes what is counted. Only a person changes the limit.
  const hiddenOfBudgets = ["version", "reserved", "counted_on", "spent_day", "spent_week", "spent_month", "spent_total"]
  const budgets = { table: "key_budgets", noun: "key_budget", id: "key_id", hidden: hiddenOfBudgets }
  yield* audited({ ...budgets, on: "INSERT" })
  yield* audited({
    ...budgets,
    on: "UPDATE",
    when: "(OLD.amount, OLD.period) IS DISTINCT FROM (NEW.amount, NEW.period)",
    suffix: "_changes"
  })
  yield* audited({ table: "senders", noun: "sender", id: "sender_id", hidden: ["token"] })
  yield* audited({
    table: "invitations",
    noun: "sign_up_invitation",
    id: "email",
    hidden: ["token_hash", "used_at"],
    on: "INSERT"
  })
  yield* audited({
    table: "catalog_documents",
    noun: "catalog",
    id: "provider",
    hidden: ["document", "retired", "imported_at"]
  })
  const resources = { table: "owned_resources", noun: "resource", id: "resource_id", hidden: ["run_id"], known: true }
  yield* audited({ ...resources, on: "INSERT", when: "NEW.run_id IS NULL" })
  yield* audited({ ...resources, on: "DELETE", suffix: "_removal" })
  yield* audited({
    table: "unknown_outcomes",
    noun: "outcome",
    id: "run_id",
    hidden: ["found_at"],
    on: "UPDATE",
    when: "OLD.finding IS NULL AND NEW.finding IS NOT NULL",
    known: true
  })
})

/** Passwords and sessions: what happened, without any value. */
const credentials = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A user may be in several organizations. Each of them has the entry, and so has the service if there is none.
  yield* sql`
    CREATE FUNCTION audit_password() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      who jsonb := CASE WHEN audit_actor() ->> 'kind' = 'link' THEN audit_actor() || jsonb_build_object('kind', 'person', 'id', NEW.user_id)
                        ELSE audit_actor() END;
    BEGIN
      PERFORM audit_write(who, m.org_id, 'password.changed', NEW.user_id, NULL, NULL)
      FROM (SELECT 1) AS always LEFT JOIN members m ON m.user_id = NEW.user_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited_password AFTER UPDATE ON users FOR EACH ROW
    WHEN (OLD.password_hash IS DISTINCT FROM NEW.password_hash) EXECUTE FUNCTION audit_password()`
  yield* sql`
    CREATE FUNCTION audit_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM audit_write(
        CASE WHEN audit_actor() ->> 'kind' = 'link' THEN audit_actor() || jsonb_build_object('kind', 'person', 'id', n.user_id) ELSE audit_actor() END,
        n.org_id, 'sessions.ended', n.user_id, NULL, jsonb_build_object('sessions', count(*)))
      FROM new_sessions n JOIN old_sessions o USING (token_hash)
      WHERE o.ended_at IS NULL AND n.ended_at IS NOT NULL GROUP BY n.org_id, n.user_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited_sessions AFTER UPDATE ON sessions REFERENCING OLD TABLE AS old_sessions NEW TABLE AS new_sessions
    FOR EACH STATEMENT EXECUTE FUNCTION audit_sessions()`
})

/** What wallets' turns change. The condition of each trigger is false for an ordinary run, which then costs one comparison. */
const wallets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION audit_usd(micros bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
      SELECT regexp_replace(to_char(micros / 1000000.0, 'FM9999999999990.000000'), '(\\.\\d\\d\\d*?)0+$', '\\1') $$`
  // Runs before the command is deleted. What the command changes is logged after the statement, and finds the actor in this setting.
  yield* sql`
    CREATE FUNCTION audit_command() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.payload -> 'actor' IS NOT NULL THEN
        PERFORM set_config('rungate.actors', (coalesce(nullif(current_setting('rungate.actors', true), ''), '{}')::jsonb
          || jsonb_build_object(OLD.org_id || ' ' || OLD.tag || ' ' || coalesce(OLD.payload ->> 'reference', ''), OLD.payload -> 'actor'))::text, true);
      END IF;
      RETURN OLD;
    END $$`
  yield* sql`
    CREATE TRIGGER audited_command BEFORE DELETE ON mailbox FOR EACH ROW
    WHEN (OLD.tag IN ('SetGuard', 'AutoTopup', 'Credit')) EXECUTE FUNCTION audit_command()`
  yield* sql`
    CREATE FUNCTION audit_command_actor(org text, tag text, reference text) RETURNS jsonb LANGUAGE sql STABLE AS $$
      SELECT nullif(current_setting('rungate.actors', true), '')::jsonb -> (org || ' ' || tag || ' ' || reference) $$`
  yield* sql`
    CREATE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      was jsonb := jsonb_build_object('per_run_limit', audit_usd(OLD.per_run_limit), 'daily_limit', audit_usd(OLD.daily_limit));
      becomes jsonb := jsonb_build_object('per_run_limit', audit_usd(NEW.per_run_limit), 'daily_limit', audit_usd(NEW.daily_limit));
    BEGIN
      PERFORM audit_write(audit_command_actor(NEW.org_id, 'SetGuard', ''), NEW.org_id, 'spend_guard.changed', NEW.org_id,
                          audit_changed(was, becomes), audit_changed(becomes, was));
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited_guard AFTER UPDATE ON wallets FOR EACH ROW
    WHEN ((OLD.per_run_limit, OLD.daily_limit) IS DISTINCT FROM (NEW.per_run_limit, NEW.daily_limit)) EXECUTE FUNCTION audit_guard()`
  yield* sql`
    CREATE FUNCTION audit_auto_topup() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      was jsonb := CASE WHEN TG_OP = 'UPDATE' THEN
        jsonb_build_object('enabled', OLD.enabled, 'threshold', audit_usd(OLD.threshold), 'amount', audit_usd(OLD.amount)) END;
      becomes jsonb := jsonb_build_object('enabled', NEW.enabled, 'threshold', audit_usd(NEW.threshold), 'amount', audit_usd(NEW.amount));
    BEGIN
      IF was IS DISTINCT FROM becomes THEN
        PERFORM audit_write(audit_command_actor(NEW.org_id, 'AutoTopup', ''), NEW.org_id, 'auto_topup.changed', NEW.org_id,
                            audit_changed(was, becomes), coalesce(audit_changed(becomes, was), becomes));
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited AFTER INSERT OR UPDATE ON auto_topups FOR EACH ROW EXECUTE FUNCTION audit_auto_topup()`
  // Only credits by operators. Others are the system's, and the ledger says why.
  yield* sql`
    CREATE FUNCTION audit_credit() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE who jsonb := audit_command_actor(NEW.org_id, 'Credit', NEW.reference);
    BEGIN
      IF who IS NOT NULL THEN
        PERFORM audit_write(who, NEW.org_id, CASE NEW.type WHEN 'bonus' THEN 'wallet.credited' ELSE 'wallet.refunded' END, NEW.txn_id, NULL,
                            jsonb_build_object('amount', audit_usd(NEW.amount), 'note', NEW.note));
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited_credit AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.type IN ('bonus', 'refund')) EXECUTE FUNCTION audit_credit()`
})

export const auditLog = Effect.gen(function* () {
  yield* log
  yield* writers
  yield* tables
  yield* credentials
  yield* wallets
})
