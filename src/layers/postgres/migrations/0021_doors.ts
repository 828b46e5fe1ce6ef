/**
 * At most 100 API keys in use per organization, and the addresses from which people have signed in.
 *
 * The lock on the organization's row makes keys that are created at once wait for each other, so each of them counts the others.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const doors = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION api_keys_at_most() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM orgs WHERE org_id = NEW.org_id FOR NO KEY UPDATE;
      IF (SELECT count(*) FROM api_keys WHERE org_id = NEW.org_id AND revoked_at IS NULL) >= 100 THEN
        RAISE EXCEPTION 'organization % has 100 keys in use', NEW.org_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'api_keys_at_most';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER api_keys_at_most BEFORE INSERT ON api_keys FOR EACH ROW
    WHEN (NEW.revoked_at IS NULL) EXECUTE FUNCTION api_keys_at_most()`
  // A digest of person and address: whoever reads the table can't list where somebody has been.
  yield* sql`
    CREATE TABLE sign_in_addresses (
      user_id text NOT NULL REFERENCES users,
      address bytea NOT NULL CHECK (length(address) = 32),
      seen_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (user_id, address)
    )`
})
