/**
 * Runs in one partition for each month, by the time in their ids.
 *
 * `runs_first` is the table as it was, with all ids before the first month. Months follow, and `runs_future` has the ids after the last one, so
 * that no row is ever without a place. `make_months` adds months before they are needed.
 *
 * A statement prepares a scan of every partition, which costs more the more months there are. So the newest months are partitions of
 * `runs_recent`, and the statements of a turn name that table. `age_month` moves a month out of it when all of its runs are final.
 *
 * An Idempotency-Key is unique over all months, and no unique index is. `idempotency_keys` has the keys of all runs since this migration, and
 * `runs_first` those of before; `run_keys` reads both.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { boundFirst, firstCheck } from "./FirstPartition.ts"

const idTimes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The first run id of a time, and the time of a run id: see schema/Ids.ts.
  yield* sql`
    CREATE FUNCTION run_id_at(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
      SELECT 'run_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((floor(extract(epoch FROM at) * 1000)::bigint >> (5 * n)) & 31)::int, 1), '' ORDER BY n DESC)
      FROM generate_series(0, 9) n $$`
  yield* sql`
    CREATE FUNCTION time_of_run_id(run_id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
      SELECT to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(run_id, 14 - n, 1)) - 1)::bigint << (5 * n))::float8 / 1000)
      FROM generate_series(0, 9) n $$`
})

/** Partitions are read and written through their table only, whose privileges count. Default privileges would open them. */
const closed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION close_partitions() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE given record;
    BEGIN
      FOR given IN
        SELECT DISTINCT c.oid::regclass AS name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, aclexplode(c.relacl) a
        WHERE i.inhparent IN (to_regclass('runs'), to_regclass('runs_recent'), to_regclass('ledger')) AND c.relkind = 'r' AND a.grantee <> c.relowner
      LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', given.name, given.grantee);
      END LOOP;
    END $$`
  // Who may do what with a table may do the same with the one that takes its place.
  yield* sql`
    CREATE FUNCTION copy_privileges(source regclass, target regclass) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE given record;
    BEGIN
      FOR given IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
        FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = target AND a.grantee <> c.relowner
      LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', target, given.grantee);
      END LOOP;
      FOR given IN
        SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
        FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = source AND a.grantee <> c.relowner
      LOOP
        EXECUTE format('GRANT %s ON %s TO %s', given.privilege_type, target, given.grantee);
      END LOOP;
    END $$`
})

const table = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`LOCK TABLE runs, ledger IN ACCESS EXCLUSIVE MODE`
  const bound = sql.literal(`'${yield* boundFirst(sql)}'`)
  // Set by statements that put the run's Idempotency-Key into idempotency_keys themselves. Those of older processes leave it to a trigger.
  yield* sql`ALTER TABLE runs ADD COLUMN key_claimed boolean`
  yield* sql`ALTER TABLE runs RENAME TO runs_first`
  yield* sql`ALTER TABLE runs_first RENAME CONSTRAINT runs_pkey TO runs_first_pkey`
  yield* sql`ALTER INDEX runs_idempotency RENAME TO runs_first_idempotency`
  yield* sql`
    CREATE TABLE runs (LIKE runs_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE, PRIMARY KEY (org_id, run_id))
    PARTITION BY RANGE (run_id)`
  yield* sql`ALTER TABLE runs DROP CONSTRAINT ${sql.literal(firstCheck)}`
  yield* sql`SELECT copy_privileges('runs_first', 'runs')`
  for (const trigger of ["run_is_final", "run_holds_too_little"])
    yield* sql`DROP TRIGGER ${sql.literal(trigger)} ON runs_first`
  yield* sql`
    CREATE TABLE runs_recent PARTITION OF runs FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (run_id)`
  yield* sql`SELECT copy_privileges('runs_first', 'runs_recent')`
  // Its CHECK stays: with it, the partition can be moved without a scan.
  yield* sql`ALTER TABLE runs_recent ATTACH PARTITION runs_first FOR VALUES FROM (MINVALUE) TO (${bound})`
  yield* sql`CREATE TABLE runs_future PARTITION OF runs_recent FOR VALUES FROM (${bound}) TO (MAXVALUE) WITH (fillfactor = 70)`
  // As in 0003_runs and 0020_hold.
  yield* sql`
    CREATE TRIGGER run_is_final BEFORE UPDATE ON runs FOR EACH ROW
    WHEN (OLD.finished_at IS NOT NULL AND (NEW.status, NEW.charged) IS DISTINCT FROM (OLD.status, OLD.charged))
    EXECUTE FUNCTION run_is_final()`
  yield* sql`
    CREATE TRIGGER run_holds_too_little BEFORE INSERT ON runs FOR EACH ROW
    WHEN (NEW.kind = 'endpoint' AND NEW.status = 'created' AND NEW.hold < CASE NEW.plan #>> '{raw,body_type}'
      WHEN 'actor_input' THEN 1
      ELSE coalesce((NEW.plan #>> '{raw,estimate}')::numeric * 1000000, 1) END)
    EXECUTE FUNCTION run_holds_too_little()`
})

const keys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE idempotency_keys (
      org_id text NOT NULL,
      idempotency_key text NOT NULL,
      run_id text NOT NULL,
      PRIMARY KEY (org_id, idempotency_key)
    )`
  // Rows stand in the order of their runs, so a small index finds the oldest ones. A row that lies in a summarized range may update its
  // summary, so ranges are small.
  yield* sql`CREATE INDEX idempotency_keys_age ON idempotency_keys USING brin (run_id) WITH (pages_per_range = 8)`
  yield* sql`
    CREATE VIEW run_keys AS
      SELECT org_id, idempotency_key, run_id FROM idempotency_keys
      UNION ALL
      SELECT org_id, idempotency_key, run_id FROM runs_first WHERE idempotency_key IS NOT NULL`
  yield* sql`SELECT copy_privileges('runs', 'idempotency_keys')`
  yield* sql`SELECT copy_privileges('runs', 'run_keys')`
  yield* sql`
    CREATE FUNCTION run_claims_key() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE holder text;
    BEGIN
      INSERT INTO idempotency_keys (org_id, idempotency_key, run_id) VALUES (NEW.org_id, NEW.idempotency_key, NEW.run_id)
      ON CONFLICT (org_id, idempotency_key) DO NOTHING;
      IF FOUND THEN
        SELECT f.run_id INTO holder FROM runs_first f
        WHERE f.org_id = NEW.org_id AND f.idempotency_key = NEW.idempotency_key AND f.run_id <> NEW.run_id;
      ELSE
        SELECT k.run_id INTO holder FROM idempotency_keys k
        WHERE k.org_id = NEW.org_id AND k.idempotency_key = NEW.idempotency_key AND k.run_id <> NEW.run_id;
      END IF;
      IF holder IS NULL THEN RETURN NEW; END IF;
      -- Of two runs in the first partition, its unique index refuses one as the statement asks.
      PERFORM FROM runs_first f WHERE f.org_id = NEW.org_id AND f.run_id = holder AND TG_RELID = 'runs_first'::regclass;
      IF FOUND THEN RETURN NEW; END IF;
      -- Months have no such index, and a trigger isn't told what the statement asks.
      IF strpos(current_query(), 'ON CONFLICT DO NOTHING') > 0 THEN RETURN NULL; END IF;
      RAISE EXCEPTION 'run % has the Idempotency-Key of %', NEW.run_id, holder
        USING ERRCODE = 'unique_violation', CONSTRAINT = 'runs_idempotency';
    END $$`
  yield* sql`
    CREATE TRIGGER run_claims_key BEFORE INSERT ON runs FOR EACH ROW
    WHEN (NEW.idempotency_key IS NOT NULL AND NEW.key_claimed IS NOT TRUE)
    EXECUTE FUNCTION run_claims_key()`
})

export const months = Effect.gen(function* () {
  yield* idTimes
  yield* closed
  yield* table
  yield* keys
})
