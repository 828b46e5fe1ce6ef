/**
 * Drops whole months of runs and ledger entries, and keeps what the audit needs of them.
 *
 * For each organization a checkpoint has the newest dropped entry, with its hash, and the sums of all that were dropped with it. The audit starts
 * there. Credits name no run, so they are in no month and stay.
 *
 * `drop_months` is the only way, and belongs to the owner: nobody else may call it before the owner grants it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ownerFunction } from "./ownerFunction.ts"

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE ledger_checkpoints (
      org_id text NOT NULL,
      -- The newest of the dropped entries, and the wallet after it.
      seq bigint NOT NULL CHECK (seq > 0),
      balance_after bigint NOT NULL,
      reserved_after bigint NOT NULL CHECK (reserved_after >= 0),
      hash bytea NOT NULL CHECK (length(hash) = 32),
      -- Number and sums of the entries that were dropped with it.
      entries bigint NOT NULL CHECK (entries > 0),
      reserve bigint NOT NULL CHECK (reserve <= 0),
      settle bigint NOT NULL CHECK (settle <= 0),
      release bigint NOT NULL CHECK (release >= 0),
      -- What a referrer's share was computed from.
      net_revenue bigint NOT NULL CHECK (net_revenue >= 0),
      PRIMARY KEY (org_id, seq),
      CONSTRAINT no_hold_was_open CHECK (reserve + release = settle)
    )`
  yield* sql`
    CREATE TABLE dropped_months (
      -- Runs from this id on, and before the other one.
      from_id text PRIMARY KEY,
      to_id text NOT NULL CHECK (to_id > from_id),
      runs bigint NOT NULL CHECK (runs >= 0),
      entries bigint NOT NULL CHECK (entries >= 0),
      provider_cost bigint NOT NULL CHECK (provider_cost >= 0),
      -- Charged runs whose provider cost is unknown.
      cost_unknown bigint NOT NULL CHECK (cost_unknown >= 0),
      -- The last UTC day with a settlement of its runs. The usage of that day and of earlier ones is more than what the ledger still has.
      settled_until date,
      dropped_at timestamptz NOT NULL DEFAULT now()
    )`
  for (const table of ["ledger_checkpoints", "dropped_months"])
    yield* sql`
      CREATE TRIGGER ${sql.literal(table)}_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ${sql.literal(table)} FOR EACH STATEMENT
      EXECUTE FUNCTION ledger_is_immutable()`
})

/** It reads whole months. The plans of the service are meant for single rows. */
const settings = `SET lock_timeout = '500ms' SET timezone = 'UTC' SET plan_cache_mode = force_custom_plan SET enable_seqscan = on
  SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_mergejoin = on`

/**
 * One step towards dropping the oldest month that ended before a time: a day of Idempotency-Keys, or the month itself. Returns what was done, or why the
 * month waits. Null: no month is that old.
 */
const dropMonths = ownerFunction(
  "drop_months(before timestamptz) RETURNS TABLE (done text, waits text)",
  `
    DECLARE first_id text; end_id text; month text; key_from text; key_to text; leaf record;
    BEGIN
      PERFORM pg_advisory_xact_lock(730581, hashtext('months'));
      DROP TABLE IF EXISTS pg_temp.month_leaves;
      CREATE TEMP TABLE month_leaves ON COMMIT DROP AS
        SELECT i.inhparent::regclass::text AS parent, c.relname::text AS name,
               substring(split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 1) FROM 'run_[^'']+') AS from_id,
               substring(split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) FROM 'run_[^'']+') AS to_id
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('runs'::regclass, 'ledger'::regclass) AND c.relkind = 'r';
      -- Months of runs and of the ledger may differ: one was made late, with the rows of two. Both tables are cut at the same place.
      SELECT min(r.from_id), min(r.to_id) FILTER (WHERE time_of_run_id(r.to_id) <= before
        AND EXISTS (SELECT FROM month_leaves l WHERE l.parent = 'ledger' AND l.to_id = r.to_id))
      INTO first_id, end_id FROM month_leaves r WHERE r.parent = 'runs' AND r.from_id IS NOT NULL AND r.to_id IS NOT NULL;
      IF end_id IS NULL OR NOT EXISTS (SELECT FROM month_leaves l WHERE l.parent = 'ledger' AND l.from_id = first_id) THEN RETURN; END IF;
      month := to_char(time_of_run_id(first_id), 'YYYY-MM');

      waits := CASE
        WHEN EXISTS (SELECT FROM open_runs o WHERE o.run_id >= first_id AND o.run_id < end_id)
          OR EXISTS (SELECT FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id AND r.finished_at IS NULL) THEN 'a run is open'
        WHEN EXISTS (SELECT FROM mailbox m WHERE m.run_id >= first_id AND m.run_id < end_id) THEN 'a command is stored for one of its runs'
        WHEN EXISTS (SELECT FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id AND r.erased_at IS NULL) THEN 'a run is not erased'
        WHEN EXISTS (SELECT FROM unknown_outcomes u WHERE u.finding IS NULL AND u.run_id >= first_id AND u.run_id < end_id) THEN 'an outcome is unknown'
        WHEN EXISTS (SELECT FROM referrals f JOIN ledger l ON l.org_id = f.referred_org AND l.seq > f.accrued_seq
                     WHERE l.run_id >= first_id AND l.run_id < end_id) THEN 'a referral share is not counted'
        WHEN EXISTS (SELECT FROM usage_queue u, unnest(u.run_ids) AS w (run_id) WHERE NOT u.counted AND w.run_id >= first_id AND w.run_id < end_id)
          THEN 'the usage of a run is not counted'
      END;
      IF waits IS NOT NULL THEN waits := month || ': ' || waits; RETURN NEXT; RETURN; END IF;

      SELECT min(k.run_id) INTO key_from FROM idempotency_keys k WHERE k.run_id >= first_id AND k.run_id < end_id;
      IF key_from IS NOT NULL THEN
        key_to := least(end_id, run_id_at(date_trunc('day', time_of_run_id(key_from)) + interval '1 day'));
        DELETE FROM idempotency_keys k WHERE k.run_id >= key_from AND k.run_id < key_to;
        done := 'Idempotency-Keys of ' || to_char(time_of_run_id(key_from), 'YYYY-MM-DD') || ' deleted';
        RETURN NEXT;
        RETURN;
      END IF;

      INSERT INTO ledger_checkpoints (org_id, seq, balance_after, reserved_after, hash, entries, reserve, settle, release, net_revenue)
      SELECT s.org_id, s.seq, l.balance_after, l.reserved_after, l.hash, s.entries, s.reserve, s.settle, s.release, coalesce(n.counted, 0)
      FROM (SELECT e.org_id, max(e.seq) AS seq, count(*) AS entries, coalesce(sum(e.amount) FILTER (WHERE e.type = 'reserve'), 0) AS reserve,
                   coalesce(sum(e.amount) FILTER (WHERE e.type = 'settle'), 0) AS settle,
                   coalesce(sum(e.amount) FILTER (WHERE e.type = 'release'), 0) AS release
            FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY e.org_id) s
      JOIN ledger l ON l.org_id = s.org_id AND l.seq = s.seq AND l.run_id >= first_id AND l.run_id < end_id
      LEFT JOIN (
        -- As the audit counts a referral's net revenue.
        SELECT f.referred_org, sum(greatest(0, -e.amount - coalesce(r.provider_cost, (-e.amount * 5 + 5) / 6))) AS counted
        FROM referrals f JOIN ledger e ON e.org_id = f.referred_org AND e.type = 'settle' AND e.created_at < f.ends_at
        LEFT JOIN runs r ON r.org_id = e.org_id AND r.run_id = e.run_id AND r.run_id >= first_id AND r.run_id < end_id
        WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY f.referred_org) n ON n.referred_org = s.org_id;
      IF EXISTS (
        SELECT FROM (SELECT r.org_id, sum(r.charged) AS charged FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id GROUP BY r.org_id) r
        FULL JOIN (SELECT e.org_id, -sum(e.amount) FILTER (WHERE e.type = 'settle') AS settled FROM ledger e
                   WHERE e.run_id >= first_id AND e.run_id < end_id GROUP BY e.org_id) e USING (org_id)
        WHERE coalesce(r.charged, 0) <> coalesce(e.settled, 0)
      ) THEN
        RAISE EXCEPTION 'the charges of the runs of % are not their ledger entries: run rungate audit', month USING ERRCODE = 'check_violation';
      END IF;
      INSERT INTO dropped_months (from_id, to_id, runs, entries, provider_cost, cost_unknown, settled_until)
      SELECT first_id, end_id, count(*), (SELECT count(*) FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id),
             coalesce(sum(r.provider_cost), 0), count(*) FILTER (WHERE r.charged > 0 AND r.provider_cost IS NULL),
             (SELECT (max(e.created_at) AT TIME ZONE 'UTC')::date FROM ledger e WHERE e.run_id >= first_id AND e.run_id < end_id AND e.type = 'settle')
      FROM runs r WHERE r.run_id >= first_id AND r.run_id < end_id;

      LOCK TABLE ONLY runs, ONLY ledger IN ACCESS EXCLUSIVE MODE;
      FOR leaf IN SELECT l.parent, l.name FROM month_leaves l WHERE l.from_id >= first_id AND l.to_id <= end_id LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', leaf.parent, leaf.name);
        EXECUTE format('DROP TABLE %I', leaf.name);
      END LOOP;
      done := month || ' dropped';
      RETURN NEXT;
    END`,
  settings
)

export const retention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* tables
  yield* dropMonths
  yield* sql`REVOKE EXECUTE ON FUNCTION drop_months(timestamptz) FROM PUBLIC`
})
