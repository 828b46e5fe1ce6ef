/**
 * Offers whose provider reported a higher cost than the rate that their price is computed from. A row exists while the cost does not fit.
 *
 * Processes of older releases neither read nor write it, and price these offers by their rates.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const costDrifts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE cost_drifts (
      provider text NOT NULL,
      capability text NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now(),
      -- The run with the highest cost, compared with what it should have cost.
      run_id text NOT NULL,
      expected bigint NOT NULL CHECK (expected >= 0),
      measured bigint NOT NULL,
      -- Calls in a row that fitted again.
      fits int NOT NULL DEFAULT 0 CHECK (fits >= 0),
      PRIMARY KEY (provider, capability),
      CONSTRAINT drift_is_one CHECK (measured > expected AND measured <= 1000000000000)
    )`
})
