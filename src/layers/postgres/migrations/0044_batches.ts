/**
 * Batches: many runs in one request, their rows, and what the batch may spend.
 *
 * `max_total` is a budget as an API key has one, so the wallet's turn and the trigger of migration 0034 keep it. The budget of the batch's
 * key is its parent, and a run counts in both. A process of the release before knows no parent and writes the batch's budget only. The
 * trigger below then counts the same in the parent.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const batches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE key_budgets
      -- The budget of the batch's API key.
      ADD COLUMN parent_id text,
      -- The version in which the parent was written in the same statement.
      ADD COLUMN parent_written bigint NOT NULL DEFAULT -1`
  yield* sql`
    CREATE FUNCTION key_budget_in_parent() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE charge bigint := NEW.spent_total - OLD.spent_total;
    BEGIN
      UPDATE key_budgets p SET
        version = p.version + 1,
        reserved = p.reserved + NEW.reserved - OLD.reserved,
        counted_on = greatest(p.counted_on, NEW.counted_on),
        spent_day = charge + CASE WHEN NEW.counted_on > p.counted_on THEN 0 ELSE p.spent_day END,
        spent_week = charge + CASE WHEN date_trunc('week', NEW.counted_on::timestamp) > date_trunc('week', p.counted_on::timestamp)
                                   THEN 0 ELSE p.spent_week END,
        spent_month = charge + CASE WHEN date_trunc('month', NEW.counted_on::timestamp) > date_trunc('month', p.counted_on::timestamp)
                                    THEN 0 ELSE p.spent_month END,
        spent_total = p.spent_total + charge
      WHERE p.budget_id = NEW.parent_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER key_budget_in_parent AFTER UPDATE ON key_budgets FOR EACH ROW
    WHEN (NEW.parent_id IS NOT NULL AND NEW.parent_written <> NEW.version
          AND (OLD.reserved, OLD.spent_total) IS DISTINCT FROM (NEW.reserved, NEW.spent_total))
    EXECUTE FUNCTION key_budget_in_parent()`
  yield* auditOfKeysOnly
  yield* sql`
    CREATE TABLE batches (
      batch_id text PRIMARY KEY,
      org_id text NOT NULL REFERENCES orgs,
      -- Null for a session.
      key_id text,
      request_id text NOT NULL,
      idempotency_key text,
      fingerprint text NOT NULL,
      metadata jsonb,
      max_total bigint CHECK (max_total >= 0),
      -- The budget that its next runs count against. Earlier ones belong to it too; see BatchFeeds.ts.
      budget_id text NOT NULL REFERENCES key_budgets,
      status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'cancelling', 'cancelled', 'finished')),
      total integer NOT NULL CHECK (total > 0),
      -- Rows that ended, by how they ended.
      succeeded integer NOT NULL DEFAULT 0,
      no_match integer NOT NULL DEFAULT 0,
      failed integer NOT NULL DEFAULT 0,
      blocked integer NOT NULL DEFAULT 0,
      invalid integer NOT NULL DEFAULT 0,
      cancelled integer NOT NULL DEFAULT 0,
      charged bigint NOT NULL DEFAULT 0 CHECK (charged >= 0),
      -- The process that starts its rows. Each write of that process requires the token.
      lease_token text,
      lease_until timestamptz,
      fed_at timestamptz NOT NULL DEFAULT now(),
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      -- When the personal data of its rows was erased because of its age.
      erased_at timestamptz,
      CONSTRAINT batches_ended CHECK (succeeded + no_match + failed + blocked + invalid + cancelled <= total),
      CONSTRAINT batches_finished CHECK ((finished_at IS NOT NULL) = (status IN ('cancelled', 'finished'))),
      CONSTRAINT batches_within_total CHECK (max_total IS NULL OR charged <= max_total)
    ) WITH (fillfactor = 50)`
  yield* sql`CREATE UNIQUE INDEX batches_once ON batches (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL`
  yield* sql`CREATE INDEX batches_list ON batches (org_id, batch_id)`
  yield* sql`CREATE INDEX batches_open ON batches (fed_at) WHERE finished_at IS NULL`
  yield* sql`
    CREATE TABLE batch_rows (
      batch_id text NOT NULL REFERENCES batches ON DELETE CASCADE,
      -- Counted from 1.
      row integer NOT NULL CHECK (row > 0),
      -- The run's request. It is deleted when the row ends, because the run has the input then.
      request json,
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'succeeded', 'no_match', 'failed', 'blocked', 'invalid', 'cancelled')),
      run_id text,
      charged bigint CHECK (charged >= 0),
      -- Of a row that made no run. It may quote the request.
      error json,
      PRIMARY KEY (batch_id, row),
      CONSTRAINT batch_rows_request CHECK ((request IS NOT NULL) = (status IN ('pending', 'running')))
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX batch_rows_open ON batch_rows (batch_id, row) WHERE status IN ('pending', 'running')`
  yield* sql`CREATE INDEX batch_rows_errors ON batch_rows (batch_id, row) WHERE error IS NOT NULL`
})

/** The audit log shows budgets that people set. That of a batch is made with it, and the batch is listed itself. */
const auditOfKeysOnly = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TRIGGER audited ON key_budgets`
  yield* sql`DROP TRIGGER audited_changes ON key_budgets`
  const hidden = ["version", "reserved", "counted_on", "spent_day", "spent_week", "spent_month", "spent_total"]
  const budgets = {
    ...{ table: "key_budgets", noun: "key_budget", id: "key_id" },
    hidden: [...hidden, "parent_id", "parent_written"]
  }
  const ofKey = "left(NEW.budget_id, 4) <> 'bat_'"
  yield* audited({ ...budgets, on: "INSERT", when: ofKey })
  yield* audited({
    ...budgets,
    on: "UPDATE",
    when: `${ofKey} AND (OLD.amount, OLD.period) IS DISTINCT FROM (NEW.amount, NEW.period)`,
    suffix: "_changes"
  })
})
