/**
 * Runs, the actors' mailbox and the leases of execution.
 *
 * `runs` is the record, written when a run is admitted and when it ends. In between its state is its row in `open_runs`, a
 * small table in which everything that must be found quickly is found. `mailbox` holds commands until a turn applies them.
 * No foreign keys on these tables: each insert would lock the same organization's row, which is what a hot wallet can't afford.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const runs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // `json`, not `jsonb`: a provider's payload comes back byte for byte as it came in.
  yield* sql`
    CREATE TABLE runs (
      org_id text NOT NULL,
      run_id text NOT NULL,
      key_id text,
      request_id text NOT NULL,
      idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 255),
      fingerprint text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('capability', 'endpoint')),
      capability text,
      endpoint text,
      provider text,
      -- 'created' until it is final: what it does meanwhile is said by open_runs.state.
      status text NOT NULL DEFAULT 'created' CHECK (status IN ('created', 'succeeded', 'no_match', 'failed', 'timed_out',
        'blocked', 'cancelled')),
      hold bigint NOT NULL CHECK (hold >= 0),
      quoted bigint NOT NULL CHECK (quoted >= 0),
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
      PRIMARY KEY (org_id, run_id),
      CONSTRAINT run_kind CHECK ((kind = 'capability') = (capability IS NOT NULL) AND (kind = 'endpoint') = (endpoint IS NOT NULL)),
      CONSTRAINT run_charge CHECK (charged IS NULL OR (charged BETWEEN 0 AND hold)),
      CONSTRAINT run_charged_only_when_delivered CHECK (charged IS NULL OR status IN ('succeeded', 'no_match')),
      CONSTRAINT run_finished CHECK (
        (finished_at IS NOT NULL) = (status <> 'created'))
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE UNIQUE INDEX runs_idempotency ON runs (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL`
  yield* sql`
    CREATE FUNCTION run_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'run % is final (%)', OLD.run_id, OLD.status USING ERRCODE = 'check_violation'; END $$`
  yield* sql`
    CREATE TRIGGER run_is_final BEFORE UPDATE ON runs FOR EACH ROW
    WHEN (OLD.finished_at IS NOT NULL AND (NEW.status, NEW.charged) IS DISTINCT FROM (OLD.status, OLD.charged))
    EXECUTE FUNCTION run_is_final()`
  yield* sql`
    CREATE TABLE open_runs (
      run_id text PRIMARY KEY,
      org_id text NOT NULL,
      hold bigint NOT NULL CHECK (hold >= 0),
      state text NOT NULL CHECK (state IN ('queued', 'running')),
      side_effect boolean NOT NULL,
      worker_id text,
      lease_token text,
      attempts json NOT NULL DEFAULT '[]',
      -- Queued or leased since.
      since timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT open_run_lease CHECK ((state = 'running') = (lease_token IS NOT NULL) AND (state = 'running') = (worker_id IS NOT NULL))
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000)`
  yield* sql`CREATE INDEX open_runs_queued ON open_runs (since) WHERE state = 'queued'`
  yield* sql`
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
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000)`
  yield* sql`
    CREATE TABLE replies (
      command_id text PRIMARY KEY,
      reply json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`
    CREATE TABLE workers (
      worker_id text PRIMARY KEY,
      started_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    )`
})
