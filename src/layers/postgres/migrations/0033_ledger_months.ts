/**
 * The ledger in one partition for each month, by the ids of the runs that its entries are about. All entries of a run are in one partition, so
 * "one reserve, one settle and one release per run" stays an index.
 *
 * `ledger_heads` makes the numbers of entries unique over all partitions. Only a trigger of the owner writes it.
 *
 * `ledger_first` is the table as it was. It keeps all entries of the time before and, as the default partition, all credits, which name no run.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { firstCheck } from "./FirstPartition.ts"
import { retention } from "./LedgerRetention.ts"
import { ownerFunction } from "./ownerFunction.ts"

const table = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`LOCK TABLE runs, ledger IN ACCESS EXCLUSIVE MODE`
  yield* sql`LOCK TABLE wallets IN SHARE ROW EXCLUSIVE MODE`
  yield* sql`DROP FUNCTION ledger_hash(bytea, ledger)`
  yield* sql`ALTER TABLE ledger RENAME TO ledger_first`
  yield* sql`ALTER TABLE ledger_first RENAME CONSTRAINT ledger_pkey TO ledger_first_pkey`
  yield* sql`ALTER INDEX ledger_once_per_run RENAME TO ledger_first_once_per_run`
  yield* sql`
    CREATE TABLE ledger (LIKE ledger_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (run_id)`
  yield* sql`ALTER TABLE ledger DROP CONSTRAINT ${sql.literal(firstCheck)}`
  yield* sql`SELECT copy_privileges('ledger_first', 'ledger')`
  yield* sql`CREATE UNIQUE INDEX ledger_once_per_run ON ledger (run_id, type) WHERE run_id IS NOT NULL`
  for (const trigger of ["topup_is_paid", "credit_is_real"])
    yield* sql`DROP TRIGGER ${sql.literal(trigger)} ON ledger_first`
  // Its CHECK stays: it proves that a new month has no rows here, which would be a scan otherwise.
  yield* sql`ALTER TABLE ledger ATTACH PARTITION ledger_first DEFAULT`
  // As in 0008_chain, for the new table's row type.
  yield* sql`
    CREATE FUNCTION ledger_hash(previous bytea, e ledger) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT sha256(coalesce(previous, decode(repeat('00', 32), 'hex')) || convert_to(
        e.org_id || '|' || e.seq || '|' || e.txn_id || '|' || e.type || '|' || e.amount || '|' || e.balance_after || '|' ||
        e.reserved_after || '|' || coalesce(e.run_id, '-') || '|' || (extract(epoch FROM e.created_at) * 1000000)::bigint || '|' ||
        octet_length(e.reference) || '|' || e.reference || '|' || coalesce('+' || e.note, '-'), 'UTF8'))
    $$`
})

const heads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE ledger_heads (
      org_id text PRIMARY KEY,
      -- Of the newest entry. 0 before the first one.
      seq bigint NOT NULL CHECK (seq >= 0),
      balance bigint NOT NULL,
      reserved bigint NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`INSERT INTO ledger_heads (org_id, seq, balance, reserved) SELECT org_id, entry_seq, balance, reserved FROM wallets`
  yield* ownerFunction(
    "wallet_begins_chain() RETURNS trigger",
    `BEGIN INSERT INTO ledger_heads (org_id, seq, balance, reserved) VALUES (NEW.org_id, 0, 0, 0); RETURN NULL; END`
  )
  yield* sql`CREATE TRIGGER wallet_begins_chain AFTER INSERT ON wallets FOR EACH ROW EXECUTE FUNCTION wallet_begins_chain()`
  yield* sql`
    CREATE FUNCTION ledger_head_grows() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'an entry number of the ledger is used once: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$`
  yield* sql`
    CREATE TRIGGER ledger_head_grows BEFORE UPDATE ON ledger_heads FOR EACH ROW
    WHEN (NEW.org_id <> OLD.org_id OR NEW.seq <= OLD.seq) EXECUTE FUNCTION ledger_head_grows()`
  yield* sql`
    CREATE TRIGGER ledger_head_stays BEFORE DELETE OR TRUNCATE ON ledger_heads FOR EACH STATEMENT EXECUTE FUNCTION ledger_head_grows()`
})

const rules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // As in 0008_chain. An index can't make (org_id, seq) unique over all partitions. So an organization's entries must begin where its row in
  // ledger_heads stands, and move it. Of two transactions with the same number, the second one waits for that row and is then refused.
  yield* ownerFunction(
    "ledger_chains() RETURNS trigger",
    `
    DECLARE broken text; unequal text;
    BEGIN
      WITH n AS (
        SELECT org_id, seq, balance_after, reserved_after, hash, lag(seq) OVER chain AS before, lead(seq) OVER chain IS NULL AS newest,
               first_value(seq - 1) OVER chain AS first_before,
               balance_after - balance_change AS balance_before, reserved_after - reserved_change AS reserved_before,
               lag(balance_after) OVER chain AS balance_of_before, lag(reserved_after) OVER chain AS reserved_of_before,
               first_value(balance_after - balance_change) OVER chain AS first_balance,
               first_value(reserved_after - reserved_change) OVER chain AS first_reserved
        FROM (SELECT *, CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END AS balance_change,
                     CASE WHEN type IN ('reserve', 'release') THEN -amount WHEN type = 'settle' THEN amount ELSE 0 END AS reserved_change
              FROM added) a WINDOW chain AS (PARTITION BY org_id ORDER BY seq)
      ), moved AS (
        UPDATE ledger_heads h SET seq = n.seq, balance = n.balance_after, reserved = n.reserved_after FROM n
        WHERE n.newest AND h.org_id = n.org_id AND h.seq = n.first_before AND h.balance = n.first_balance AND h.reserved = n.first_reserved
        RETURNING h.org_id
      )
      SELECT min(n.org_id || ' entry ' || n.seq) FILTER (WHERE CASE WHEN n.before IS NULL THEN m.org_id IS NULL ELSE n.before <> n.seq - 1
               OR n.balance_of_before <> n.balance_before OR n.reserved_of_before <> n.reserved_before END),
             min(n.org_id) FILTER (WHERE n.newest AND (w.entry_seq <> n.seq OR w.balance <> n.balance_after
               OR w.reserved <> n.reserved_after OR w.head IS DISTINCT FROM n.hash))
      INTO broken, unequal
      FROM n LEFT JOIN moved m ON m.org_id = n.org_id LEFT JOIN wallets w ON n.newest AND w.org_id = n.org_id;
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger does not continue at %', broken USING ERRCODE = 'check_violation';
      END IF;
      IF unequal IS NOT NULL THEN
        RAISE EXCEPTION 'wallet % does not equal its newest ledger entry', unequal USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END`
  )
  // As in 0009_payments. Refunds name no run, which leaves one partition.
  yield* sql`
    CREATE OR REPLACE FUNCTION wallet_solvent() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE clawed numeric;
    BEGIN
      SELECT coalesce(-sum(amount), 0) INTO clawed FROM ledger
      WHERE org_id = NEW.org_id AND seq > OLD.entry_seq AND seq <= NEW.entry_seq AND type = 'refund' AND amount < 0 AND run_id IS NULL;
      IF NEW.balance - NEW.reserved < least(0, OLD.balance - OLD.reserved) - clawed THEN
        RAISE EXCEPTION 'wallet_solvent: % would have % available', NEW.org_id, NEW.balance - NEW.reserved USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger FOR EACH STATEMENT
    EXECUTE FUNCTION ledger_is_immutable()`
  yield* sql`
    CREATE TRIGGER ledger_chains AFTER INSERT ON ledger REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION ledger_chains()`
  yield* sql`
    CREATE TRIGGER topup_is_paid AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.type = 'topup') EXECUTE FUNCTION topup_is_paid()`
  yield* sql`
    CREATE TRIGGER credit_is_real BEFORE INSERT ON ledger FOR EACH ROW
    WHEN (NEW.type = 'bonus' AND left(NEW.reference, 10) = 'simulated:') EXECUTE FUNCTION money_is_real()`
})

/** Statements of runs would wait behind a function that waits for a table. */
const ofMonths = "SET lock_timeout = '500ms' SET timezone = 'UTC'"

/** Months that exist before they begin. Each costs the statements of turns some microseconds. */
const monthsAhead = 1

const making = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // What a partition needs besides what its table gives it.
  yield* sql`
    CREATE FUNCTION make_partition(parent text, name text, from_id text, to_id text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%s)%s', name, parent, from_id, coalesce(quote_literal(to_id), 'MAXVALUE'),
        CASE parent WHEN 'runs_recent' THEN ' WITH (fillfactor = 70)' ELSE '' END);
      IF parent = 'ledger' THEN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (org_id, seq)', name || '_chain', name);
        -- A statement that names the partition fires the triggers of the partition and not those of the ledger.
        EXECUTE format('CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_immutable()', name);
        EXECUTE format('CREATE TRIGGER ledger_chains AFTER INSERT ON %I REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_chains()', name);
      END IF;
      -- With it, the partition can be moved without a scan.
      IF to_id IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT of_month CHECK (run_id >= %L AND run_id < %L)', name, from_id, to_id);
      END IF;
    END $$`
  // The tables that begin where the last month ends. If such a table has rows of the month that is to be made, because nobody made it in time,
  // it becomes a partition itself, up to the month of its newest row. Returns whether rows still wait for their month.
  yield* ownerFunction(
    "make_months(what text) RETURNS boolean",
    `
    DECLARE parent text := CASE what WHEN 'runs' THEN 'runs_recent' WHEN 'ledger' THEN 'ledger' END; future text := what || '_future';
      from_id text; starts timestamptz; ends timestamptz; newest text; late boolean; name text;
    BEGIN
      IF parent IS NULL THEN RAISE EXCEPTION '% has no months', what; END IF;
      PERFORM pg_advisory_xact_lock(730581, hashtext('months'));
      LOOP
        SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM '''(run_[^'']+)''') INTO from_id FROM pg_class c WHERE c.oid = to_regclass(future);
        starts := time_of_run_id(from_id);
        EXIT WHEN starts > date_trunc('month', now()) + interval '${monthsAhead} months';
        ends := date_trunc('month', starts) + interval '1 month';
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, future);
        EXECUTE format('SELECT max(run_id), coalesce(bool_or(run_id < %L), false) FROM %I', run_id_at(ends), future) INTO newest, late;
        name := what || to_char(starts, '_YYYY_MM');
        IF late THEN
          ends := date_trunc('month', time_of_run_id(newest)) + interval '1 month';
          IF ends > now() + interval '6 months' THEN
            RAISE EXCEPTION '% has rows of % and, by a wrong clock, of the time before %', future, starts, ends;
          END IF;
          EXECUTE format('ALTER TABLE %I RENAME TO %I', future, name);
          IF what = 'ledger' THEN EXECUTE format('ALTER INDEX %I RENAME TO %I', future || '_chain', name || '_chain'); END IF;
          EXECUTE format('ALTER TABLE %I ADD CONSTRAINT of_month CHECK (run_id >= %L AND run_id < %L)', name, from_id, run_id_at(ends));
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, from_id, run_id_at(ends));
          PERFORM make_partition(parent, future, run_id_at(ends), NULL);
        ELSE
          PERFORM make_partition(parent, name, from_id, run_id_at(ends));
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', parent, future, run_id_at(ends));
        END IF;
      END LOOP;
      PERFORM close_partitions();
      EXECUTE format('SELECT EXISTS (SELECT FROM %I)', future) INTO late;
      RETURN late;
    END`,
    ofMonths
  )
  yield* sql`
    DO $$
    DECLARE bound text := (SELECT substring(pg_get_expr(relpartbound, oid) FROM '''(run_[^'']+)''') FROM pg_class WHERE oid = 'runs_future'::regclass);
    BEGIN PERFORM make_partition('ledger', 'ledger_future', bound, NULL); END $$`
  yield* sql`SELECT make_months('runs')`
  yield* sql`SELECT make_months('ledger')`
})

/** Moves the oldest month out of `runs_recent`: one step per call, so that the long ones hold no lock that a turn waits for. */
const ageing = ownerFunction(
  "age_month() RETURNS text",
  `
    DECLARE leaf text; bounds text; valid boolean; open boolean; to_id text; from_id text;
    BEGIN
      PERFORM pg_advisory_xact_lock(730581, hashtext('months'));
      SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), k.convalidated INTO leaf, bounds, valid
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.conname = 'all_final'
      WHERE i.inhparent = 'runs_recent'::regclass ORDER BY split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) LIKE '%MAXVALUE%',
        split_part(pg_get_expr(c.relpartbound, c.oid), ' TO ', 2) LIMIT 1;
      to_id := substring(split_part(bounds, ' TO ', 2) FROM 'run_[^'']+');
      from_id := coalesce(quote_literal(substring(split_part(bounds, ' TO ', 1) FROM 'run_[^'']+')), 'MINVALUE');
      IF to_id IS NULL OR time_of_run_id(to_id) > now() - interval '62 days' THEN RETURN NULL; END IF;
      IF valid IS NULL THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE finished_at IS NULL)', leaf) INTO open;
        IF open THEN RETURN NULL; END IF;
        -- From here on the month takes no run that is not final.
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT all_final CHECK (finished_at IS NOT NULL) NOT VALID', leaf);
        RETURN leaf || ' checked';
      END IF;
      IF NOT valid THEN
        EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT all_final', leaf);
        RETURN leaf || ' validated';
      END IF;
      ALTER TABLE runs DETACH PARTITION runs_recent;
      EXECUTE format('ALTER TABLE runs_recent DETACH PARTITION %I', leaf);
      EXECUTE format('ALTER TABLE runs ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', leaf, from_id, to_id);
      EXECUTE format('ALTER TABLE runs ATTACH PARTITION runs_recent FOR VALUES FROM (%L) TO (MAXVALUE)', to_id);
      RETURN leaf || ' moved';
    END`,
  ofMonths
)

export const ledgerMonths = Effect.gen(function* () {
  yield* table
  yield* heads
  yield* rules
  yield* making
  yield* ageing
  yield* retention
})
