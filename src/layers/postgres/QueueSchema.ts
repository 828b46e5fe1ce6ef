/**
 * BullMQ's own tables on Postgres, and who may change them. A role that does not own them never runs DDL; see DatabaseSchema.ts.
 */
import { LATEST_SCHEMA_VERSION, runMigrations } from "bullmq"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { behind, stateOf } from "./DatabaseSchema.ts"

export const queueSchema = "rungate_queues"
const versions = `${queueSchema}.migration`

/** Whether BullMQ may bring its tables up to date; refuses when it must and may not. */
export const mayMigrateQueues = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { version, role, owned } = yield* stateOf(versions, "version")
  if (owned) return true
  if (version >= LATEST_SCHEMA_VERSION) return false
  const [may] = yield* sql<{ create: boolean }>`
    SELECT has_database_privilege(current_database(), 'CREATE') AND to_regclass(${versions}) IS NULL AS create`
  if (may?.create === true) return true
  return yield* behind({ version, role, may_migrate: false }, `schema ${queueSchema}`, LATEST_SCHEMA_VERSION)
})

/** Over a connection of its own: BullMQ's driver is not ours. */
export const migrateQueues = (url: string) =>
  Effect.acquireUseRelease(
    Effect.tryPromise(async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
    }),
    (client) => Effect.tryPromise(() => runMigrations(client, queueSchema)),
    (client) => Effect.promise(() => client.end())
  )
