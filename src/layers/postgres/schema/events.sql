-- The event log of each organization, which event streams and webhooks read, and the mails of alerts.
--
-- One process at a time appends to an organization's log: it locks the row in `event_heads`. So positions have no gaps and are committed
-- in order, and a reader that continues after a position misses nothing. The log is derived from the ledger, from runs and from `event_inbox`.

-- One row for each organization whose log somebody reads, or that has an alert: where its log stands. The event worker moves it; readers and
-- people who set an alert make it.
CREATE TABLE event_heads (
  org_id text PRIMARY KEY REFERENCES orgs,
  -- The newest event, and the newest one that was deleted because of its age.
  position bigint NOT NULL DEFAULT 0,
  dropped bigint NOT NULL DEFAULT 0 CHECK (dropped >= 0),
  -- The last ledger entry that was turned into events.
  ledger_seq bigint NOT NULL CHECK (ledger_seq >= 0),
  -- When somebody last read the log. Null: only alerts are logged.
  listened_at timestamptz,
  -- Since when runs are logged.
  began_at timestamptz,
  -- Alerts: the threshold, and whether it was told that the balance is below it.
  low_balance bigint CHECK (low_balance >= 0),
  low boolean NOT NULL DEFAULT false,
  -- What the entries up to ledger_seq charged on the UTC day, and the highest part of the daily limit, in percent, that was told.
  spent_day date,
  spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
  reached smallint NOT NULL DEFAULT 0 CHECK (reached IN (0, 50, 80, 100)),
  -- The limit that it is about.
  reached_of bigint,
  CONSTRAINT event_positions CHECK (position >= dropped),
  CONSTRAINT event_listening CHECK (listened_at IS NULL OR began_at IS NOT NULL)
) WITH (fillfactor = 50);
CREATE INDEX event_heads_listened ON event_heads (listened_at) WHERE listened_at IS NOT NULL;

-- A sign-up may set a daily limit together with the wallet.
CREATE FUNCTION event_head_of_limit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_heads (org_id, ledger_seq) VALUES (NEW.org_id, NEW.entry_seq) ON CONFLICT (org_id) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER event_head_of_limit AFTER INSERT ON wallets FOR EACH ROW WHEN (NEW.daily_limit IS NOT NULL)
EXECUTE FUNCTION event_head_of_limit();

CREATE FUNCTION audit_low_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM audit_write(audit_actor(), NEW.org_id, 'low_balance.changed', NEW.org_id,
                      jsonb_build_object('low_balance', audit_usd(OLD.low_balance)),
                      jsonb_build_object('low_balance', audit_usd(NEW.low_balance)));
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER UPDATE ON event_heads FOR EACH ROW WHEN (OLD.low_balance IS DISTINCT FROM NEW.low_balance)
EXECUTE FUNCTION audit_low_balance();

-- One row for each event. The event worker appends it, and deletes it when it is old.
CREATE TABLE events (
  org_id text NOT NULL,
  position bigint NOT NULL CHECK (position > 0),
  kind text NOT NULL CHECK (kind IN ('run.created', 'run.started', 'run.attempt', 'run.finished', 'wallet.changed', 'wallet.low',
    'budget.reached', 'topup.failed', 'run.approval_required', 'run.approved')),
  run_id text,
  -- Orders the events of a run: created, started, each attempt, finished. Those of its approval have a step of their own.
  step smallint,
  data json NOT NULL,
  happened_at timestamptz NOT NULL,
  logged_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, position),
  CONSTRAINT event_of_run CHECK ((run_id IS NOT NULL) = (kind LIKE 'run.%') AND (run_id IS NOT NULL) = (step IS NOT NULL))
);
-- Each event of a run is logged once.
CREATE UNIQUE INDEX events_of_run ON events (org_id, run_id, step) WHERE run_id IS NOT NULL;
CREATE INDEX events_age ON events (logged_at);

-- Events that the ledger does not show: whoever changes a run without an entry, or meets a budget, writes one, and the event worker takes it.
CREATE TABLE event_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id text NOT NULL,
  -- A run whose state changed without a ledger entry.
  run_id text,
  -- Or an event that is complete. The reference makes it unique.
  kind text CHECK (kind IN ('budget.reached', 'topup.failed', 'run.approval_required', 'run.approved')),
  reference text,
  data json,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT inbox_content CHECK (
    (run_id IS NULL) = (kind IS NOT NULL) AND (kind IS NOT NULL) = (data IS NOT NULL) AND (kind IS NOT NULL) = (reference IS NOT NULL))
);
CREATE INDEX event_inbox_org ON event_inbox (org_id, id);

-- The outbox of alerts' e-mails. The event worker writes it, and the mail worker sends them.
CREATE TABLE alert_mails (
  mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('wallet.low', 'budget.reached', 'topup.failed', 'run.approval_required')),
  data json NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  send_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'failed')),
  CONSTRAINT alert_mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX alert_mails_due ON alert_mails (send_at) WHERE ended_at IS NULL;
CREATE INDEX alert_mails_org ON alert_mails (org_id, created_at);
