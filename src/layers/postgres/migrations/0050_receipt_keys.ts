/**
 * Keys that sign receipts and ledger heads. Public keys are kept for ever, so old receipts can be verified. Only the newest private key is kept.
 *
 * `receipt_secrets` is readable by the owner only. The service gets the key from a function, so a copy of the tables that its role can read,
 * and a role that only reads, have no private key.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"
import { ownerFunction } from "./ownerFunction.ts"

/** Functions that only the service may call. */
export const receiptFunctions = [
  "receipt_secret(text)",
  "keep_receipt_key(text, json, text, text)",
  "seal_receipt_secret(text, text)"
]

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE receipt_keys (
      -- The thumbprint of the public key (RFC 7638).
      key_id text PRIMARY KEY CHECK (length(key_id) = 43),
      -- A JWK.
      public_key json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- Null for the key that signs.
      retired_at timestamptz
    )`
  yield* sql`CREATE UNIQUE INDEX receipt_keys_signing ON receipt_keys ((true)) WHERE retired_at IS NULL`
  yield* sql`
    CREATE TABLE receipt_secrets (
      key_id text PRIMARY KEY REFERENCES receipt_keys,
      -- Encrypted if RUNGATE_ENCRYPTION_KEY is set.
      secret text NOT NULL
    )`
  // A key can be retired, and never changed: receipts that it has signed must stay valid.
  yield* sql`
    CREATE FUNCTION receipt_key_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND OLD.retired_at IS NULL AND NEW.retired_at IS NOT NULL AND NEW.key_id = OLD.key_id
         AND NEW.public_key::text = OLD.public_key::text THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'a key of receipts is kept for ever: % refused', TG_OP USING ERRCODE = 'restrict_violation';
    END $$`
  yield* sql`
    CREATE TRIGGER receipt_key_stays BEFORE UPDATE OR DELETE ON receipt_keys FOR EACH ROW EXECUTE FUNCTION receipt_key_stays()`
  yield* audited({ table: "receipt_keys", noun: "receipt_key", id: "key_id", hidden: ["public_key"], known: true })
})

const functions = Effect.gen(function* () {
  yield* ownerFunction(
    "receipt_secret(wanted text) RETURNS text",
    "BEGIN RETURN (SELECT s.secret FROM receipt_secrets s WHERE s.key_id = wanted); END"
  )
  // Replaces the key that signs, if that is still the one which the caller knows. False: another process was faster.
  yield* ownerFunction(
    "keep_receipt_key(new_id text, new_key json, new_secret text, replaced text) RETURNS boolean",
    `
    BEGIN
      UPDATE receipt_keys SET retired_at = now() WHERE key_id = replaced AND retired_at IS NULL;
      IF replaced IS NOT NULL AND NOT FOUND THEN RETURN false; END IF;
      INSERT INTO receipt_keys (key_id, public_key) VALUES (new_id, new_key) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RETURN false; END IF;
      DELETE FROM receipt_secrets;
      INSERT INTO receipt_secrets (key_id, secret) VALUES (new_id, new_secret);
      RETURN true;
    END`
  )
  yield* ownerFunction(
    "seal_receipt_secret(wanted text, sealed text) RETURNS void",
    "BEGIN UPDATE receipt_secrets SET secret = sealed WHERE key_id = wanted; END"
  )
})

/** Default privileges may have opened the table. Roles that may write wallets are those of services. */
const privileges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const one of receiptFunctions) yield* sql`REVOKE EXECUTE ON FUNCTION ${sql.literal(one)} FROM PUBLIC`
  yield* sql.unsafe(`
    DO $$
    DECLARE given record; made text;
    BEGIN
      FOR given IN SELECT DISTINCT a.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) a
                   WHERE c.oid = 'receipt_secrets'::regclass AND a.grantee NOT IN (0, c.relowner) LOOP
        EXECUTE format('REVOKE ALL ON receipt_secrets FROM %s', given.role);
      END LOOP;
      REVOKE ALL ON receipt_secrets FROM PUBLIC;
      FOR given IN SELECT DISTINCT a.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) a
                   WHERE c.oid = 'wallets'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'UPDATE' LOOP
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON receipt_keys FROM %s', given.role);
        FOREACH made IN ARRAY ARRAY[${receiptFunctions.map((one) => `'${one}'`).join(", ")}] LOOP
          EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', made, given.role);
        END LOOP;
      END LOOP;
    END $$`)
})

export const receiptKeys = Effect.gen(function* () {
  yield* tables
  yield* functions
  yield* privileges
})
