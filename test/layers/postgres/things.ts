/**
 * A background migration for tests: it counts each row of `things` once. As a program it works on DATABASE_URL until it is killed.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BackgroundMigrations } from "../../../src/layers/postgres/BackgroundMigrations.ts"
import { DatabaseLayer } from "../../../src/layers/postgres/Database.ts"
import type { BackgroundMigration } from "../../../src/layers/postgres/migrations/background.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"

export const things = 500
export const createThings = `
  CREATE TABLE things (id int PRIMARY KEY, counted int NOT NULL DEFAULT 0);
  INSERT INTO things (id) SELECT generate_series(1, ${things})`

/** `before` runs in each batch, after its rows are changed. */
export const countThings = (
  inBatch: Effect.Effect<void, unknown> = Effect.void,
  batchMax = 10
): BackgroundMigration => ({
  total: Effect.succeed(things),
  batch: (cursor) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ id: number }>`
        UPDATE things SET counted = counted + 1
        WHERE id IN (SELECT id FROM things WHERE id > ${Number(cursor)} ORDER BY id LIMIT ${batchMax}) RETURNING id`
      yield* inBatch
      if (rows.length === 0) return null
      return { cursor: String(Math.max(...rows.map(({ id }) => id))), rows: rows.length }
    })
})

export const layerOn = (url: string, all: Readonly<Record<string, BackgroundMigration>>) =>
  BackgroundMigrations.layerOf(all).pipe(
    Layer.provideMerge(DatabaseLayer),
    Layer.provide(Settings.layerFrom({ DATABASE_URL: url, REDIS_URL: "" }))
  )

if (import.meta.main) {
  const url = process.env["DATABASE_URL"] ?? ""
  const work = Effect.gen(function* () {
    const migrations = yield* BackgroundMigrations
    for (;;) {
      const step = yield* migrations.step
      console.log(step === null || step === "busy" ? step : step.done)
      if (step === null) return
    }
  })
  await Effect.runPromise(Effect.provide(work, layerOn(url, { things: countThings(Effect.sleep("20 millis")) })))
}
