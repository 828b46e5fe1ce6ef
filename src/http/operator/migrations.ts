/**
 * Handler of `rungate admin migrations`: the schema's version, and the progress of background migrations.
 */
import { Console, Effect } from "effect"
import { onDatabase, print, table, when } from "./output.ts"
import { BackgroundMigrations, type Progress } from "../../layers/postgres/BackgroundMigrations.ts"
import { currentVersion, schemaVersion } from "../../layers/postgres/DatabaseSchema.ts"

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

const lines = (all: ReadonlyArray<Progress>): ReadonlyArray<string> =>
  all.length === 0
    ? ["This release has no background migrations."]
    : table(
        ["background migration", "status", "rows", "of about", "started", "finished"],
        all.map((one) => [
          one.name,
          statusOf(one),
          String(one.done),
          String(Math.max(one.total, one.done)),
          when(one.started_at),
          when(one.finished_at)
        ])
      )

export const migrations = (json: boolean) =>
  Effect.gen(function* () {
    const version = yield* currentVersion
    const progress = yield* (yield* BackgroundMigrations).progress
    if (json)
      return yield* print({
        schema_version: version,
        release_schema_version: schemaVersion,
        background: progress.map(viewOf)
      })
    yield* Console.log(`schema: version ${version} (this release has ${schemaVersion})`)
    yield* Console.log(lines(progress).join("\n"))
  }).pipe(onDatabase)
