/**
 * What an API key reads: the runs of its organization, or its own runs only (`allow.read`).
 *
 * `own` is the default of allowances and of connected agents, also of those that were made before this migration. A key that reads its own
 * runs gives no allowance that reads more; schema/accounts/ChildScope.ts has that rule for requests.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const keyReads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Each request of a key that reads its own runs asks which keys it has replaced.
  yield* sql`CREATE INDEX api_keys_replaced ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL`
  // The keys whose runs a key sees: itself, and those that it replaced. Null: all runs of its organization.
  yield* sql`
    CREATE FUNCTION key_reads(k api_keys) RETURNS text[] LANGUAGE sql STABLE AS $$
      SELECT CASE WHEN k.allow IS NOT NULL AND coalesce(k.allow ->> 'read', CASE
          WHEN EXISTS (SELECT FROM allowances a WHERE a.key_id = k.key_id) OR EXISTS (SELECT FROM oauth_grants g WHERE g.key_id = k.key_id)
          THEN 'own' END) = 'own'
        THEN ARRAY(SELECT key_line(k.org_id, k.key_id)) END $$`
  // As in migration 0070, with the last condition. A child without `read` is an allowance, so it reads its own runs.
  yield* sql`
    CREATE OR REPLACE FUNCTION key_exceeds(child api_keys, parent api_keys) RETURNS boolean LANGUAGE sql STABLE AS $$
      SELECT (coalesce((child.allow ->> 'mint')::boolean, false) AND NOT coalesce((parent.allow ->> 'mint')::boolean, false))
        OR (parent.allow IS NOT NULL AND (
          child.allow IS NULL
          OR (parent.allow -> 'capabilities' IS NOT NULL
              AND NOT coalesce(child.allow -> 'capabilities' <@ (parent.allow -> 'capabilities'), false))
          OR (parent.allow -> 'providers' IS NOT NULL
              AND NOT coalesce(child.allow -> 'providers' <@ (parent.allow -> 'providers'), false))
          OR (coalesce((parent.allow ->> 'read_only')::boolean, false) AND NOT coalesce((child.allow ->> 'read_only')::boolean, false))
          OR (parent.max_cost IS NOT NULL AND (child.max_cost IS NULL OR child.max_cost > parent.max_cost))
          OR (allows_raw(child.allow) AND NOT allows_raw(parent.allow))
          OR (child.allow ->> 'read' = 'organization' AND key_reads(parent) IS NOT NULL)))
    $$`
})
