/** What an organization owns in the platform's accounts: inboxes and domains, noted before the run that made them ends. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const ownership = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE owned_resources (
      kind text NOT NULL CHECK (kind IN ('inbox', 'domain')),
      resource_id text NOT NULL,
      org_id text NOT NULL,
      run_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- A thing has one owner.
      PRIMARY KEY (kind, resource_id)
    )`
  yield* sql`CREATE INDEX owned_resources_org ON owned_resources (org_id, kind, created_at)`
})
