/**
 * The mode of this database, runs that cost more than they charged, and calls whose outcome nobody knows.
 *
 * The mode is written once and never changes. In production triggers refuse simulated money, whichever process writes it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const mode = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE service_mode (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      mode text NOT NULL CHECK (mode IN ('sandbox', 'production')),
      set_at timestamptz NOT NULL DEFAULT now()
    )`
  // A live key or a payment at a real processor exists in production only.
  yield* sql`
    INSERT INTO service_mode (mode)
    SELECT 'production' WHERE EXISTS (SELECT FROM api_keys WHERE environment = 'live')
      OR EXISTS (SELECT FROM payments WHERE kind <> 'simulated' AND state = 'paid' AND payment_intent IS NOT NULL
                   AND left(payment_intent, 7) <> 'pi_sim_')`
  yield* sql`
    CREATE FUNCTION service_mode_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the mode of a database never changes: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$`
  yield* sql`
    CREATE TRIGGER service_mode_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON service_mode FOR EACH STATEMENT
    EXECUTE FUNCTION service_mode_stays()`
  yield* sql`
    CREATE FUNCTION money_is_real() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM service_mode WHERE mode = 'production') THEN
        RAISE EXCEPTION 'a production database accepts no simulated money (%)', TG_TABLE_NAME USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER payment_is_real BEFORE INSERT ON payments FOR EACH ROW
    WHEN (NEW.kind = 'simulated' OR left(NEW.session_id, 7) = 'cs_sim_' OR left(NEW.payment_intent, 7) = 'pi_sim_')
    EXECUTE FUNCTION money_is_real()`
  yield* sql`
    CREATE TRIGGER payment_was_real BEFORE UPDATE ON payments FOR EACH ROW
    WHEN (NEW.state = 'paid' AND OLD.state <> 'paid'
          AND (NEW.kind = 'simulated' OR left(NEW.session_id, 7) = 'cs_sim_' OR left(NEW.payment_intent, 7) = 'pi_sim_'))
    EXECUTE FUNCTION money_is_real()`
  yield* sql`
    CREATE TRIGGER credit_is_real BEFORE INSERT ON ledger FOR EACH ROW
    WHEN (NEW.type = 'bonus' AND left(NEW.reference, 10) = 'simulated:') EXECUTE FUNCTION money_is_real()`
})

const losses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
    )`
  yield* sql`CREATE INDEX losses_at ON losses (at DESC, run_id DESC)`
  yield* sql`CREATE INDEX losses_org ON losses (org_id, at DESC)`
  // Sums that a scrape of the metrics reads. A lane has rows of its own, so that two lanes never wait for each other.
  yield* sql`
    CREATE TABLE loss_sums (
      provider text NOT NULL,
      reason text NOT NULL,
      lane smallint NOT NULL,
      runs bigint NOT NULL CHECK (runs > 0),
      loss bigint NOT NULL CHECK (loss > 0),
      PRIMARY KEY (provider, reason, lane)
    ) WITH (fillfactor = 50)`
  yield* sql`
    INSERT INTO losses (run_id, org_id, provider, reason, charge, cost, at)
    SELECT run_id, org_id, provider,
           CASE WHEN coalesce(charged, 0) = 0 THEN 'failed_attempts' WHEN charged = hold THEN 'clipped_by_hold' ELSE 'below_cost' END,
           coalesce(charged, 0), provider_cost, finished_at
    FROM runs WHERE provider_cost > coalesce(charged, 0)`
  yield* sql`
    INSERT INTO loss_sums (provider, reason, lane, runs, loss)
    SELECT coalesce(provider, ''), reason, 0, count(*), sum(loss) FROM losses GROUP BY 1, 2`
})

const unknown = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
      CONSTRAINT outcome_found CHECK ((finding IS NULL) = (found_at IS NULL) AND (finding IS NULL) = (note IS NULL))
    )`
  yield* sql`CREATE INDEX unknown_outcomes_open ON unknown_outcomes (at DESC, run_id DESC) WHERE finding IS NULL`
  yield* sql`CREATE INDEX unknown_outcomes_org ON unknown_outcomes (org_id, at DESC)`
})

export const outcomes = Effect.gen(function* () {
  yield* mode
  yield* losses
  yield* unknown
})
