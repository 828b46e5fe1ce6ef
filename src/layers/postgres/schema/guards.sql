-- What the guards know: repeated failures, people who were contacted, and results that may be reused.

-- Runs of a caller that failed, and runs with the same input that were admitted since. Turns write it. A row counts for ten minutes and is
-- deleted some minutes later. `input_hash` is a digest of target and input (schema/guards/InputHash.ts).
CREATE TABLE repeat_tries (
  org_id text NOT NULL REFERENCES orgs,
  -- An API key's id, or "session".
  caller text NOT NULL,
  input_hash text NOT NULL,
  run_id text NOT NULL,
  -- When it failed, or when it was admitted if it has not ended.
  tried_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, caller, input_hash, run_id)
);

-- One row: the key of the hashes below. The schema makes it.
CREATE TABLE contact_secret (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  secret text NOT NULL,
  -- Contacts before this time were not claimed. History knows them.
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO contact_secret (secret) VALUES (gen_random_uuid()::text || gen_random_uuid()::text);

-- The keys of organizations that came from another cell: what that cell hashed and signed for them stays valid. Their move writes it.
CREATE TABLE contact_secrets (
  org_id text PRIMARY KEY REFERENCES orgs,
  secret text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE FUNCTION contact_identity(of_org text, identity text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(coalesce((SELECT o.secret FROM contact_secrets o WHERE o.org_id = of_org), s.secret) || ' ' || of_org || ' ' || identity,
                           'UTF8')) FROM contact_secret s
$$;

-- Whom an organization has contacted. Turns write it.
-- Identities are keyed hashes: without the key, nobody can test whether an address is among them. The key is the installation's. Erasing
-- a person from history leaves these rows, so that nobody writes to them again within the guard's time; after a year they are deleted.
CREATE TABLE contact_claims (
  org_id text NOT NULL REFERENCES orgs,
  identity bytea NOT NULL,
  run_id text NOT NULL,
  contacted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, identity, run_id)
);
CREATE INDEX contact_claims_run ON contact_claims (run_id);
CREATE INDEX contact_claims_age ON contact_claims (contacted_at);

-- One row for each organization that has set its contact guard. People write it.
CREATE TABLE contact_guards (
  org_id text PRIMARY KEY REFERENCES orgs,
  -- Null: runs that ask for no guard have none.
  days smallint CHECK (days BETWEEN 1 AND 365)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON contact_guards FOR EACH ROW
EXECUTE FUNCTION audit_row('contact_guard', 'org_id', 'org_id,org_id,created_at', 'all');

-- Results that runs may reuse. The history worker lists the results of all lookups; the turn lists those of runs that asked for reuse. So an
-- ordinary run pays nothing. A reused run has its own copy of the result, so erasing one finds the other.
CREATE TABLE reusable_results (
  org_id text NOT NULL REFERENCES orgs,
  -- schema/guards/InputHash.ts
  input_hash text NOT NULL,
  run_id text NOT NULL,
  finished_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, input_hash, run_id)
);
-- Rows come in the order of time, so this index is small and cheap to write. It serves the deletion of old rows.
CREATE INDEX reusable_results_age ON reusable_results USING brin (finished_at);

-- Runs that are buying a result for others. Turns write it. At most one run of an organization buys an input.
CREATE TABLE reuse_claims (
  org_id text NOT NULL REFERENCES orgs,
  input_hash text NOT NULL,
  run_id text NOT NULL UNIQUE,
  PRIMARY KEY (org_id, input_hash)
);

-- Runs that wait for another run's result. Turns write it.
CREATE TABLE reuse_joins (
  run_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  -- The run that it waits for.
  joined text NOT NULL
);
CREATE INDEX reuse_joins_of ON reuse_joins (joined);

-- One row for each run that reused a result: what was not paid again. Turns write it.
CREATE TABLE reuse_savings (
  run_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  reused_from text NOT NULL,
  saved bigint NOT NULL CHECK (saved >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX reuse_savings_org ON reuse_savings (org_id, created_at);

-- Whom runs must not contact. People, imports and recipients write it.
-- `digest` is the SHA-256 of the normalized value (schema/guards/OptOut.ts), as in other systems' lists. Somebody who has a list can test a
-- guess, and no one can read it. Erasing a person from history leaves these rows.
CREATE TABLE opt_outs (
  id text PRIMARY KEY,
  -- Null: for the whole service.
  org_id text REFERENCES orgs,
  kind text NOT NULL CHECK (kind IN ('email', 'domain', 'phone', 'profile')),
  digest bytea NOT NULL CHECK (length(digest) = 32),
  -- The value with its middle left out. Null if only the digest is known.
  hint text CHECK (length(hint) <= 200),
  source text NOT NULL CHECK (source IN ('api', 'console', 'import', 'one_click', 'complaint')),
  reason text CHECK (length(reason) <= 500),
  -- The run whose message had the link of a one-click opt-out.
  run_id text CHECK ((run_id IS NOT NULL) = (source = 'one_click')),
  -- Id of the person or key, or name of the operator. Null for the recipient.
  created_by text DEFAULT coalesce(audit_actor() ->> 'id', audit_actor() ->> 'name'),
  -- Not the time at which the transaction began: it has waited for turns that did not see this row, and their runs are older.
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT opt_outs_once UNIQUE NULLS NOT DISTINCT (digest, kind, org_id)
);
CREATE INDEX opt_outs_of ON opt_outs (org_id, id);

-- One row: the version of the service's list. A turn that admits a run which contacts people locks it.
CREATE TABLE opt_out_service (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  version bigint NOT NULL DEFAULT 0
);
INSERT INTO opt_out_service DEFAULT VALUES;

-- A new entry makes each turn roll back that has not read it: by the wallet's version, or by that of the service's list.
CREATE FUNCTION opt_outs_apply() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE wallets w SET version = w.version + 1 WHERE w.org_id IN (SELECT org_id FROM fresh);
  UPDATE opt_out_service SET version = version + 1 WHERE EXISTS (SELECT FROM fresh WHERE org_id IS NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER opt_outs_apply AFTER INSERT ON opt_outs REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION opt_outs_apply();

CREATE FUNCTION opt_outs_never_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'an opt-out never changes: remove it, and add another one' USING ERRCODE = 'check_violation'; END $$;
CREATE TRIGGER opt_outs_never_change BEFORE UPDATE ON opt_outs FOR EACH ROW EXECUTE FUNCTION opt_outs_never_change();
-- An import is long, and each of its rows says who made it.
CREATE TRIGGER audited AFTER INSERT ON opt_outs FOR EACH ROW WHEN (NEW.source IN ('api', 'console', 'complaint'))
EXECUTE FUNCTION audit_row('opt_out', 'id', 'id,org_id,digest,run_id,created_by,created_at', 'all');
CREATE TRIGGER audited_removal AFTER DELETE ON opt_outs FOR EACH ROW
EXECUTE FUNCTION audit_row('opt_out', 'id', 'id,org_id,digest,run_id,created_by,created_at', 'all');

-- One row for each run that an entry refused, with what the entry was: its receipt shows it. The turn or the worker that refuses the run writes it.
CREATE TABLE opt_out_refusals (
  run_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  opt_out_id text NOT NULL,
  list text NOT NULL CHECK (list IN ('organization', 'service')),
  kind text NOT NULL,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  since timestamptz NOT NULL
);
