/**
 * Changes many rows in small batches after an upgrade, and stores how far it is.
 *
 * Each batch and its progress are one transaction, so after a crash another process continues where the last one stopped, and no row is
 * changed twice. One process works at a time. A batch that meets a locked row is undone and tried again.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { lockMillisMax } from "./Migrate.ts"
import { background, type BackgroundMigration } from "./migrations/background.ts"
import { oneFlag, rowsOf, textValues } from "./Rows.ts"

export interface Progress {
  readonly name: string
  readonly done: number
  readonly total: number
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

/** `busy`: another process works on it. */
export type BackgroundStep = "busy" | Progress

/** Arbitrary key of the advisory lock. */
const backgroundLock = 730_944

const progressFields = {
  name: Schema.String,
  done: Schema.BigInt,
  total: Schema.BigInt,
  started_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date)
}
const progressRows = rowsOf(progressFields)
type ProgressRow = Effect.Success<ReturnType<typeof progressRows>>[number]

const progressOf = (row: ProgressRow): Progress => ({ ...row, done: Number(row.done), total: Number(row.total) })

export class BackgroundMigrations extends Context.Service<
  BackgroundMigrations,
  {
    /** Performs the next batch. Null when all have finished. */
    readonly step: Effect.Effect<BackgroundStep | null>
    /** All of this release, in the order in which they run. */
    readonly progress: Effect.Effect<ReadonlyArray<Progress>>
  }
>()("rungate/layers/postgres/BackgroundMigrations") {
  static readonly layerOf = (all: Readonly<Record<string, BackgroundMigration>>) =>
    Layer.effect(
      BackgroundMigrations,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const context = yield* Effect.context<SqlClient.SqlClient>()
        const names = Object.keys(all)

        const stored = progressRows(sql`
          SELECT name, done, total, started_at, finished_at FROM background_migrations`)
        const progress = Effect.map(stored, (rows) =>
          names.map((name): Progress => {
            const row = rows.find((one) => one.name === name)
            return row === undefined
              ? { name, done: 0, total: 0, started_at: null, finished_at: null }
              : progressOf(row)
          })
        )

        /** The stored cursor. At the start, the number of rows is stored. */
        const begin = Effect.fnUntraced(function* (name: string, migration: BackgroundMigration) {
          const [cursor] = yield* textValues(sql`SELECT cursor FROM background_migrations WHERE name = ${name}`)
          if (cursor !== undefined) return cursor
          const total = yield* migration.total
          yield* sql`INSERT INTO background_migrations (name, total) VALUES (${name}, ${total})`
          return ""
        })

        const batchOf = Effect.fnUntraced(function* (name: string, migration: BackgroundMigration) {
          // Without this, a batch could wait for a row while runs wait for the rows that it has changed.
          yield* sql`SET LOCAL lock_timeout = ${sql.literal(String(lockMillisMax))}`
          const free = yield* oneFlag(
            sql`SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), ${backgroundLock}) AS free`
          )
          if (!free) return "busy" as const
          const done = yield* migration.batch(yield* begin(name, migration))
          const [row] = yield* progressRows(
            done === null
              ? sql`
                  UPDATE background_migrations SET finished_at = coalesce(finished_at, now()), updated_at = now()
                  WHERE name = ${name} RETURNING name, done, total, started_at, finished_at`
              : sql`
                  UPDATE background_migrations SET cursor = ${done.cursor}, done = done + ${done.rows}, updated_at = now()
                  WHERE name = ${name} RETURNING name, done, total, started_at, finished_at`
          )
          return row === undefined ? yield* Effect.die(new Error(`${name} has no stored progress`)) : progressOf(row)
        })

        const step = Effect.gen(function* () {
          if (names.length === 0) return null
          const next = (yield* progress).find((one) => one.finished_at === null)
          const migration = next === undefined ? undefined : all[next.name]
          if (next === undefined || migration === undefined) return null
          return yield* sql.withTransaction(batchOf(next.name, migration))
        })

        return BackgroundMigrations.of({
          step: Effect.orDie(Effect.provideContext(step, context)),
          progress: Effect.orDie(progress)
        })
      })
    )
  static readonly layer = BackgroundMigrations.layerOf(background)
}
