/**
 * The one webhook that may be under way to an endpoint that is failing. The primary key allows no second one, in any process.
 *
 * Older releases ignore the table, and send to a failing endpoint as to any other.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const webhookProbes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhook_probes (
      endpoint_id text PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
      delivery_id text NOT NULL,
      -- When another process may send one, because the one that claimed it has died.
      until timestamptz NOT NULL
    )`
})
