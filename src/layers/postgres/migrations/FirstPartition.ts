/**
 * The upper bound of the first partitions: everything that was stored before `runs` and `ledger` were partitioned by month.
 *
 * An existing table becomes a partition without a scan if a validated CHECK says which rows it holds. Validating takes as long as reading the
 * table, so it happens before the migration, while other processes keep working.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeId } from "../../../schema/Ids.ts"
import { lockMigrations } from "./migrationLock.ts"

/** Name of the CHECK on `runs` and on `ledger`. */
export const firstCheck = "before_first_month"

const dayMillis = 86_400_000
/**
 * The CHECK also holds for new rows of the running service. If the upgrade is given up after it, the previous version can still work for this
 * long; then `ALTER TABLE runs DROP CONSTRAINT before_first_month` is needed.
 */
const spareMillis = 31 * dayMillis

const nextMonth = (millis: number): number => {
  const date = new Date(millis)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
const thisMonth = (millis: number): number => {
  const date = new Date(millis)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** The first id of a time: all run ids from this millisecond on are greater or equal. */
const firstIdOf = (millis: number): string => makeId("run", millis).slice(0, 14)

const letters = "0123456789abcdefghjkmnpqrstvwxyz"
const millisOf = (run_id: string): number =>
  [...run_id.slice(4, 14)].reduce((sum, letter) => sum * 32 + Math.max(0, letters.indexOf(letter)), 0)

/** A table without runs needs no spare time: its first month is the current one. Ids of a clock that was ahead move the bound. */
const boundOf = (newest: string | null, now: number): string =>
  firstIdOf(newest === null ? thisMonth(now) : nextMonth(Math.max(now + spareMillis, millisOf(newest))))

/**
 * Statements of a transaction that must wait for locks as short as possible. A lock that is waited for makes all later statements wait too, so
 * each try gives up after 0.3 s, which is also shorter than PostgreSQL waits until it looks for deadlocks.
 */
const lockTables = (tables: string): string => `
  DO $lock$
  BEGIN
    FOR try IN 1..200 LOOP
      BEGIN
        SET LOCAL lock_timeout = '300ms';
        LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE;
        SET LOCAL lock_timeout = 0;
        RETURN;
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        PERFORM pg_sleep(0.1 + random() * 0.3);
      END;
    END LOOP;
    RAISE EXCEPTION 'the tables ${tables} are busy; try again' USING ERRCODE = 'lock_not_available';
  END $lock$`

const checks = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const rows = yield* sql`
    SELECT c.relname::text AS table_name, substring(pg_get_constraintdef(k.oid) FROM '''(run_[^'']+)''') AS bound, k.convalidated AS valid
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.conname = ${firstCheck} AND k.conrelid IN (to_regclass('runs'), to_regclass('ledger'))`
  return rows.map((row) => ({
    table: String(row["table_name"]),
    bound: String(row["bound"]),
    valid: row["valid"] === true
  }))
})

/** False before another process has created the tables, and after one has partitioned them. */
const arePlainTables = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql`
      SELECT count(*) = 2 AS plain FROM pg_class WHERE oid IN (to_regclass('runs'), to_regclass('ledger')) AND relkind = 'r'`,
    ([row]) => row?.["plain"] === true
  )

/**
 * Several processes may start at once. Each step waits until no other process migrates, and then does nothing unless the tables still are as
 * they were before the migration.
 */
const step = <A, E>(sql: SqlClient.SqlClient, work: Effect.Effect<A, E>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* lockMigrations(sql)
      if (yield* arePlainTables(sql)) yield* work
    })
  )

const addChecks = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  if ((yield* checks(sql)).length === 2) return
  const [state] = yield* sql`
    SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_millis, greatest(
      (SELECT max(newest) FROM orgs o, LATERAL (
         SELECT r.run_id AS newest FROM runs r WHERE r.org_id = o.org_id ORDER BY r.run_id DESC LIMIT 1) n),
      (SELECT max(run_id) FROM ledger WHERE run_id IS NOT NULL)) AS newest`
  const newest = state?.["newest"]
  const bound = sql.literal(`'${boundOf(typeof newest === "string" ? newest : null, Number(state?.["now_millis"]))}'`)
  const name = sql.literal(firstCheck)
  yield* sql.unsafe(lockTables("runs, ledger"))
  yield* sql`ALTER TABLE runs ADD CONSTRAINT ${name} CHECK (run_id < ${bound}) NOT VALID`
  yield* sql`ALTER TABLE ledger ADD CONSTRAINT ${name} CHECK (run_id IS NULL OR run_id < ${bound}) NOT VALID`
})

const validateChecks = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  for (const check of yield* checks(sql))
    if (!check.valid) yield* sql`ALTER TABLE ${sql(check.table)} VALIDATE CONSTRAINT ${sql.literal(firstCheck)}`
})

/** Adds and validates the CHECKs that are missing. Returns the bound: a run id of which all stored ids are smaller. */
export const boundFirst = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* step(sql, addChecks(sql))
  yield* step(sql, validateChecks(sql))
  return (yield* checks(sql))[0]?.bound ?? ""
})

/** Does the slow part of the migration before it. A database without runs needs none: its first process may be migrating it right now. */
export const boundEarly = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  if (!(yield* arePlainTables(sql))) return
  const [row] = yield* sql`SELECT EXISTS (SELECT FROM runs) AS stored`
  if (row?.["stored"] === true) yield* boundFirst(sql)
})

/** Undoes `boundFirst` when the migration after it failed. */
export const unboundFirst = (sql: SqlClient.SqlClient) =>
  step(
    sql,
    Effect.forEach(
      ["runs", "ledger"],
      (table) => sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT IF EXISTS ${sql.literal(firstCheck)}`,
      { discard: true }
    )
  )
