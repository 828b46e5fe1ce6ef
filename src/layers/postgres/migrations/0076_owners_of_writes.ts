/**
 * What one caller must not do with what another one made: renew the secret of a person's key, or go on with another key's batch. And names
 * are one printable line.
 *
 * Triggers check changes only, so rows with older names can still be changed otherwise. `batches.made_by` is the API key that started a
 * batch. It is null for a session's batch and for older batches, of which `key_id` is the newest key that retried them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const ownersOfWrites = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A key, and the keys that it replaced.
  yield* sql`
    CREATE FUNCTION key_line(org text, key text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
      WITH RECURSIVE line AS (
        SELECT key AS key_id
        UNION SELECT k.key_id FROM line JOIN api_keys k ON k.org_id = org AND k.replaced_by = line.key_id)
      SELECT key_id FROM line $$`
  yield* sql`
    CREATE FUNCTION secret_stays_with_creator() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF rungate_person() <> NEW.created_by THEN
        RAISE EXCEPTION 'the secret of key % belongs to another person', NEW.key_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'secret_stays_with_creator';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER secret_stays_with_creator BEFORE UPDATE ON api_keys FOR EACH ROW
    WHEN (OLD.key_hash <> NEW.key_hash) EXECUTE FUNCTION secret_stays_with_creator()`
  yield* batchesOfKeys
  yield* printableNames
})

const batchesOfKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE batches ADD COLUMN made_by text`
  // A process of the release before writes key_id only.
  yield* sql`
    CREATE FUNCTION batch_is_made_by_key() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.made_by := NEW.key_id; RETURN NEW; END $$`
  yield* sql`
    CREATE TRIGGER batch_is_made_by_key BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION batch_is_made_by_key()`
  yield* sql`
    CREATE FUNCTION batch_stays_with_key() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM api_keys WHERE org_id = NEW.org_id AND key_id = NEW.key_id AND allow IS NOT NULL)
         AND coalesce(OLD.made_by, OLD.key_id, '') NOT IN (SELECT key_line(NEW.org_id, NEW.key_id)) THEN
        RAISE EXCEPTION 'key % has a scope and can''t go on with batch %: it did not start it', NEW.key_id, NEW.batch_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'batch_stays_with_key';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER batch_stays_with_key BEFORE UPDATE ON batches FOR EACH ROW
    WHEN (NEW.key_id IS NOT NULL AND NEW.key_id IS DISTINCT FROM OLD.key_id) EXECUTE FUNCTION batch_stays_with_key()`
})

/** The characters of `isPrintable` in schema/json/StorableText.ts. */
const printableNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION name_is_printable() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.name ~ '[\\u0001-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]'
         AND (TG_OP = 'INSERT' OR NEW.name IS DISTINCT FROM OLD.name) THEN
        RAISE EXCEPTION 'a name must be one line of printable characters'
          USING ERRCODE = 'check_violation', CONSTRAINT = 'name_is_printable';
      END IF;
      RETURN NEW;
    END $$`
  for (const table of ["orgs", "api_keys"])
    yield* sql.unsafe(
      `CREATE TRIGGER name_is_printable BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION name_is_printable()`
    )
})
