/**
 * Connected accounts, jobs and senders get owners as inboxes and domains have them, and organizations prove sending domains.
 *
 * Jobs that raw runs made before this migration have no owner: which part of an old result is a job's id was not recorded.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const owners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE owned_resources
    DROP CONSTRAINT owned_resources_pkey,
    DROP CONSTRAINT owned_resources_kind_check,
    -- Ids of accounts and jobs mean something at one provider only.
    ADD COLUMN provider text NOT NULL DEFAULT '',
    -- Null: an operator assigned it.
    ALTER COLUMN run_id DROP NOT NULL`
  yield* sql`ALTER TABLE owned_resources
    ADD PRIMARY KEY (kind, resource_id, provider, org_id),
    ADD CHECK (kind IN ('inbox', 'domain', 'sender', 'account', 'job')),
    ADD CHECK ((kind IN ('account', 'job')) = (provider <> '')),
    ADD CHECK (kind IN ('account', 'job') OR resource_id = lower(resource_id)),
    ADD CHECK (length(resource_id) BETWEEN 1 AND 320 AND resource_id ~ '^[!-~]+$')`
  // An operator may let several organizations send from one domain. Everything else has one owner.
  yield* sql`CREATE UNIQUE INDEX owned_resources_owner ON owned_resources (kind, resource_id, provider) WHERE kind <> 'sender'`
  yield* sql`
    CREATE TABLE senders (
      sender_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      domain text NOT NULL CHECK (domain = lower(domain) AND length(domain) <= 253),
      -- What the domain's TXT record must say. Another organization's record proves nothing.
      token text NOT NULL,
      verified_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (org_id, domain)
    )`
  // Set when the marketplace says that an actor wants full permissions: it is refused then.
  yield* sql`ALTER TABLE actor_inputs ADD COLUMN full_permissions boolean NOT NULL DEFAULT false`
})
