-- Batches: many runs in one request, their rows, and what the batch may spend.
--
-- `max_total` is a budget as an API key has one, so the wallet's turn and the triggers of `key_budgets` keep it. The budget of the batch's
-- key is its parent, and a run counts in both.

-- One row for each batch. The request that starts it inserts it, and the process that feeds it updates it.
CREATE TABLE batches (
  batch_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  -- The newest key that started or retried it. Null for a session.
  key_id text,
  -- The person who started or retried it last in a session: nobody approves the own runs.
  started_by text,
  request_id text NOT NULL,
  idempotency_key text,
  fingerprint text NOT NULL,
  metadata jsonb,
  max_total bigint CHECK (max_total >= 0),
  -- The budget that its next runs count against. Earlier ones belong to it too; see BatchFeeds.ts.
  budget_id text NOT NULL REFERENCES key_budgets,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'cancelling', 'cancelled', 'finished')),
  total integer NOT NULL CHECK (total > 0),
  -- Rows that ended, by how they ended.
  succeeded integer NOT NULL DEFAULT 0,
  no_match integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  blocked integer NOT NULL DEFAULT 0,
  invalid integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  charged bigint NOT NULL DEFAULT 0 CHECK (charged >= 0),
  -- The process that starts its rows. Each write of that process requires the token.
  lease_token text,
  lease_until timestamptz,
  fed_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  -- When the personal data of its rows was erased because of its age.
  erased_at timestamptz,
  -- The API key that started it. Null for a session's batch.
  made_by text,
  CONSTRAINT batches_ended CHECK (succeeded + no_match + failed + blocked + invalid + cancelled <= total),
  CONSTRAINT batches_finished CHECK ((finished_at IS NOT NULL) = (status IN ('cancelled', 'finished'))),
  CONSTRAINT batches_within_total CHECK (max_total IS NULL OR charged <= max_total)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX batches_once ON batches (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX batches_list ON batches (org_id, batch_id);
CREATE INDEX batches_open ON batches (fed_at) WHERE finished_at IS NULL;

-- Whoever starts a batch writes `key_id` only.
CREATE FUNCTION batch_is_made_by_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.made_by := NEW.key_id; RETURN NEW; END $$;
CREATE TRIGGER batch_is_made_by_key BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION batch_is_made_by_key();

-- A key with a scope does not go on with another key's batch.
CREATE FUNCTION batch_stays_with_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM api_keys WHERE org_id = NEW.org_id AND key_id = NEW.key_id AND allow IS NOT NULL)
     AND coalesce(OLD.made_by, OLD.key_id, '') NOT IN (SELECT key_line(NEW.org_id, NEW.key_id)) THEN
    RAISE EXCEPTION 'key % has a scope and can''t go on with batch %: it did not start it', NEW.key_id, NEW.batch_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'batch_stays_with_key';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER batch_stays_with_key BEFORE UPDATE ON batches FOR EACH ROW
WHEN (NEW.key_id IS NOT NULL AND NEW.key_id IS DISTINCT FROM OLD.key_id) EXECUTE FUNCTION batch_stays_with_key();

-- One row for each row of a batch. The request inserts it, and the process that feeds the batch updates it.
CREATE TABLE batch_rows (
  batch_id text NOT NULL REFERENCES batches ON DELETE CASCADE,
  -- Counted from 1.
  row integer NOT NULL CHECK (row > 0),
  -- The run's request. It is deleted when the row ends, because the run has the input then. A blocked row keeps it, so that it can run again.
  request json,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'succeeded', 'no_match', 'failed', 'blocked', 'invalid', 'cancelled')),
  run_id text,
  charged bigint CHECK (charged >= 0),
  -- Of a row that made no run. It may quote the request.
  error json,
  -- Runs of this row that were blocked, and were retried. Part of the row's Idempotency-Key.
  retries integer NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, row),
  CONSTRAINT batch_rows_request CHECK (status = 'blocked' OR (request IS NOT NULL) = (status IN ('pending', 'running')))
) WITH (fillfactor = 70);
CREATE INDEX batch_rows_open ON batch_rows (batch_id, row) WHERE status IN ('pending', 'running');
CREATE INDEX batch_rows_errors ON batch_rows (batch_id, row) WHERE error IS NOT NULL;
