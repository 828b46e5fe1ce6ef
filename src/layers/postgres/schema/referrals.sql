-- Referrals: codes, who referred whom on which terms, and what the referrer was credited. Terms are copied at sign-up, so a later change of the
-- configuration changes no promise.

-- One row for each organization that has asked for its code.
CREATE TABLE referral_codes (
  org_id text PRIMARY KEY REFERENCES orgs,
  code text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each organization that signed up with a code. Sign-up inserts it; the wallet's turn and the referral worker update it.
CREATE TABLE referrals (
  referral_id text PRIMARY KEY,
  -- One referrer per workspace.
  referred_org text NOT NULL UNIQUE REFERENCES orgs,
  referrer_org text NOT NULL REFERENCES orgs,
  -- Microdollars and basis points.
  deposit_min bigint NOT NULL CHECK (deposit_min >= 0),
  deposit_bonus bigint NOT NULL CHECK (deposit_bonus >= 0),
  share_bps int NOT NULL CHECK (share_bps BETWEEN 0 AND 10000),
  ends_at timestamptz NOT NULL,
  -- The referred workspace's bonus: written by its wallet's turn.
  bonus_state text NOT NULL DEFAULT 'pending' CHECK (bonus_state IN ('pending', 'granted', 'revoked')),
  bonus_payment_id text,
  bonus_changes int NOT NULL DEFAULT 0 CHECK (bonus_changes >= 0),
  -- The referrer's share: written by the accrual. Entries up to accrued_seq of the referred wallet are counted.
  accrued_seq bigint NOT NULL DEFAULT 0 CHECK (accrued_seq >= 0),
  net_revenue bigint NOT NULL DEFAULT 0 CHECK (net_revenue >= 0),
  unpaid bigint NOT NULL DEFAULT 0 CHECK (unpaid >= 0),
  credited bigint NOT NULL DEFAULT 0 CHECK (credited >= 0),
  credits int NOT NULL DEFAULT 0 CHECK (credits >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- One bonus per card, whatever the service believes.
  bonus_card text UNIQUE,
  CONSTRAINT referral_of_another CHECK (referred_org <> referrer_org),
  -- What was credited was earned: rounded down, and never more than the share of all net revenue.
  CONSTRAINT referral_share CHECK (credited::numeric * 10000 <= net_revenue::numeric * share_bps),
  -- The lowest deposit pays for the promised bonus: $33.34 for $5.00 beside a share of 10 %.
  CONSTRAINT referral_bonus_is_earned
    CHECK (bonus_state <> 'pending' OR deposit_bonus::numeric * 60000 <= deposit_min::numeric * (10000 - share_bps))
);
CREATE INDEX referrals_referrer ON referrals (referrer_org, referral_id);

-- The terms and the parties of a referral are promises; a workspace that exists can't be referred afterwards.
CREATE FUNCTION referral_is_promised() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the terms of a referral never change: %', OLD.referral_id USING ERRCODE = 'check_violation'; END $$;
CREATE TRIGGER referral_is_promised BEFORE UPDATE ON referrals FOR EACH ROW
WHEN ((NEW.referral_id, NEW.referred_org, NEW.referrer_org, NEW.deposit_min, NEW.deposit_bonus, NEW.share_bps, NEW.ends_at, NEW.created_at)
  IS DISTINCT FROM (OLD.referral_id, OLD.referred_org, OLD.referrer_org, OLD.deposit_min, OLD.deposit_bonus, OLD.share_bps, OLD.ends_at, OLD.created_at))
EXECUTE FUNCTION referral_is_promised();

-- One row for each credit of a referrer's share. The referral worker writes it.
CREATE TABLE referral_credits (
  referral_id text NOT NULL REFERENCES referrals,
  n int NOT NULL CHECK (n > 0),
  amount bigint NOT NULL CHECK (amount <> 0),
  -- As they were when it was credited.
  net_revenue bigint NOT NULL CHECK (net_revenue >= 0),
  to_seq bigint NOT NULL CHECK (to_seq > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (referral_id, n)
);
