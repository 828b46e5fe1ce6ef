/**
 * Reads the schema's version and migrates it when the role may.
 *
 * A role that owns the schema migrates at start. Any other role never runs DDL: it starts only on a schema that is up to date, and
 * otherwise fails with a message to run `rungate migrate` as the owner. A schema that is newer than this release says whether it still
 * supports it.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { buildIndexes, type Migrations, migrateWith } from "./Migrate.ts"
import { type Contracts, contracts } from "./migrations/contracts.ts"
import { type Indexes, indexes } from "./migrations/indexes.ts"
import { migrations } from "./migrations/index.ts"
import { Settings } from "../platform/Settings.ts"
import { oneFlag, oneNumber, oneRowOf, textValues } from "./Rows.ts"

/** The database can be reached, but this process must not use it. */
export class DatabaseRefused extends Schema.TaggedError<DatabaseRefused>()("DatabaseRefused", {
  message: Schema.String
}) {}

const versionOf = (list: Migrations) => Math.max(...Object.keys(list).map((name) => Number.parseInt(name, 10)))

/** The schema version that this release needs. */
export const schemaVersion = versionOf(migrations)

interface State {
  /** 0 for an empty database. */
  readonly version: number
  readonly role: string
  readonly may_migrate: boolean
}

const migrationsTableRow = oneRowOf({ exists: Schema.Boolean, owned: Schema.Boolean, role: Schema.String })
const versionRow = oneRowOf({ version: Schema.NullOr(Schema.Number) })
const namedRow = oneRowOf({ exists: Schema.Boolean, create: Schema.Boolean, role: Schema.String })

/** The schema that this installation's tables are in. */
export const ownSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* oneRowOf({ name: Schema.String })(sql`SELECT current_schema()::text AS name`)).name
})

/** Any key: processes that start at once make the schema one after the other. */
const makingLock = 730_946

/** Makes the schema of RUNGATE_DATABASE_SCHEMA, if the role may. */
const prepareNamed = Effect.gen(function* () {
  const { databaseSchema } = yield* Settings
  if (databaseSchema === null) return
  const sql = yield* SqlClient.SqlClient
  const { exists, create, role } = yield* namedRow(sql`
    SELECT to_regnamespace(${databaseSchema}) IS NOT NULL AS exists, current_user::text AS role,
           has_database_privilege(current_database(), 'CREATE') AS create`)
  if (exists) return
  if (!create)
    return yield* new DatabaseRefused({
      message: `The database has no schema "${databaseSchema}" (RUNGATE_DATABASE_SCHEMA), and the role "${role}" may not make it. Make it as the database's owner: CREATE SCHEMA ${databaseSchema} AUTHORIZATION …; docs/database-roles.md says which role owns it.`
    })
  yield* sql.withTransaction(
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(${makingLock})`,
      sql`CREATE SCHEMA IF NOT EXISTS ${sql(databaseSchema)}`
    )
  )
})

/** Version, current role and ownership of the table `table`, whose `column` holds the migration numbers. */
export const stateOf = Effect.fnUntraced(function* (table: string, column: string) {
  const sql = yield* SqlClient.SqlClient
  const migrationsTable = yield* migrationsTableRow(sql`
    SELECT c.oid IS NOT NULL AS exists, coalesce(pg_has_role(c.relowner, 'USAGE'), false) AS owned, current_user::text AS role
    FROM (SELECT to_regclass(${table}) AS oid) t LEFT JOIN pg_class c ON c.oid = t.oid`)
  const { role, owned } = migrationsTable
  if (!migrationsTable.exists) return { version: 0, role, owned: false }
  const { version } = yield* versionRow(sql`
    SELECT max(${sql.literal(column)}) AS version FROM ${sql.literal(table)}`)
  // An empty table: the first migration failed.
  return { version: version ?? 0, role, owned }
})

/** The database's schema version. */
export const currentVersion = Effect.map(stateOf("effect_sql_migrations", "migration_id"), ({ version }) => version)

const serviceState = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { version, role, owned } = yield* stateOf("effect_sql_migrations", "migration_id")
  if (version > 0) return { version, role, may_migrate: owned } satisfies State
  const create = yield* oneFlag(sql`
    SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS create`)
  return { version, role, may_migrate: create } satisfies State
})

export const behind = ({ version, role }: State, what: string, wanted: number) =>
  new DatabaseRefused({
    message: `The database's ${what} has version ${version}, this release needs ${wanted}, and the role "${role}" may not change it. Run \`rungate migrate\` with RUNGATE_MIGRATION_DATABASE_URL set to the owner's URL, then start again; see docs/database-roles.md.`
  })

/**
 * A newer release has migrated this database: this process is the last one of the old release in an upgrade, or a step back. It works as
 * long as the newer schema still has everything that this release uses.
 */
const onNewer = Effect.fnUntraced(function* (version: number, ownVersion: number) {
  const sql = yield* SqlClient.SqlClient
  const compatible_from = yield* oneNumber(sql`SELECT compatible_from FROM schema_compatibility`)
  if (ownVersion < compatible_from)
    return yield* new DatabaseRefused({
      message: `A newer release has migrated this database to schema version ${version}, and it no longer works with releases that know only version ${compatible_from - 1} or older. This release knows version ${ownVersion}. Install the release that migrated the database, or a newer one.`
    })
  yield* Effect.logInfo(
    `database: a newer release has migrated the schema to version ${version}. This release knows version ${ownVersion} and is still supported.`
  )
})

/** The first migration. A database from before release 0.1.0, when each change had a migration of its own, began with another one. */
const firstName = "baseline"

/** Refuses a database that was made before the first release: no migration leads from its tables to these. */
const checkOrigin = Effect.fnUntraced(function* (version: number) {
  if (version === 0) return
  const sql = yield* SqlClient.SqlClient
  const [first] = yield* textValues(sql`SELECT name FROM effect_sql_migrations WHERE migration_id = 1`)
  if (first === firstName) return
  return yield* new DatabaseRefused({
    message:
      "This database was made by a development version of Rungate, before release 0.1.0, and can't be upgraded. Nothing in it was changed. Point DATABASE_URL at an empty database, or RUNGATE_DATA_DIR at a new folder for the embedded one, and start again."
  })
})

/** Migrates the service's tables; fails with `DatabaseRefused` when they are behind and this role may not change them. */
export const prepareSchemaOf = Effect.fnUntraced(function* (
  list: Migrations,
  removing: Contracts,
  wantedIndexes: Indexes
) {
  const wanted = versionOf(list)
  const state = yield* serviceState
  yield* checkOrigin(state.version)
  if (state.version > wanted) return yield* onNewer(state.version, wanted)
  if (state.version < wanted) {
    if (!state.may_migrate) return yield* behind(state, "schema", wanted)
    yield* migrateWith(list, removing, state.version === 0).pipe(
      Effect.catchTag("MigrationBlocked", ({ message }) => Effect.fail(new DatabaseRefused({ message })))
    )
  }
  if (state.may_migrate) yield* buildIndexes(wantedIndexes)
})

export const prepareSchema = Effect.andThen(prepareNamed, prepareSchemaOf(migrations, contracts, indexes))
