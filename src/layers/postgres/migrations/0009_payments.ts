/**
 * Payments into wallets, what the processor said of them, and automatic top-ups.
 *
 * A `topup` on the ledger needs a paid payment of that organization, amount and name, and available may fall below zero by what was
 * clawed back and by nothing else: both hold whatever the service believes.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const payments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payments (
      payment_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      kind text NOT NULL CHECK (kind IN ('checkout', 'auto', 'simulated')),
      -- Processors count in cents.
      amount bigint NOT NULL CHECK (amount > 0 AND amount % 10000 = 0),
      state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'paid', 'failed', 'expired')),
      session_id text UNIQUE,
      payment_intent text UNIQUE,
      clawed_back bigint NOT NULL DEFAULT 0 CHECK (clawed_back BETWEEN 0 AND amount),
      failure text,
      -- What an automatic charge is made with; kept, so that asking again asks for the same.
      customer text,
      payment_method text,
      created_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz,
      -- When the cashier looks at an open one again, and how often it has.
      look_at timestamptz NOT NULL DEFAULT now(),
      looks integer NOT NULL DEFAULT 0,
      CONSTRAINT payment_clawback CHECK (clawed_back = 0 OR state = 'paid')
    )`
  yield* sql`CREATE INDEX payments_org ON payments (org_id, payment_id)`
  yield* sql`CREATE INDEX payments_open ON payments (look_at) WHERE state = 'open'`
  // One charge in flight per wallet.
  yield* sql`CREATE UNIQUE INDEX payments_one_charge ON payments (org_id) WHERE kind = 'auto' AND state = 'open'`
  yield* sql`
    CREATE FUNCTION payment_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'payment % keeps its owner, kind and amount, and once paid it stays paid', OLD.payment_id USING ERRCODE = 'check_violation'; END $$`
  yield* sql`
    CREATE TRIGGER payment_stays BEFORE UPDATE ON payments FOR EACH ROW
    WHEN ((NEW.payment_id, NEW.org_id, NEW.kind, NEW.amount) IS DISTINCT FROM (OLD.payment_id, OLD.org_id, OLD.kind, OLD.amount)
          OR (OLD.state = 'paid' AND (NEW.state, NEW.session_id, NEW.payment_intent) IS DISTINCT FROM (OLD.state, OLD.session_id, OLD.payment_intent)))
    EXECUTE FUNCTION payment_stays()`
  // Events that were applied: each acts once, in the statement that acts.
  yield* sql`
    CREATE TABLE payment_events (
      event_id text PRIMARY KEY,
      payment_id text NOT NULL,
      org_id text NOT NULL,
      fact text NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('credited', 'applied', 'repeated', 'ignored', 'mismatch')),
      created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`CREATE INDEX payment_events_payment ON payment_events (payment_id)`
  yield* sql`
    CREATE TABLE payment_reversals (
      reversal_id text PRIMARY KEY,
      payment_id text NOT NULL REFERENCES payments,
      -- The charge that it takes back: only the one that was credited counts.
      payment_intent text,
      kind text NOT NULL CHECK (kind IN ('refund', 'dispute')),
      amount bigint NOT NULL CHECK (amount > 0),
      standing text NOT NULL CHECK (standing IN ('noticed', 'taken', 'returned'))
    )`
  yield* sql`CREATE INDEX payment_reversals_payment ON payment_reversals (payment_id)`
  // The method that an organization's last checkout has saved. payment_method is null until somebody asked the processor for it.
  yield* sql`
    CREATE TABLE payment_methods (
      org_id text PRIMARY KEY REFERENCES orgs,
      customer text NOT NULL,
      payment_intent text NOT NULL,
      payment_method text,
      label text
    )`
  yield* sql`
    CREATE TABLE auto_topups (
      org_id text PRIMARY KEY REFERENCES orgs,
      enabled boolean NOT NULL,
      threshold bigint NOT NULL CHECK (threshold >= 0),
      amount bigint NOT NULL CHECK (amount > 0 AND amount % 10000 = 0),
      state text NOT NULL CHECK (state IN ('idle', 'charging', 'waiting')),
      failures integer NOT NULL CHECK (failures >= 0),
      last_error text,
      retry_at timestamptz,
      day date NOT NULL,
      day_total bigint NOT NULL CHECK (day_total >= 0),
      -- The daily maximum as it was when day_total last grew.
      day_max bigint NOT NULL CHECK (day_total <= day_max),
      CONSTRAINT auto_topup_waits CHECK ((state = 'waiting') = (retry_at IS NOT NULL))
    )`
  yield* sql`CREATE INDEX auto_topups_waiting ON auto_topups (retry_at) WHERE state = 'waiting'`
  // How far the processor's own record of events has been read, and when somebody last set out to read it.
  yield* sql`
    CREATE TABLE processor_cursors (
      processor text PRIMARY KEY,
      read_to timestamptz NOT NULL,
      begun_at timestamptz NOT NULL
    )`

  // Simulated top-ups of earlier versions were credits without a payment.
  yield* sql`
    INSERT INTO payments (payment_id, org_id, kind, amount, state, session_id, created_at, ended_at)
    SELECT 'pay_' || substr(txn_id, 5), org_id, 'simulated', amount, 'paid', reference, created_at, created_at
    FROM ledger WHERE type = 'topup' AND amount % 10000 = 0`
  yield* sql`
    CREATE FUNCTION topup_is_paid() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM payments p WHERE p.org_id = NEW.org_id AND p.state = 'paid' AND p.amount = NEW.amount
                       AND coalesce(p.session_id, p.payment_intent, p.payment_id) = NEW.reference) THEN
        RAISE EXCEPTION 'top-up % of % has no paid payment', NEW.reference, NEW.org_id USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER topup_is_paid AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.type = 'topup') EXECUTE FUNCTION topup_is_paid()`

  yield* sql`ALTER TABLE wallets DROP CONSTRAINT wallet_solvent`
  yield* sql`
    CREATE FUNCTION wallet_solvent() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE clawed numeric;
    BEGIN
      SELECT coalesce(-sum(amount), 0) INTO clawed FROM ledger
      WHERE org_id = NEW.org_id AND seq > OLD.entry_seq AND seq <= NEW.entry_seq AND type = 'refund' AND amount < 0;
      IF NEW.balance - NEW.reserved < least(0, OLD.balance - OLD.reserved) - clawed THEN
        RAISE EXCEPTION 'wallet_solvent: % would have % available', NEW.org_id, NEW.balance - NEW.reserved USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER wallet_solvent AFTER UPDATE ON wallets FOR EACH ROW WHEN (NEW.balance < NEW.reserved)
    EXECUTE FUNCTION wallet_solvent()`
})
