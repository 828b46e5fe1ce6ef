/**
 * Signed heads of the ledger: for each organization and day, the number and the hash of the newest entry of that day, with a signature.
 *
 * A customer who keeps one can prove that the ledger up to it was not rewritten later, even by the owner of the database.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const walletHeads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE wallet_heads (
      org_id text NOT NULL,
      -- UTC. A day without entries has no head.
      day date NOT NULL,
      -- Of the newest entry of that day.
      seq bigint NOT NULL CHECK (seq > 0),
      hash bytea NOT NULL CHECK (length(hash) = 32),
      -- The JWS in its compact form.
      head text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, day)
    )`
  // The newest day whose heads are complete. One row.
  yield* sql`
    CREATE TABLE wallet_head_days (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      day date NOT NULL
    )`
  yield* sql`
    CREATE TRIGGER wallet_heads_are_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_heads FOR EACH STATEMENT
    EXECUTE FUNCTION ledger_is_immutable()`
})
