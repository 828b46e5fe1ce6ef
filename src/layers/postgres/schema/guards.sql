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

CREATE FUNCTION contact_identity(of_org text, identity text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(secret || ' ' || of_org || ' ' || identity, 'UTF8')) FROM contact_secret
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
