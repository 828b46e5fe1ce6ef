/**
 * Handlers of `rungate migrate`, which migrates the schema as its owner and grants the service's role its privileges, and of
 * `rungate admin migrations`, which shows the schema's version and the progress of background migrations.
 *
 * After `rungate migrate`, the service's role needs no DDL privilege. Loaded on demand.
 */
import { Console, Effect, Redacted, References } from "effect"
import { onDatabase } from "../operator/database.ts"
import { print, table, when } from "../operator/output.ts"
import { BackgroundMigrations, type Progress } from "../../layers/postgres/BackgroundMigrations.ts"
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

const statusOf = ({ started_at, finished_at }: Progress) =>
  finished_at !== null ? "finished" : started_at === null ? "not_started" : "running"

const viewOf = (one: Progress) => ({
  name: one.name,
  status: statusOf(one),
  rows_done: one.done,
  rows_total: Math.max(one.total, one.done),
  started_at: one.started_at?.toISOString() ?? null,
  finished_at: one.finished_at?.toISOString() ?? null
})

const lines = (all: ReadonlyArray<ReturnType<typeof viewOf>>): ReadonlyArray<string> =>
  all.length === 0
    ? ["This release has no background migrations."]
    : table(all, {
        "background migration": (one) => one.name,
        status: (one) => one.status,
        rows: (one) => one.rows_done,
        "of about": (one) => one.rows_total,
        started: (one) => when(one.started_at),
        finished: (one) => when(one.finished_at)
      })

export const migrations = (json: boolean) =>
  Effect.gen(function* () {
    const version = yield* currentVersion
    const background = (yield* (yield* BackgroundMigrations).progress).map(viewOf)
    if (json) return yield* print({ schema_version: version, release_schema_version: schemaVersion, background })
    yield* Console.log(`schema: version ${version} (this release has ${schemaVersion})`)
    yield* Console.log(lines(background).join("\n"))
  }).pipe(onDatabase)
