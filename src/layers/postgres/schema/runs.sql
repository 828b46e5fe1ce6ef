-- Runs, the actors' mailbox, and what a run leaves behind.
--
-- `runs` is the record, written when a run is admitted and when it ends. In between its state is its row in `open_runs`, a
-- small table in which everything that must be found quickly is found. `mailbox` holds commands until a turn applies them.
-- No foreign keys on these tables: each insert would lock the same organization's row, which is what a hot wallet can't afford.

-- One row for each run. Its admission inserts it and the turn that ends it updates it; erasure takes its input and result out.
-- It has one partition for each month, by the time in its id (partitions.sql).
-- `json`, not `jsonb`: a provider's payload comes back byte for byte as it came in.
CREATE TABLE runs (
  org_id text NOT NULL,
  run_id text NOT NULL,
  key_id text,
  request_id text NOT NULL,
  idempotency_key text,
  fingerprint text NOT NULL,
  kind text NOT NULL,
  capability text,
  endpoint text,
  provider text,
  -- 'created' until it is final: what it does meanwhile is said by open_runs.state.
  status text NOT NULL DEFAULT 'created',
  hold bigint NOT NULL,
  quoted bigint NOT NULL,
  charged bigint,
  input json NOT NULL,
  plan json NOT NULL,
  routing_reason text NOT NULL,
  attempts json,
  result json,
  error_code text,
  error_message text,
  hints json,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  -- What the provider took for the run, whatever its caller was charged; null when no provider named or priced it.
  provider_cost bigint,
  -- When a run's input and result were erased on request or for their age. Its ledger entries stay.
  erased_at timestamptz,
  -- Set by statements that put the run's Idempotency-Key into idempotency_keys themselves. Others leave it to a trigger.
  key_claimed boolean,
  -- The budget that the run counts against; fixed at admission.
  budget_id text,
  -- Which control blocked the run, where its error code does not say it.
  control text,
  -- The labels that a caller gave a run. Null when it gave none.
  metadata jsonb,
  -- A digest of target and input (schema/guards/InputHash.ts).
  input_hash text,
  -- The run whose result this run got without a purchase.
  reused_from text,
  PRIMARY KEY (org_id, run_id)
) PARTITION BY RANGE (run_id);

-- The rules of a run's row, in a trigger instead of CHECKs: PostgreSQL parses each stored CHECK again for every statement that writes the table,
-- and a run needs two such statements. A PL/pgSQL function is parsed once for each connection. A broken rule is reported by its name, as a
-- CHECK's is. As in a CHECK, a rule that is null holds.
--
-- A raw run holds at least what its rate card says it costs, and something where there is no rate card. This is the second place of a rule of
-- schema/runs/RawHold.ts: whatever a process computes, no raw run without a hold enters unless its rate card says $0. The marketplace enforces
-- an actor's cap, so an actor may hold less than its estimate.
CREATE FUNCTION run_rules() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE broken text := CASE
  WHEN NOT (NEW.kind IN ('capability', 'endpoint')) THEN 'runs_kind_check'
  WHEN NOT ((NEW.kind = 'capability') = (NEW.capability IS NOT NULL) AND (NEW.kind = 'endpoint') = (NEW.endpoint IS NOT NULL)) THEN 'run_kind'
  WHEN NOT (NEW.status IN ('created', 'succeeded', 'no_match', 'failed', 'timed_out', 'blocked', 'cancelled')) THEN 'runs_status_check'
  WHEN NOT ((NEW.finished_at IS NOT NULL) = (NEW.status <> 'created')) THEN 'run_finished'
  WHEN NOT (NEW.hold >= 0) THEN 'runs_hold_check'
  WHEN NOT (NEW.quoted >= 0) THEN 'runs_quoted_check'
  WHEN NOT (NEW.charged >= 0 AND NEW.charged <= NEW.hold) THEN 'run_charge'
  WHEN NOT (NEW.charged IS NULL OR NEW.status IN ('succeeded', 'no_match')) THEN 'run_charged_only_when_delivered'
  WHEN NOT (NEW.provider_cost >= 0) THEN 'runs_provider_cost_check'
  WHEN NOT (length(NEW.idempotency_key) BETWEEN 1 AND 255) THEN 'runs_idempotency_key_check' END;
BEGIN
  IF broken IS NOT NULL THEN
    RAISE EXCEPTION 'run % breaks the rule %', NEW.run_id, broken
      USING ERRCODE = 'check_violation', CONSTRAINT = broken, TABLE = TG_TABLE_NAME;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF OLD.finished_at IS NOT NULL AND (NEW.status IS DISTINCT FROM OLD.status OR NEW.charged IS DISTINCT FROM OLD.charged) THEN
      RAISE EXCEPTION 'run % is final (%)', OLD.run_id, OLD.status USING ERRCODE = 'check_violation';
    END IF;
  ELSIF NEW.kind = 'endpoint' AND NEW.status = 'created' THEN
    -- Not asked when a run ends or is erased: what has ended can cost nothing any more.
    IF NEW.hold < (CASE NEW.plan #>> '{raw,body_type}' WHEN 'actor_input' THEN 1
                   ELSE coalesce((NEW.plan #>> '{raw,estimate}')::numeric * 1000000, 1) END) THEN
      RAISE EXCEPTION 'run % holds less than its rate card says', NEW.run_id USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER run_rules BEFORE INSERT OR UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION run_rules();

-- An index of runs by their labels, for the filter `metadata.<name>` of `GET /v1/runs`: one row for each label of a run. Triggers write it, and
-- erasing a run's metadata deletes its rows. A run without labels costs nothing. It is a table and not an index of `runs`: a page of the newest
-- runs with a common label reads a page of rows, where a GIN index would read and sort every run that has the label.
CREATE TABLE run_labels (
  org_id text NOT NULL,
  label bytea NOT NULL CHECK (length(label) = 16),
  run_id text NOT NULL,
  PRIMARY KEY (org_id, label, run_id)
);

-- Values may have 500 characters, so the index has a digest of name and value. No name contains "=".
CREATE FUNCTION run_label(name text, value text) RETURNS bytea LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT substr(sha256(convert_to(name || '=' || value, 'UTF8')), 1, 16) $$;

CREATE FUNCTION run_is_labelled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM run_labels l USING jsonb_each_text(OLD.metadata) AS one
    WHERE l.org_id = OLD.org_id AND l.label = run_label(one.key, one.value) AND l.run_id = OLD.run_id;
  END IF;
  INSERT INTO run_labels (org_id, label, run_id)
  SELECT NEW.org_id, run_label(one.key, one.value), NEW.run_id FROM jsonb_each_text(NEW.metadata) AS one
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER run_is_labelled AFTER INSERT ON runs FOR EACH ROW WHEN (NEW.metadata IS NOT NULL)
EXECUTE FUNCTION run_is_labelled();
CREATE TRIGGER run_is_relabelled AFTER UPDATE OF metadata ON runs FOR EACH ROW WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata)
EXECUTE FUNCTION run_is_labelled();

-- One row for each run that is queued or running. Its admission inserts it, the worker that executes it updates it, and the end deletes it.
CREATE TABLE open_runs (
  run_id text PRIMARY KEY,
  org_id text NOT NULL,
  hold bigint NOT NULL CHECK (hold >= 0),
  -- waiting: until a member approves it (approvals.sql). Only then it is queued, so nothing that looks for queued runs finds it.
  state text NOT NULL CHECK (state IN ('queued', 'running', 'waiting')),
  side_effect boolean NOT NULL,
  worker_id text,
  lease_token text,
  attempts json NOT NULL DEFAULT '[]',
  -- Queued or leased since.
  since timestamptz NOT NULL DEFAULT now(),
  -- What a running attempt has started at its provider, so that a restart goes on with it instead of starting it again.
  job json,
  -- Whom the run asks next.
  provider text NOT NULL DEFAULT '',
  free boolean GENERATED ALWAYS AS (hold = 0) STORED,
  -- What it may store at no charge. Null for a run that is always charged.
  free_bytes bigint,
  -- The budgets of labels that hold its money too. Null: none does.
  label_budgets text[],
  CONSTRAINT open_run_lease CHECK ((state = 'running') = (lease_token IS NOT NULL) AND (state = 'running') = (worker_id IS NOT NULL)),
  CONSTRAINT open_run_free_bytes CHECK (free_bytes > 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
-- Queued runs are found by organization and provider, so that a worker claims them in turns.
CREATE INDEX open_runs_waiting ON open_runs (org_id, provider, free, since) WHERE state = 'queued';
CREATE INDEX open_runs_free ON open_runs (org_id) INCLUDE (free_bytes) WHERE free_bytes IS NOT NULL;

-- What runs without a price store: one row for each organization, with today's bytes. Turns write it.
CREATE TABLE free_storage (
  org_id text PRIMARY KEY,
  -- The UTC day that bytes counts.
  day date NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0)
) WITH (fillfactor = 50);

-- One row for each command that waits for its wallet's turn. Whoever sends a command inserts it, and the turn deletes it.
CREATE TABLE mailbox (
  lane smallint NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  -- Set when somebody waits for the reply.
  command_id text,
  org_id text NOT NULL,
  run_id text,
  tag text NOT NULL,
  payload json,
  result json,
  attempts smallint NOT NULL DEFAULT 0,
  parked text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (lane, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE TRIGGER audited_command BEFORE DELETE ON mailbox FOR EACH ROW
WHEN (OLD.tag IN ('AutoTopup', 'Credit')) EXECUTE FUNCTION audit_command();

-- The reason of a dead letter can contain internals. Admins of the organization read the log, so its entry has the kind of the command only.
CREATE FUNCTION audit_retry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM audit_write(audit_actor(), NEW.org_id, 'command.retried', coalesce(NEW.run_id, NEW.org_id), NULL,
                      jsonb_build_object('command', NEW.tag));
  RETURN NULL;
END $$;
-- False for every update of a turn or a sweep, which then costs one comparison.
CREATE TRIGGER audited_retry AFTER UPDATE ON mailbox FOR EACH ROW
WHEN (OLD.parked IS NOT NULL AND NEW.parked IS NULL) EXECUTE FUNCTION audit_retry();

-- One row for each reply that its command's sender has not read yet. Turns write it, and workers delete old ones.
CREATE TABLE replies (
  command_id text PRIMARY KEY,
  reply json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A turn that meets another one is undone by an error of its own, so that errors of class 22 (a string that Postgres can't read) are a
-- command's fault and nothing else.
-- Volatile: a call that the planner could make in advance would undo every turn.
CREATE FUNCTION rungate_turn_conflict() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN RAISE EXCEPTION 'another turn has changed what this one has read' USING ERRCODE = 'RG001'; END $$;

-- Open runs of organizations: those that a turn has opened, and those that wait for their turn.
CREATE FUNCTION open_runs_of(orgs text[]) RETURNS TABLE (org_id text, runs bigint) LANGUAGE sql VOLATILE AS $$
  WITH asked AS (SELECT w.org_id, w.lane, w.open_runs FROM wallets w WHERE w.org_id = ANY(orgs)),
       waiting AS (
         SELECT m.org_id, count(*) AS runs FROM mailbox m
         WHERE m.lane IN (SELECT lane FROM asked) AND m.tag = 'Reserve' AND m.parked IS NULL GROUP BY m.org_id)
  SELECT a.org_id, a.open_runs + coalesce(n.runs, 0) FROM asked a LEFT JOIN waiting n ON n.org_id = a.org_id
$$;

-- How many more runs each organization may have, decided one process after the other where it becomes tight: below a quarter of
-- the limit nobody waits for a lock. An admission that takes no lock is not counted by others while it is under way. Where a limit is small,
-- such admissions together could exceed it, so small limits are always counted under the lock.
-- Volatile, so what is counted after the lock is what the lock's last holder has committed.
CREATE FUNCTION room_for_runs(orgs text[], asked bigint[], most bigint) RETURNS TABLE (org_id text, room bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE tight text[]; names text[]; counts bigint[];
BEGIN
  IF most < 200 THEN
    tight := orgs;
  ELSE
    SELECT array_agg(o.org_id), array_agg(o.runs), array_agg(o.org_id) FILTER (WHERE 4 * (o.runs + n.asked) > most)
    INTO names, counts, tight
    FROM open_runs_of(orgs) o JOIN unnest(orgs, asked) AS n(org_id, asked) ON n.org_id = o.org_id;
  END IF;
  IF tight IS NULL THEN
    RETURN QUERY SELECT c.org_id, most - c.runs FROM unnest(names, counts) AS c(org_id, runs);
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext(current_schema()), k.key) FROM (SELECT DISTINCT hashtext(t) AS key FROM unnest(tight) t ORDER BY 1) k;
  RETURN QUERY SELECT o.org_id, most - o.runs FROM open_runs_of(orgs) o;
END $$;

-- One row for each run that cost more than it charged. The turn that ends the run writes it.
CREATE TABLE losses (
  run_id text PRIMARY KEY,
  org_id text NOT NULL,
  -- Who was paid most of what the run's charge does not cover.
  provider text,
  reason text NOT NULL CHECK (reason IN ('failed_attempts', 'clipped_by_hold', 'below_cost')),
  -- Whether the providers reported all of the cost. Null for runs from before this was recorded.
  measured boolean,
  charge bigint NOT NULL CHECK (charge >= 0),
  cost bigint NOT NULL,
  loss bigint GENERATED ALWAYS AS (cost - charge) STORED,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT loss_is_one CHECK (cost > charge)
);
CREATE INDEX losses_at ON losses (at DESC, run_id DESC);
CREATE INDEX losses_org ON losses (org_id, at DESC);

-- Sums of the losses that a scrape of the metrics reads. Turns write them. A lane has rows of its own, so that two lanes never wait for each other.
CREATE TABLE loss_sums (
  provider text NOT NULL,
  reason text NOT NULL,
  lane smallint NOT NULL,
  runs bigint NOT NULL CHECK (runs > 0),
  loss bigint NOT NULL CHECK (loss > 0),
  PRIMARY KEY (provider, reason, lane)
) WITH (fillfactor = 50);

-- One row for each call whose outcome nobody knows. The turn that ends its run writes it; a look-up or an operator adds what was found out.
CREATE TABLE unknown_outcomes (
  run_id text PRIMARY KEY,
  org_id text NOT NULL,
  provider text NOT NULL,
  why text NOT NULL CHECK (why IN ('worker_lost', 'no_answer', 'unreadable_answer', 'server_error')),
  -- What the provider's own record names the call by, as far as it was told: the state of a job that was started.
  provider_state json,
  at timestamptz NOT NULL DEFAULT now(),
  -- What an operator found out later. Money never moves by it.
  finding text CHECK (finding IN ('delivered', 'not_delivered')),
  note text CHECK (length(note) BETWEEN 1 AND 500),
  found_at timestamptz,
  -- When the call is looked up at its provider, by the run id that was sent with it. Null: the provider can't be asked about this call.
  look_after timestamptz,
  looks smallint NOT NULL DEFAULT 0 CHECK (looks >= 0),
  look_failed boolean NOT NULL DEFAULT false,
  CONSTRAINT outcome_found CHECK ((finding IS NULL) = (found_at IS NULL) AND (finding IS NULL) = (note IS NULL))
);
CREATE INDEX unknown_outcomes_open ON unknown_outcomes (at DESC, run_id DESC) WHERE finding IS NULL;
CREATE INDEX unknown_outcomes_org ON unknown_outcomes (org_id, at DESC);
CREATE INDEX unknown_outcomes_look ON unknown_outcomes (look_after) WHERE finding IS NULL AND look_after IS NOT NULL;
CREATE TRIGGER audited AFTER UPDATE ON unknown_outcomes FOR EACH ROW
WHEN (OLD.finding IS NULL AND NEW.finding IS NOT NULL)
EXECUTE FUNCTION audit_row('outcome', 'run_id', 'run_id,org_id,created_at,found_at', 'known');
