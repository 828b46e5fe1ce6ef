-- What operators imported, what organizations own at providers, and how offers did.

CREATE SEQUENCE catalog_revisions;
-- One document per provider, replaced as a whole, so that no reader ever sees half an import. Operators' imports write it.
-- Endpoints that a new document no longer has stay in `retired`, because runs refer to them.
CREATE TABLE catalog_documents (
  provider text PRIMARY KEY,
  -- New with every import, over all providers: who has seen a revision has seen its document.
  revision bigint NOT NULL UNIQUE DEFAULT nextval('catalog_revisions'),
  -- gzipped JSON.
  document bytea NOT NULL,
  retired json NOT NULL DEFAULT '[]',
  endpoints integer NOT NULL CHECK (endpoints >= 0),
  imported_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON catalog_documents FOR EACH ROW
EXECUTE FUNCTION audit_row('catalog', 'provider', 'provider,org_id,created_at,document,retired,imported_at', 'all');

-- Inputs of marketplace actors, as the marketplace described them. A request that needs one writes it.
CREATE TABLE actor_inputs (
  provider text NOT NULL,
  path text NOT NULL,
  body json NOT NULL,
  example json,
  loaded_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the marketplace says that an actor wants full permissions: it is refused then.
  full_permissions boolean NOT NULL DEFAULT false,
  PRIMARY KEY (provider, path)
);

-- What an organization owns in the platform's accounts: inboxes and domains, connected accounts, jobs and senders. A run writes it before it
-- ends, or an operator.
CREATE TABLE owned_resources (
  kind text NOT NULL,
  resource_id text NOT NULL,
  org_id text NOT NULL,
  -- Null: an operator assigned it.
  run_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Ids of accounts and jobs mean something at one provider only.
  provider text NOT NULL DEFAULT '',
  PRIMARY KEY (kind, resource_id, provider, org_id),
  CHECK (kind IN ('inbox', 'domain', 'sender', 'account', 'job')),
  CHECK ((kind IN ('account', 'job')) = (provider <> '')),
  CHECK (kind IN ('account', 'job') OR resource_id = lower(resource_id)),
  CHECK (length(resource_id) BETWEEN 1 AND 320 AND resource_id ~ '^[!-~]+$')
);
CREATE INDEX owned_resources_org ON owned_resources (org_id, kind, created_at);
-- An operator may let several organizations send from one domain. Everything else has one owner.
CREATE UNIQUE INDEX owned_resources_owner ON owned_resources (kind, resource_id, provider) WHERE kind <> 'sender';
CREATE TRIGGER audited AFTER INSERT ON owned_resources FOR EACH ROW
WHEN (NEW.run_id IS NULL)
EXECUTE FUNCTION audit_row('resource', 'resource_id', 'resource_id,org_id,created_at,run_id', 'known');
CREATE TRIGGER audited_removal AFTER DELETE ON owned_resources FOR EACH ROW
EXECUTE FUNCTION audit_row('resource', 'resource_id', 'resource_id,org_id,created_at,run_id', 'known');

-- Domains that an organization has proved, or is to prove. People write it.
CREATE TABLE senders (
  sender_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  domain text NOT NULL CHECK (domain = lower(domain) AND length(domain) <= 253),
  -- What the domain's TXT record must say. Another organization's record proves nothing.
  token text NOT NULL,
  verified_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, domain)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON senders FOR EACH ROW
EXECUTE FUNCTION audit_row('sender', 'sender_id', 'sender_id,org_id,created_at,token', 'all');

-- Accounts of organizations at providers: the encrypted key, and whether the service's account may be used when the key is refused. People
-- write it. A key is never stored as plain text.
CREATE TABLE provider_accounts (
  org_id text NOT NULL REFERENCES orgs,
  provider text NOT NULL,
  -- New for each key, so that nothing that was observed with the key before counts for this one.
  account_id text NOT NULL UNIQUE,
  -- Encrypted: see layers/platform/Encryption.ts.
  secret text NOT NULL CHECK (secret ~ '^v1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$'),
  last_four text NOT NULL CHECK (char_length(last_four) = 4),
  base_url text,
  fallback boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the key was set.
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, provider)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON provider_accounts FOR EACH ROW
EXECUTE FUNCTION audit_row('provider_account', 'provider', 'provider,org_id,created_at,account_id,secret', 'all');

-- Attempts by subject, time and outcome: what health and routing stand on. It names no organization.
-- Counts are added to by the turn that ends a run, so each lane has rows of its own: turns of two lanes never wait for each other here.
-- The newest windows are read and the oldest deleted, whatever their subject: time stands first in the key.
CREATE TABLE attempt_windows (
  span text NOT NULL CHECK (span IN ('5m', '1d')),
  starts_at timestamptz NOT NULL,
  subject text NOT NULL,
  lane smallint NOT NULL,
  ok boolean NOT NULL,
  -- Of successes only; see schema/runs/Health.ts.
  latency_bucket smallint NOT NULL CHECK (latency_bucket >= 0 AND (ok OR latency_bucket = 0)),
  count bigint NOT NULL CHECK (count > 0),
  PRIMARY KEY (span, starts_at, subject, lane, ok, latency_bucket)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

-- Outcomes of calls by offer, kind of input and day. Quotes expect success and cost from them. Workers add to it. It names no organization.
-- Kinds of input per offer are limited, see layers/quotes/OfferOutcomes.ts.
CREATE TABLE offer_outcomes (
  -- As in attempt_windows.
  subject text NOT NULL,
  -- Names of the given fields; empty for all inputs.
  input_kind text NOT NULL,
  day date NOT NULL,
  succeeded bigint NOT NULL CHECK (succeeded >= 0),
  inconclusive bigint NOT NULL CHECK (inconclusive >= 0),
  no_match bigint NOT NULL CHECK (no_match >= 0),
  failed bigint NOT NULL CHECK (failed >= 0),
  -- Microdollars of charged calls: their maximum prices, and their charges.
  quoted bigint NOT NULL CHECK (quoted >= 0),
  charged bigint NOT NULL CHECK (charged >= 0),
  PRIMARY KEY (subject, input_kind, day)
) WITH (fillfactor = 50);

-- The last acceptance check of each offer, as `rungate providers check` recorded it.
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
);

-- Offers whose provider reported a higher cost than the rate that their price is computed from. Workers write it. A row exists while the cost
-- does not fit.
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
);
