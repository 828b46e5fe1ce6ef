/**
 * What a person's keys may do follows the person's role, whichever process changes a key or the role.
 *
 * A key that an acting member creates or changes has a scope (`scopeFor` in schema/accounts/KeyAccess.ts is the same rule). When a person
 * is demoted or removed, their keys and connections lose what the person may no longer do. Owners and admins may widen a member's key.
 * Workers and operators act without a person.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const keysFollowRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION key_is_unrestricted(allow jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
      SELECT allow IS NULL OR jsonb_typeof(allow) <> 'object' OR jsonb_strip_nulls(allow) = '{}' $$`
  // The lock makes a change of the role wait for the commit, so that it then finds the key.
  yield* sql`
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
    END $$`
  // Its name sorts before api_keys_at_most, which locks the organization: a change of a role locks the member before the organization.
  yield* sql`
    CREATE TRIGGER acting_member_has_scope BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION acting_member_has_scope()`
  yield* followers
})

/** `becomes` is the new role. Null for somebody who is removed: the keys that the organization keeps have the scope of a member's. */
const followers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
    END $$`
  yield* sql`
    CREATE FUNCTION member_keys_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM keys_follow_role(OLD.org_id, OLD.user_id, CASE WHEN TG_OP = 'UPDATE' THEN NEW.role END);
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER member_keys_follow_role AFTER UPDATE ON members FOR EACH ROW
    WHEN (OLD.role <> NEW.role) EXECUTE FUNCTION member_keys_follow()`
  yield* sql`
    CREATE TRIGGER member_keys_follow_removal AFTER DELETE ON members FOR EACH ROW EXECUTE FUNCTION member_keys_follow()`
})
