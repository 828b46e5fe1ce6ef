/**
 * Sessions of operators in the web console, and the sign-in links that open them.
 *
 * They share no table with customers' sessions, so no query can take one for the other. A link opens one session, soon after it was printed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const operatorSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE operator_links (
      link_id text PRIMARY KEY,
      token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
      -- The user of the operating system who printed the link. Null if the system has no name for it.
      operator text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      CONSTRAINT operator_link_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour'),
      CONSTRAINT operator_link_was_valid CHECK (used_at <= expires_at)
    )`
  yield* sql`
    CREATE TABLE operator_sessions (
      session_id text PRIMARY KEY,
      -- Unique: a link opens one session.
      link_id text NOT NULL UNIQUE REFERENCES operator_links,
      token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
      operator text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      ended_at timestamptz,
      CONSTRAINT operator_session_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 day')
    )`
  yield* audited({
    table: "operator_links",
    noun: "operator_link",
    id: "link_id",
    hidden: ["token_hash", "used_at"],
    on: "INSERT"
  })
  yield* audited({
    table: "operator_sessions",
    noun: "operator_session",
    id: "session_id",
    hidden: ["token_hash"],
    on: "INSERT OR UPDATE"
  })
})
