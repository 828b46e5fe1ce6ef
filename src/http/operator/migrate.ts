/**
 * Handler of `rungate migrate`: migrates the schema as its owner, and grants the service's role its privileges.
 *
 * The service's role then needs no DDL privilege. Loaded on demand.
 */
import { Console, Effect, Redacted, References } from "effect"
import { MigrationDatabase } from "../../layers/postgres/Database.ts"
import { grantTo } from "../../layers/postgres/DatabaseRoles.ts"
import { currentVersion, schemaVersion } from "../../layers/postgres/DatabaseSchema.ts"
import { DatabaseUrl } from "../../layers/postgres/connection/DatabaseUrl.ts"
import { migrateQueues } from "../../layers/postgres/QueueSchema.ts"
import { Settings } from "../../layers/platform/Settings.ts"

export const migrate = (serviceRole: string | null) =>
  Effect.gen(function* () {
    const { redisUrl } = yield* Settings
    const { url } = yield* DatabaseUrl
    const queues = redisUrl === null
    yield* Console.log(`schema: version ${yield* currentVersion} (this release has ${schemaVersion})`)
    if (queues) yield* migrateQueues(Redacted.value(url))
    yield* Console.log(queues ? "queues: up to date" : "queues: on Redis (REDIS_URL), nothing to migrate")
    if (serviceRole === null) return
    yield* grantTo(serviceRole, queues)
    yield* Console.log(`granted: "${serviceRole}" can run the service and can't change the ledger`)
  }).pipe(Effect.provide(MigrationDatabase), Effect.provideService(References.LogToStderr, true))
