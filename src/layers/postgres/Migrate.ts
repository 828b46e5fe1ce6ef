/**
 * Runs the migrations that a database lacks, while the last release works on it.
 *
 * Each migration is a transaction of its own. It waits for a lock at most `lockMillisMax`, because all statements on a table wait behind a
 * waiting ALTER TABLE. A migration that does not get its locks is undone and tried again after a pause, so the service goes on meanwhile.
 * Indexes of tables with rows are built after the migrations, without a lock.
 */
import { Effect, Schedule, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { Contracts } from "./migrations/contracts.ts"
import type { Indexes } from "./migrations/indexes.ts"
import { oneFlag, oneNumber, rowsOf, textValues } from "./Rows.ts"
import { sqlStateOf } from "./connection/SqlState.ts"

/** The tables are in use, or an earlier step has not finished. */
export class MigrationBlocked extends Schema.TaggedError<MigrationBlocked>()("MigrationBlocked", {
  message: Schema.String
}) {}

export type Migrations = Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>

/** Arbitrary keys of the advisory locks of the process that migrates and of the one that builds indexes. */
const migrationLock = 730_943
const indexLock = 730_945

/** Shorter than PostgreSQL's deadlock_timeout of 1 s: in a deadlock with the service it is the migration that gives way. */
export const lockMillisMax = 800
/** Statements on the table wait during each attempt, so attempts become rare while a long transaction lasts. */
const pauses = Schedule.min([Schedule.exponential("1 second", 1.5), Schedule.spaced("10 seconds")])
/** About ten minutes: long reports and backups of operators end in that time. */
const attemptsMax = 60
const warnEvery = 10
/** Between two looks whether another process has built the indexes. */
const pauseMillis = 1_000

const leafRows = rowsOf({ leaf: Schema.String, valid: Schema.Boolean })

/** PostgreSQL cuts longer names off. */
const nameBytesMax = 63

const numberOf = (name: string) => Number.parseInt(name, 10)
const lockNotAvailable = "55P03"

const unfinished = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const finished = yield* textValues(sql`SELECT name FROM background_migrations WHERE finished_at IS NOT NULL`)
  return names.filter((name) => !finished.includes(name))
})

/** Runs the next migration in a transaction. Returns its name, or null when there is none left. */
const runNext = Effect.fnUntraced(function* (migrations: Migrations, contracts: Contracts, isNew: boolean) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  // Several processes may start at once: one migrates, and the others wait here until its transaction ends.
  yield* sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${migrationLock})`
  yield* sql`SET LOCAL lock_timeout = ${sql.literal(String(lockMillisMax))}`
  // As the migrator makes it. It looks for the table and then makes it, and an error between the two would spoil this transaction.
  yield* sql`
    CREATE TABLE IF NOT EXISTS effect_sql_migrations (
      migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL
    )`
  const version = yield* oneNumber(sql`
    SELECT coalesce(max(migration_id), 0)::int AS version FROM effect_sql_migrations`)
  const [next] = Object.entries(migrations)
    .filter(([name]) => numberOf(name) > version)
    .sort(([a], [b]) => numberOf(a) - numberOf(b))
  if (next === undefined) return null
  const [name, migration] = next
  const contract = contracts[name]
  // A new database has no rows that a background migration would change.
  const left = contract === undefined || isNew ? [] : yield* unfinished(contract.after)
  if (left.length > 0)
    return yield* new MigrationBlocked({
      message: `Migration ${name} must wait until the background migration ${left.join(", ")} has finished. Keep the release before this one running until \`rungate admin migrations\` shows it as finished, then upgrade again.`
    })
  yield* Migrator.make({})({ loader: Migrator.fromRecord({ [name]: migration }) })
  if (contract !== undefined)
    yield* sql`UPDATE schema_compatibility SET compatible_from = greatest(compatible_from, ${contract.compatible_from})`
  return name
})

const inUse = (attempts: number) =>
  `A migration could not lock its tables in ${attempts} attempts, because long transactions use them. Find them with: SELECT pid, xact_start, query FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER BY xact_start; end them, then start again. Nothing is half done.`

/** `isNew`: the database was empty before. */
export const migrateWith = Effect.fnUntraced(function* (migrations: Migrations, contracts: Contracts, isNew: boolean) {
  const sql = yield* SqlClient.SqlClient
  let attempts = 0
  const attempt = sql.withTransaction(runNext(migrations, contracts, isNew)).pipe(
    Effect.tapError((error) => {
      if (sqlStateOf(error) !== lockNotAvailable || attempts++ % warnEvery !== 0) return Effect.void
      return Effect.logWarning(
        "A migration waits for tables that a long transaction uses. It tries again, and the service goes on meanwhile."
      )
    }),
    Effect.retry({
      while: (error) => sqlStateOf(error) === lockNotAvailable && attempts < attemptsMax,
      schedule: pauses
    }),
    Effect.mapError((error) =>
      sqlStateOf(error) === lockNotAvailable ? new MigrationBlocked({ message: inUse(attempts) }) : error
    )
  )
  while ((yield* attempt) !== null) attempts = 0
})

/**
 * Builds an index without a lock that writers wait for. PostgreSQL builds no index of a table with partitions CONCURRENTLY. So the index of each
 * partition is built first, and the table's index then takes them over without reading a row. `run` executes a statement outside a transaction.
 */
const buildIndex = Effect.fnUntraced(function* <E>(
  name: string,
  definition: string,
  run: (text: string) => Effect.Effect<unknown, E>
) {
  const sql = yield* SqlClient.SqlClient
  const [, table = "", columns = ""] = /^ON (\w+) (.*)$/s.exec(definition) ?? []
  const leaves = yield* leafRows(sql`
    SELECT c.relname::text AS leaf, EXISTS (
      SELECT FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = c.oid AND x.indisvalid AND i.relname = left(${name} || '_' || c.relname, ${nameBytesMax}::int)) AS valid
    FROM pg_partition_tree(${table}) t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf AND t.level > 0`)
  for (const { leaf, valid } of leaves) {
    if (valid) continue
    const own = `${name}_${leaf}`.slice(0, nameBytesMax)
    yield* run(`DROP INDEX CONCURRENTLY IF EXISTS ${own}`)
    yield* run(`CREATE INDEX CONCURRENTLY ${own} ON ${leaf} ${columns}`)
  }
  const how = leaves.length === 0 ? "CONCURRENTLY" : ""
  if (leaves.length > 0) yield* run(`SET lock_timeout = ${lockMillisMax}`)
  yield* Effect.gen(function* () {
    yield* run(`DROP INDEX ${how} IF EXISTS ${name}`)
    yield* run(`CREATE INDEX ${how} ${name} ${definition}`)
  }).pipe(Effect.ensuring(Effect.ignore(run("RESET lock_timeout"))))
})

/**
 * Builds the next index that is missing or that a killed build has left invalid. False: another process builds one. Null: nothing to do.
 *
 * It needs a session of its own: CREATE INDEX CONCURRENTLY runs outside a transaction. It waits for all older transactions, so nobody may wait
 * for it inside one.
 */
const buildNext = Effect.fnUntraced(function* (wanted: Indexes) {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  const run = (text: string) => connection.executeUnprepared(text, [], undefined)
  const missing = Effect.map(
    textValues(sql`SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisvalid`),
    (valid) => Object.entries(wanted).find(([name]) => !valid.includes(name))
  )
  if ((yield* missing) === undefined) return null
  const free = yield* oneFlag(run(`SELECT pg_try_advisory_lock(hashtext(current_schema()), ${indexLock}) AS free`))
  if (!free) return false
  return yield* Effect.gen(function* () {
    const next = yield* missing
    if (next === undefined) return null
    const [name, definition] = next
    yield* Effect.logInfo(`database: building the index ${name}. Running processes go on meanwhile.`)
    yield* run("SET statement_timeout = 0")
    yield* buildIndex(name, definition, run)
    return true
  }).pipe(
    Effect.ensuring(
      Effect.ignore(
        Effect.andThen(
          run("RESET statement_timeout"),
          run(`SELECT pg_advisory_unlock(hashtext(current_schema()), ${indexLock})`)
        )
      )
    )
  )
})

export const buildIndexes = Effect.fnUntraced(function* (wanted: Indexes) {
  if (Object.keys(wanted).length === 0) return
  for (;;) {
    const built = yield* Effect.scoped(buildNext(wanted)).pipe(
      // The index of a table with partitions needs a lock for a moment.
      Effect.catchIf(
        (error) => sqlStateOf(error) === lockNotAvailable,
        () => Effect.succeed(false)
      )
    )
    if (built === null) return
    if (!built) yield* Effect.sleep(pauseMillis)
  }
})
