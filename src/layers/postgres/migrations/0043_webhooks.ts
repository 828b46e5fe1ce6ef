/**
 * Webhook endpoints of organizations, and the deliveries of events to them.
 *
 * A delivery is stored in the transaction that moves the endpoint's position in the event log. So each event becomes one delivery for each
 * endpoint, whichever process is killed. Older releases ignore these tables.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const webhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhook_endpoints (
      endpoint_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      url text NOT NULL,
      events text[] NOT NULL CHECK (cardinality(events) > 0),
      secret text NOT NULL CHECK (secret LIKE 'whsec\\_%'),
      secret_since timestamptz NOT NULL DEFAULT now(),
      -- Signs beside the secret until then, so that a receiver can change over.
      previous_secret text,
      previous_until timestamptz,
      -- The last event of the log that became a delivery, or was left out.
      position bigint NOT NULL CHECK (position >= 0),
      paused text CHECK (paused IN ('by_you', 'gone', 'failing')),
      -- Of the first failure since the last success.
      failing_since timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT webhook_rotation CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
    )`
  const hidden = ["secret", "previous_secret", "previous_until", "position", "failing_since"]
  const audit = { table: "webhook_endpoints", noun: "webhook", id: "endpoint_id", hidden } as const
  yield* audited({ ...audit, on: "INSERT OR DELETE" })
  // Deliveries move the position all the time.
  const changed =
    "(OLD.url, OLD.events, OLD.paused, OLD.secret_since) IS DISTINCT FROM (NEW.url, NEW.events, NEW.paused, NEW.secret_since)"
  yield* audited({ ...audit, on: "UPDATE", when: changed, suffix: "_changes" })
  yield* sql`CREATE INDEX webhook_endpoints_org ON webhook_endpoints (org_id, endpoint_id)`
  yield* sql`
    CREATE TABLE webhook_deliveries (
      delivery_id text PRIMARY KEY,
      endpoint_id text NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
      event_id text NOT NULL,
      kind text NOT NULL,
      happened_at timestamptz NOT NULL,
      body text NOT NULL,
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      -- While an attempt is under way: when another process may repeat it. Null when nothing is due.
      next_attempt_at timestamptz,
      -- The newest attempts: when, how long, the answer.
      answers json NOT NULL DEFAULT '[]',
      created_at timestamptz NOT NULL DEFAULT now(),
      delivered_at timestamptz,
      CONSTRAINT webhook_once UNIQUE (endpoint_id, event_id),
      CONSTRAINT webhook_pending CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX webhook_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending'`
  yield* sql`CREATE INDEX webhook_deliveries_list ON webhook_deliveries (endpoint_id, delivery_id)`
  yield* sql`CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at)`
})
