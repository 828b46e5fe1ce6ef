-- Payments into wallets, what the processor said of them, and automatic top-ups.
--
-- A `topup` on the ledger needs a paid payment of that organization, amount and name: it holds whatever the service believes.

-- One row for each payment that was begun. Checkouts and automatic top-ups insert it, and the processor's events change its state.
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
  -- When the payment worker looks at an open one again, and how often it has.
  look_at timestamptz NOT NULL DEFAULT now(),
  looks integer NOT NULL DEFAULT 0,
  -- What the processor recognizes the card by. A welcome bonus is granted once per card.
  card text,
  CONSTRAINT payment_clawback CHECK (clawed_back = 0 OR state = 'paid')
);
CREATE INDEX payments_org ON payments (org_id, payment_id);
CREATE INDEX payments_open ON payments (look_at) WHERE state = 'open';
-- One charge in flight per wallet.
CREATE UNIQUE INDEX payments_one_charge ON payments (org_id) WHERE kind = 'auto' AND state = 'open';

CREATE FUNCTION payment_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'payment % keeps its owner, kind and amount, and once paid it stays paid', OLD.payment_id USING ERRCODE = 'check_violation'; END $$;
CREATE TRIGGER payment_stays BEFORE UPDATE ON payments FOR EACH ROW
WHEN ((NEW.payment_id, NEW.org_id, NEW.kind, NEW.amount) IS DISTINCT FROM (OLD.payment_id, OLD.org_id, OLD.kind, OLD.amount)
      OR (OLD.state = 'paid' AND (NEW.state, NEW.session_id, NEW.payment_intent) IS DISTINCT FROM (OLD.state, OLD.session_id, OLD.payment_intent)))
EXECUTE FUNCTION payment_stays();
CREATE TRIGGER payment_is_real BEFORE INSERT ON payments FOR EACH ROW
WHEN (NEW.kind = 'simulated' OR left(NEW.session_id, 7) = 'cs_sim_' OR left(NEW.payment_intent, 7) = 'pi_sim_')
EXECUTE FUNCTION money_is_real();
CREATE TRIGGER payment_was_real BEFORE UPDATE ON payments FOR EACH ROW
WHEN (NEW.state = 'paid' AND OLD.state <> 'paid'
      AND (NEW.kind = 'simulated' OR left(NEW.session_id, 7) = 'cs_sim_' OR left(NEW.payment_intent, 7) = 'pi_sim_'))
EXECUTE FUNCTION money_is_real();

-- Events of the processor that were applied: each acts once, in the statement that acts. Turns write it.
CREATE TABLE payment_events (
  event_id text PRIMARY KEY,
  payment_id text NOT NULL,
  org_id text NOT NULL,
  fact text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('credited', 'applied', 'repeated', 'ignored', 'mismatch')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX payment_events_payment ON payment_events (payment_id);

-- One row for each refund and dispute at the processor. Turns write it.
CREATE TABLE payment_reversals (
  reversal_id text PRIMARY KEY,
  payment_id text NOT NULL REFERENCES payments,
  -- The charge that it takes back: only the one that was credited counts.
  payment_intent text,
  kind text NOT NULL CHECK (kind IN ('refund', 'dispute')),
  amount bigint NOT NULL CHECK (amount > 0),
  standing text NOT NULL CHECK (standing IN ('noticed', 'taken', 'returned'))
);
CREATE INDEX payment_reversals_payment ON payment_reversals (payment_id);

-- The method that an organization's last checkout has saved. Turns write it. payment_method is null until the payment worker has asked the
-- processor for it.
CREATE TABLE payment_methods (
  org_id text PRIMARY KEY REFERENCES orgs,
  customer text NOT NULL,
  payment_intent text NOT NULL,
  payment_method text,
  label text
);

-- One row for each organization with automatic top-ups: the setting, and where a charge stands. Turns write it.
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
  -- The daily maximum as it was at the newest charge, or day_total if a late success made it larger.
  day_max bigint NOT NULL CHECK (day_total <= day_max),
  CONSTRAINT auto_topup_waits CHECK ((state = 'waiting') = (retry_at IS NOT NULL))
);
CREATE INDEX auto_topups_waiting ON auto_topups (retry_at) WHERE state = 'waiting';

CREATE FUNCTION audit_auto_topup() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was jsonb := CASE WHEN TG_OP = 'UPDATE' THEN
    jsonb_build_object('enabled', OLD.enabled, 'threshold', audit_usd(OLD.threshold), 'amount', audit_usd(OLD.amount)) END;
  becomes jsonb := jsonb_build_object('enabled', NEW.enabled, 'threshold', audit_usd(NEW.threshold), 'amount', audit_usd(NEW.amount));
BEGIN
  IF was IS DISTINCT FROM becomes THEN
    PERFORM audit_write(audit_command_actor(NEW.org_id, 'AutoTopup', ''), NEW.org_id, 'auto_topup.changed', NEW.org_id,
                        audit_changed(was, becomes), coalesce(audit_changed(becomes, was), becomes));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON auto_topups FOR EACH ROW EXECUTE FUNCTION audit_auto_topup();

-- How far the processor's own record of events has been read, and when somebody last set out to read it. The payment worker writes it.
CREATE TABLE processor_cursors (
  processor text PRIMARY KEY,
  read_to timestamptz NOT NULL,
  begun_at timestamptz NOT NULL
);
