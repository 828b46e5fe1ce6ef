/**
 * Expiry, scope and budget of API keys.
 *
 * A budget is a row of its own, because a key and the key that replaces it share one. The trigger repeats the rule of
 * schema/wallet/KeyBudget.ts: no process can reserve more than a budget allows, whatever it computed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const keyBudgets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE key_budgets (
      budget_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      -- The newest of the keys that spend from it.
      key_id text NOT NULL,
      -- Counts the writes. A turn writes only over the version that it read.
      version bigint NOT NULL DEFAULT 0,
      amount bigint NOT NULL CHECK (amount >= 0),
      period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
      -- What open runs hold.
      reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
      -- The UTC day of the newest hold or charge. The sums below count the day, week and month that it lies in.
      counted_on date NOT NULL DEFAULT '1970-01-01',
      spent_day bigint NOT NULL DEFAULT 0 CHECK (spent_day >= 0),
      spent_week bigint NOT NULL DEFAULT 0 CHECK (spent_week >= spent_day),
      spent_month bigint NOT NULL DEFAULT 0 CHECK (spent_month >= spent_day),
      spent_total bigint NOT NULL DEFAULT 0 CHECK (spent_total >= greatest(spent_week, spent_month)),
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`
  // What a budget counts in the period in which a day lies.
  yield* sql`
    CREATE FUNCTION key_budget_counted(b key_budgets, in_period text, on_day date) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
      SELECT b.reserved + CASE
        WHEN in_period = 'total' THEN b.spent_total
        WHEN date_trunc(in_period, on_day::timestamp) > date_trunc(in_period, b.counted_on::timestamp) THEN 0
        WHEN in_period = 'day' THEN b.spent_day
        WHEN in_period = 'week' THEN b.spent_week
        ELSE b.spent_month END
    $$`
  yield* sql`
    CREATE FUNCTION key_budget_holds() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE counted bigint := key_budget_counted(NEW, NEW.period, NEW.counted_on);
    BEGIN
      IF NEW.counted_on < OLD.counted_on OR NEW.spent_total < OLD.spent_total THEN
        RAISE EXCEPTION 'budget % does not forget charges', OLD.budget_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'key_budget_holds';
      END IF;
      -- A limit that was lowered below what is counted stays exceeded until the period ends, but nothing is added.
      IF counted > NEW.amount AND counted > key_budget_counted(OLD, NEW.period, NEW.counted_on) THEN
        RAISE EXCEPTION 'budget % allows %, and % would be counted', OLD.budget_id, NEW.amount, counted
          USING ERRCODE = 'check_violation', CONSTRAINT = 'key_budget_holds';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER key_budget_holds BEFORE UPDATE ON key_budgets FOR EACH ROW EXECUTE FUNCTION key_budget_holds()`
  yield* sql`
    ALTER TABLE api_keys
      -- Counts the changes below. A run is admitted only with the version that its request was checked against.
      ADD COLUMN version bigint NOT NULL DEFAULT 0,
      ADD COLUMN expires_at timestamptz,
      -- Null: everything is allowed.
      ADD COLUMN allow jsonb,
      -- A copy of allow.max_cost, in microdollars.
      ADD COLUMN max_cost bigint,
      ADD COLUMN budget_id text,
      -- The key that a rotation made in its place.
      ADD COLUMN replaced_by text`
  // Older rows have no values, so they need no check.
  yield* sql`
    ALTER TABLE api_keys
      ADD CONSTRAINT api_keys_max_cost CHECK (max_cost >= 0) NOT VALID,
      ADD CONSTRAINT api_keys_budget FOREIGN KEY (budget_id) REFERENCES key_budgets NOT VALID`
  yield* sql`
    CREATE FUNCTION api_key_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$`
  yield* sql`
    CREATE TRIGGER api_key_version BEFORE UPDATE ON api_keys FOR EACH ROW
    WHEN ((OLD.expires_at, OLD.allow, OLD.max_cost, OLD.budget_id) IS DISTINCT FROM (NEW.expires_at, NEW.allow, NEW.max_cost, NEW.budget_id))
    EXECUTE FUNCTION api_key_version()`
  // As in migration 0021, without keys that have expired.
  yield* sql`
    CREATE OR REPLACE FUNCTION api_keys_at_most() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM orgs WHERE org_id = NEW.org_id FOR NO KEY UPDATE;
      IF (SELECT count(*) FROM api_keys WHERE org_id = NEW.org_id AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > now())) >= 100 THEN
        RAISE EXCEPTION 'organization % has 100 keys in use', NEW.org_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'api_keys_at_most';
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    ALTER TABLE runs
      -- The budget that the run counts against; fixed at admission.
      ADD COLUMN budget_id text,
      -- Which control blocked the run, where its error code does not say it.
      ADD COLUMN control text`
})
