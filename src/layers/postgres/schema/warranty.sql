-- The outcome warranty: disputes, refunds, and the limit on all refunds together.
--
-- The rules of schema/wallet/Warranty.ts stand here again. A refund needs a charged run that vouched for an address; refunds of 30 days are
-- at most a share of the charges of these days; and the ledger takes a refund of the warranty only if it was decided.

-- One row: the fund after the last refund. The trigger of refunds writes it. Each refund locks it, so that refunds of all organizations are
-- decided one after the other.
CREATE TABLE warranty_fund (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- Of the 30 days before the last refund.
  revenue bigint NOT NULL DEFAULT 0 CHECK (revenue >= 0),
  refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  share_bps int NOT NULL DEFAULT 0 CHECK (share_bps BETWEEN 0 AND 10000),
  CONSTRAINT warranty_within_share CHECK (refunded::numeric * 10000 <= revenue::numeric * share_bps)
);
INSERT INTO warranty_fund DEFAULT VALUES;

-- One row for each refund. The warranty worker or an operator writes it, and it never changes.
CREATE TABLE warranty_refunds (
  run_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  amount bigint NOT NULL CHECK (amount > 0),
  -- The run that sent the message of which the provider says that it bounced. Null: an operator accepted the dispute.
  send_run text,
  share_bps int NOT NULL CHECK (share_bps BETWEEN 1 AND 10000),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX warranty_refunds_org ON warranty_refunds (org_id);
CREATE INDEX warranty_refunds_age ON warranty_refunds (created_at);

-- One row for each run that a customer disputed, or whose message bounced. Customers, the warranty worker and operators write it.
CREATE TABLE warranty_disputes (
  run_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  reason text NOT NULL CHECK (reason = 'bounced'),
  -- A run id, or a text for the operator. Null after the run was erased, and for a bounce that the service found by itself.
  evidence text CHECK (char_length(evidence) <= 2000),
  state text NOT NULL CHECK (state IN ('pending', 'not_bounced', 'refunded', 'refused')),
  note text NOT NULL,
  -- When a provider was last asked.
  asked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_at timestamptz,
  -- A dispute is refunded if and only if there is the refund.
  refund_of text GENERATED ALWAYS AS (CASE WHEN state = 'refunded' THEN run_id END) STORED REFERENCES warranty_refunds,
  -- How often a provider was asked, and when it may next be asked.
  asks int NOT NULL DEFAULT 0,
  ask_after timestamptz,
  CONSTRAINT warranty_disputes_asks CHECK (asks >= 0)
);
CREATE INDEX warranty_disputes_pending ON warranty_disputes (run_id) WHERE state = 'pending';
-- Runs about which an organization had providers asked in the last hour.
CREATE INDEX warranty_disputes_asked ON warranty_disputes (org_id, asked_at) WHERE asks > 0;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON warranty_disputes FOR EACH ROW
EXECUTE FUNCTION audit_row('dispute', 'run_id', 'run_id,org_id,created_at,evidence,asked_at,refund_of,asks,ask_after', 'known');

-- As of whole days, because usage is counted by the day.
CREATE FUNCTION warranty_days() RETURNS date LANGUAGE sql STABLE AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - 29 $$;

CREATE FUNCTION warranty_revenue() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(charged), 0)::bigint FROM usage_days WHERE name = '' AND day >= warranty_days() $$;

CREATE FUNCTION warranty_refunded() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0)::bigint FROM warranty_refunds WHERE created_at >= warranty_days() AT TIME ZONE 'UTC' $$;

CREATE FUNCTION warranty_revenue_of(org text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(charged), 0)::bigint FROM usage_days WHERE org_id = org AND name = '' AND day >= warranty_days() $$;

CREATE FUNCTION warranty_refunded_of(org text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0)::bigint FROM warranty_refunds
  WHERE org_id = org AND created_at >= warranty_days() AT TIME ZONE 'UTC' $$;

CREATE FUNCTION warranty_is_owed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE r record; disputed timestamptz; sent timestamptz;
BEGIN
  PERFORM FROM warranty_fund FOR UPDATE;
  SELECT status, capability, charged, reused_from, erased_at, finished_at, result ->> 'email_status' AS email_status,
         (attempts::jsonb -> -1) ->> 'account' AS account
  INTO r FROM runs WHERE org_id = NEW.org_id AND run_id = NEW.run_id;
  SELECT created_at INTO disputed FROM warranty_disputes WHERE run_id = NEW.run_id AND org_id = NEW.org_id;
  -- IS NOT TRUE: what is null, such as the charge of an open run, is not covered either.
  IF (r.status = 'succeeded' AND r.capability IN ('email.find', 'email.verify') AND r.email_status = 'valid' AND r.reused_from IS NULL
      AND r.account IS NULL AND r.erased_at IS NULL AND NEW.amount <= r.charged
      AND least(disputed, now()) <= r.finished_at + interval '7 days') IS NOT TRUE THEN
    RAISE EXCEPTION 'the warranty does not cover %', NEW.run_id USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.send_run IS NOT NULL THEN
    IF EXISTS (SELECT FROM warranty_disputes WHERE run_id = NEW.run_id AND state = 'refused') THEN
      RAISE EXCEPTION 'an operator refused the dispute of %', NEW.run_id USING ERRCODE = 'check_violation';
    END IF;
    -- A message that needed an approval is sent after it.
    SELECT coalesce(a.decided_at, s.created_at) INTO sent FROM runs s LEFT JOIN approvals a ON a.run_id = s.run_id
    WHERE s.org_id = NEW.org_id AND s.run_id = NEW.send_run AND s.status = 'succeeded';
    IF sent IS NULL OR sent < r.finished_at THEN
      RAISE EXCEPTION '% sent nothing after %', NEW.send_run, NEW.run_id USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  UPDATE warranty_fund SET share_bps = NEW.share_bps, revenue = warranty_revenue(), refunded = warranty_refunded() + NEW.amount;
  RETURN NEW;
END $$;
CREATE TRIGGER warranty_is_owed BEFORE INSERT ON warranty_refunds FOR EACH ROW EXECUTE FUNCTION warranty_is_owed();

-- Half of the warranty's fund is for organizations within their own share: the operator's share of what they were charged themselves. So one
-- whose addresses bounce does not use up what is meant for the others.
-- After warranty_is_owed, which adds the refund to the fund: triggers fire in the order of their names.
CREATE FUNCTION warranty_own_share() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE f record;
BEGIN
  SELECT * INTO f FROM warranty_fund;
  IF f.refunded::numeric * 2 * 10000 > f.revenue::numeric * f.share_bps
    AND (warranty_refunded_of(NEW.org_id) + NEW.amount)::numeric * 10000 > warranty_revenue_of(NEW.org_id)::numeric * NEW.share_bps THEN
    RAISE EXCEPTION 'half of the fund is used up, and % is above its own share', NEW.org_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER warranty_own_share BEFORE INSERT ON warranty_refunds FOR EACH ROW EXECUTE FUNCTION warranty_own_share();

CREATE FUNCTION warranty_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a refund of the warranty never changes: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER warranty_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON warranty_refunds FOR EACH STATEMENT
EXECUTE FUNCTION warranty_is_final();
