/**
 * Alerts: the outbox of their e-mails, and a row in `event_heads` for each organization with a daily limit.
 *
 * A background migration (event_heads_of_limits) makes the rows of older organizations.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const alerts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION event_head_of_limit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO event_heads (org_id, ledger_seq) VALUES (NEW.org_id, NEW.entry_seq) ON CONFLICT (org_id) DO NOTHING;
      RETURN NULL;
    END $$`
  // A sign-up may set a daily limit together with the wallet.
  yield* sql`
    CREATE TRIGGER event_head_of_limit AFTER INSERT ON wallets FOR EACH ROW WHEN (NEW.daily_limit IS NOT NULL)
    EXECUTE FUNCTION event_head_of_limit()`
  yield* sql`
    CREATE FUNCTION audit_low_balance() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM audit_write(audit_actor(), NEW.org_id, 'low_balance.changed', NEW.org_id,
                          jsonb_build_object('low_balance', audit_usd(OLD.low_balance)),
                          jsonb_build_object('low_balance', audit_usd(NEW.low_balance)));
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER audited AFTER UPDATE ON event_heads FOR EACH ROW WHEN (OLD.low_balance IS DISTINCT FROM NEW.low_balance)
    EXECUTE FUNCTION audit_low_balance()`
  yield* sql`
    CREATE TABLE alert_mails (
      mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      org_id text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('wallet.low', 'budget.reached', 'topup.failed')),
      data json NOT NULL,
      address text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      send_at timestamptz NOT NULL DEFAULT now(),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('sent', 'failed')),
      CONSTRAINT alert_mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )`
  yield* sql`CREATE INDEX alert_mails_due ON alert_mails (send_at) WHERE ended_at IS NULL`
  yield* sql`CREATE INDEX alert_mails_org ON alert_mails (org_id, created_at)`
})
