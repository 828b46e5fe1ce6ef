/**
 * The last acceptance check of each offer, as `rungate providers check` recorded it.
 *
 * Processes of older releases neither read nor write it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const providerChecks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE provider_checks (
      provider text NOT NULL,
      capability text NOT NULL,
      checked_at timestamptz NOT NULL DEFAULT now(),
      run_id text NOT NULL,
      passed boolean NOT NULL,
      outcome text NOT NULL,
      latency_ms bigint NOT NULL CHECK (latency_ms >= 0),
      charged bigint NOT NULL CHECK (charged >= 0),
      -- Null if the provider reported none.
      cost bigint CHECK (cost >= 0),
      PRIMARY KEY (provider, capability)
    )`
})
