-- Webhook endpoints of organizations, and the deliveries of events to them.
--
-- A delivery is stored in the transaction that moves the endpoint's position in the event log. So each event becomes one delivery for each
-- endpoint, whichever process is killed.

-- One row for each endpoint. People write it, and the webhook worker moves its position.
CREATE TABLE webhook_endpoints (
  endpoint_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  url text NOT NULL,
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  -- Encrypted if RUNGATE_ENCRYPTION_KEY is set. A text that is neither encrypted nor a secret is refused.
  secret text NOT NULL,
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
  CONSTRAINT webhook_rotation CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CONSTRAINT webhook_secret CHECK (secret ~ '^(whsec_|v1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$)'),
  CONSTRAINT webhook_previous_secret CHECK (previous_secret ~ '^(whsec_|v1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$)')
);
CREATE INDEX webhook_endpoints_org ON webhook_endpoints (org_id, endpoint_id);
-- Deliveries move the position all the time, which is not logged.
CREATE TRIGGER audited AFTER INSERT OR DELETE ON webhook_endpoints FOR EACH ROW
EXECUTE FUNCTION audit_row('webhook', 'endpoint_id', 'endpoint_id,org_id,created_at,secret,previous_secret,previous_until,position,failing_since', 'all');
CREATE TRIGGER audited_changes AFTER UPDATE ON webhook_endpoints FOR EACH ROW
WHEN ((OLD.url, OLD.events, OLD.paused, OLD.secret_since) IS DISTINCT FROM (NEW.url, NEW.events, NEW.paused, NEW.secret_since))
EXECUTE FUNCTION audit_row('webhook', 'endpoint_id', 'endpoint_id,org_id,created_at,secret,previous_secret,previous_until,position,failing_since', 'all');

-- One row for each event and endpoint. The webhook worker writes it, and deletes it when it is old.
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
) WITH (fillfactor = 70);
CREATE INDEX webhook_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_list ON webhook_deliveries (endpoint_id, delivery_id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (happened_at);

-- The one webhook that may be under way to an endpoint that is failing. The webhook worker claims it. The primary key allows no second one, in
-- any process.
CREATE TABLE webhook_probes (
  endpoint_id text PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
  delivery_id text NOT NULL,
  -- When another process may send one, because the one that claimed it has died.
  until timestamptz NOT NULL
);

-- The outbox of e-mails about webhook endpoints that were paused. The webhook worker writes it, and the mail worker sends them.
CREATE TABLE webhook_mails (
  mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('webhook.paused')),
  data json NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  send_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'failed')),
  CONSTRAINT webhook_mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX webhook_mails_due ON webhook_mails (send_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_mails_org ON webhook_mails (org_id, created_at);
