/**
 * Whom an organization has contacted, for the contact guard.
 *
 * Identities are keyed hashes: without the key, nobody can test whether an address is among them. The key is the installation's. Erasing
 * a person from history leaves these rows, so that nobody writes to them again within the guard's time; after a year they are deleted.
 * Processes of older releases neither claim recipients nor ask for claims.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const contactGuard = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE contact_secret (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      secret text NOT NULL,
      -- Contacts before this time were not claimed. History knows them.
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`INSERT INTO contact_secret (secret) VALUES (gen_random_uuid()::text || gen_random_uuid()::text)`
  yield* sql`
    CREATE FUNCTION contact_identity(of_org text, identity text) RETURNS bytea LANGUAGE sql STABLE AS $$
      SELECT sha256(convert_to(secret || ' ' || of_org || ' ' || identity, 'UTF8')) FROM contact_secret
    $$`
  yield* sql`
    CREATE TABLE contact_claims (
      org_id text NOT NULL REFERENCES orgs,
      identity bytea NOT NULL,
      run_id text NOT NULL,
      contacted_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, identity, run_id)
    )`
  yield* sql`CREATE INDEX contact_claims_run ON contact_claims (run_id)`
  yield* sql`CREATE INDEX contact_claims_age ON contact_claims (contacted_at)`
  yield* sql`
    CREATE TABLE contact_guards (
      org_id text PRIMARY KEY REFERENCES orgs,
      -- Null: runs that ask for no guard have none.
      days smallint CHECK (days BETWEEN 1 AND 365)
    )`
  yield* audited({ table: "contact_guards", noun: "contact_guard", id: "org_id", hidden: [] })
})
