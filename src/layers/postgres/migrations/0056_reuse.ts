/**
 * Results that runs may reuse, runs that are buying one, and runs that wait for them.
 *
 * The history worker lists the results of all lookups; the turn lists those of runs that asked for reuse. So an ordinary run pays nothing.
 * A reused run has its own copy of the result, so erasing one finds the other.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const reuse = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The run whose result this run got without a purchase.
  yield* sql`ALTER TABLE runs ADD COLUMN reused_from text`
  yield* sql`
    CREATE TABLE reusable_results (
      org_id text NOT NULL REFERENCES orgs,
      -- schema/guards/InputHash.ts
      input_hash text NOT NULL,
      run_id text NOT NULL,
      finished_at timestamptz NOT NULL,
      PRIMARY KEY (org_id, input_hash, run_id)
    )`
  // Rows come in the order of time, so this index is small and cheap to write. It serves the deletion of old rows.
  yield* sql`CREATE INDEX reusable_results_age ON reusable_results USING brin (finished_at)`
  // At most one run of an organization buys an input for others.
  yield* sql`
    CREATE TABLE reuse_claims (
      org_id text NOT NULL REFERENCES orgs,
      input_hash text NOT NULL,
      run_id text NOT NULL UNIQUE,
      PRIMARY KEY (org_id, input_hash)
    )`
  yield* sql`
    CREATE TABLE reuse_joins (
      run_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      -- The run that it waits for.
      joined text NOT NULL
    )`
  yield* sql`CREATE INDEX reuse_joins_of ON reuse_joins (joined)`
  // What was not paid again.
  yield* sql`
    CREATE TABLE reuse_savings (
      run_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      reused_from text NOT NULL,
      saved bigint NOT NULL CHECK (saved >= 0),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`CREATE INDEX reuse_savings_org ON reuse_savings (org_id, created_at)`
})
