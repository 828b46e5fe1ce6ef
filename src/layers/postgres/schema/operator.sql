-- Operators: their sign-in to the web console, what they look into, and checks of all books.
--
-- They share no table with customers' sessions, so no query can take one for the other.

-- One row for each sign-in link. `rungate admin` writes it. A link opens one session, soon after it was printed.
CREATE TABLE operator_links (
  link_id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  -- The user of the operating system who printed the link. Null if the system has no name for it.
  operator text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT operator_link_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour'),
  CONSTRAINT operator_link_was_valid CHECK (used_at <= expires_at)
);
CREATE TRIGGER audited AFTER INSERT ON operator_links FOR EACH ROW
EXECUTE FUNCTION audit_row('operator_link', 'link_id', 'link_id,org_id,created_at,token_hash,used_at', 'all');

-- One row for each session of an operator. Signing in and out writes it.
CREATE TABLE operator_sessions (
  session_id text PRIMARY KEY,
  -- Unique: a link opens one session.
  link_id text NOT NULL UNIQUE REFERENCES operator_links,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  operator text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT operator_session_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 day')
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON operator_sessions FOR EACH ROW
EXECUTE FUNCTION audit_row('operator_session', 'session_id', 'session_id,org_id,created_at,token_hash', 'all');

-- One row for each look of an operator into an organization's runs. The console writes it.
CREATE TABLE operator_impersonations (
  impersonation_id text PRIMARY KEY,
  session_id text NOT NULL REFERENCES operator_sessions ON DELETE CASCADE,
  org_id text NOT NULL REFERENCES orgs,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT impersonation_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour')
);
CREATE INDEX operator_impersonations_session ON operator_impersonations (session_id, org_id);
CREATE TRIGGER audited AFTER INSERT ON operator_impersonations FOR EACH ROW
EXECUTE FUNCTION audit_row('impersonation', 'org_id', 'org_id,org_id,created_at,impersonation_id,session_id', 'all');

-- One row for each check of all books, the auditor's own record. `rungate audit` and the workers append it.
CREATE TABLE audit_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Of the snapshot that was read.
  checked_at timestamptz NOT NULL,
  wallets bigint NOT NULL CHECK (wallets >= 0),
  entries bigint NOT NULL CHECK (entries >= 0),
  runs bigint NOT NULL CHECK (runs >= 0),
  violations bigint NOT NULL CHECK (violations >= 0)
);
CREATE TRIGGER audited AFTER INSERT ON audit_checks FOR EACH ROW
EXECUTE FUNCTION audit_row('books_check', 'id', 'id,org_id,created_at', 'known');

-- One row: when the books are checked next. Workers write it.
CREATE TABLE books_schedule (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  next_at timestamptz NOT NULL DEFAULT now() + interval '10 minutes'
);
INSERT INTO books_schedule DEFAULT VALUES;
