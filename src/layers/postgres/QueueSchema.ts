/**
 * Migrates BullMQ's tables in Postgres. A role that does not own them never runs DDL; see DatabaseSchema.ts.
 */
import { LATEST_SCHEMA_VERSION, runMigrations } from "bullmq"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LastingClient } from "./connection/LastingClient.ts"
import { behind, ownSchema, stateOf } from "./DatabaseSchema.ts"
import { oneFlag } from "./Rows.ts"

/** BullMQ's tables live among the installation's own; beside `public`, which others may use too, they have a schema to themselves. */
export const queueSchemaOf = (own: string): string => (own === "public" ? "rungate_queues" : own)

/** The table with the versions of BullMQ's schema. */
export const queueVersionsOf = (queueSchema: string): string => `${queueSchema}.migration`

/** Whether BullMQ should run its migrations. Fails with `DatabaseRefused` when they are needed and this role may not run them. */
export const mayMigrateQueues = Effect.fnUntraced(function* (queueSchema: string) {
  const sql = yield* SqlClient.SqlClient
  const versions = queueVersionsOf(queueSchema)
  const { version, role, owned } = yield* stateOf(versions, "version")
  if (owned) return true
  if (version >= LATEST_SCHEMA_VERSION) return false
  const create = yield* oneFlag(sql`
    SELECT CASE WHEN to_regnamespace(${queueSchema}) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
                ELSE has_schema_privilege(${queueSchema}, 'CREATE') END AND to_regclass(${versions}) IS NULL AS create`)
  if (create) return true
  // Another process that starts at the same time may have made the tables since the first look.
  const now = yield* stateOf(versions, "version")
  if (now.owned) return true
  if (now.version >= LATEST_SCHEMA_VERSION) return false
  return yield* behind(
    { version: now.version, role, may_migrate: false },
    `schema ${queueSchema}`,
    LATEST_SCHEMA_VERSION
  )
})

/** Uses a separate connection, because BullMQ needs the `pg` driver. */
export const migrateQueues = Effect.fnUntraced(function* (url: string) {
  const schema = queueSchemaOf(yield* ownSchema)
  yield* Effect.acquireUseRelease(
    Effect.tryPromise(async () => {
      const client = new LastingClient({ connectionString: url })
      await client.connect()
      return client
    }),
    (client) => Effect.tryPromise(() => runMigrations(client, schema)),
    (client) => Effect.promise(() => client.end())
  )
})
