/** Organizations, their people, sessions and API keys. Secrets are stored as SHA-256 digests only. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE orgs (
      org_id text PRIMARY KEY,
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`
    CREATE TABLE users (
      user_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      email text NOT NULL,
      password_hash text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`CREATE UNIQUE INDEX users_email ON users (lower(email))`
  yield* sql`
    CREATE TABLE sessions (
      token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
      user_id text NOT NULL REFERENCES users,
      org_id text NOT NULL REFERENCES orgs,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      ended_at timestamptz
    )`
  yield* sql`
    CREATE TABLE api_keys (
      key_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
      environment text NOT NULL CHECK (environment IN ('test', 'live')),
      key_hash bytea NOT NULL UNIQUE CHECK (length(key_hash) = 32),
      display text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      revoked_at timestamptz
    )`
  yield* sql`CREATE INDEX api_keys_org ON api_keys (org_id, key_id)`
  // Revocation is permanent: nothing moves a key back.
  yield* sql`
    CREATE FUNCTION api_key_stays_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'a revoked key stays revoked: %', OLD.key_id USING ERRCODE = 'check_violation'; END $$`
  yield* sql`
    CREATE TRIGGER api_key_stays_revoked BEFORE UPDATE ON api_keys FOR EACH ROW
    WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION api_key_stays_revoked()`
})
