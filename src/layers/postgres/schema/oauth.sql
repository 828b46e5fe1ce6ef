-- OAuth for /mcp: authorization codes, and the connections that they became. A connection's access token is an API key.
--
-- Clients have no table, because a client's id is its registration. So nothing that strangers do adds a row.

-- One row for each code that was given out and not used. A person's approval writes it, and the exchange deletes it.
CREATE TABLE oauth_codes (
  code_hash bytea PRIMARY KEY CHECK (length(code_hash) = 32),
  org_id text NOT NULL REFERENCES orgs,
  user_id text NOT NULL REFERENCES users,
  client_hash bytea NOT NULL CHECK (length(client_hash) = 32),
  client_name text NOT NULL CHECK (length(client_name) BETWEEN 1 AND 200),
  redirect_uri text NOT NULL,
  challenge text NOT NULL CHECK (challenge ~ '^[A-Za-z0-9_-]{43}$'),
  scope text NOT NULL CHECK (scope IN ('run', 'lookup')),
  budget bigint CHECK (budget >= 0),
  period text CHECK (period IN ('day', 'week', 'month', 'total')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT oauth_code_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '2 minutes'),
  CONSTRAINT oauth_code_budget CHECK ((budget IS NULL) = (period IS NULL))
);
CREATE INDEX oauth_codes_org ON oauth_codes (org_id, expires_at);

-- One row for each connected agent. The exchange of a code writes it, and each refresh.
CREATE TABLE oauth_grants (
  grant_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  user_id text NOT NULL REFERENCES users,
  -- The access token. A refresh gives it a new secret.
  key_id text NOT NULL UNIQUE REFERENCES api_keys,
  client_hash bytea NOT NULL CHECK (length(client_hash) = 32),
  -- Unique: a code becomes one connection. A code that comes again ends it.
  code_hash bytea NOT NULL UNIQUE CHECK (length(code_hash) = 32),
  -- What all refresh tokens of the connection share, and the newest one. An older one is recognized by the first, and ends the connection.
  family_hash bytea NOT NULL UNIQUE CHECK (length(family_hash) = 32),
  refresh_hash bytea NOT NULL CHECK (length(refresh_hash) = 32),
  scope text NOT NULL CHECK (scope IN ('run', 'lookup')),
  created_at timestamptz NOT NULL DEFAULT now(),
  refreshed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT oauth_grant_expires CHECK (expires_at > refreshed_at AND expires_at <= refreshed_at + interval '90 days')
);
CREATE INDEX oauth_grants_org ON oauth_grants (org_id, expires_at);
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON oauth_grants FOR EACH ROW
EXECUTE FUNCTION audit_row('connection', 'key_id', 'key_id,org_id,created_at,grant_id,user_id,client_hash,code_hash,family_hash,refresh_hash,refreshed_at,expires_at', 'all');

-- A connection that has ended stays ended.
CREATE FUNCTION oauth_grant_stays_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a connection that has ended stays ended: %', OLD.grant_id USING ERRCODE = 'check_violation'; END $$;
CREATE TRIGGER oauth_grant_stays_ended BEFORE UPDATE ON oauth_grants FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION oauth_grant_stays_ended();
