/** The database layer and its stores over a database of their own, for tests that need neither HTTP nor workers. */
import { afterAll, beforeAll } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { preparedDatabase } from "./postgres.ts"

export const startStorage = async (settings: Readonly<Record<string, string>> = {}) =>
  ManagedRuntime.make(
    Storage.pipe(Layer.provideMerge(Settings.layerFrom({ ...settings, DATABASE_URL: await preparedDatabase() })))
  )

export type StorageRuntime = Awaited<ReturnType<typeof startStorage>>
type Stores = StorageRuntime extends ManagedRuntime.ManagedRuntime<infer R, infer _E> ? R : never

/** The same for the tests of a file. Gives what carries an effect out. */
export const withStorage = (settings: Readonly<Record<string, string>> = {}) => {
  let runtime: StorageRuntime
  beforeAll(async () => {
    runtime = await startStorage(settings)
  })
  afterAll(() => runtime.dispose())
  return <A, E>(effect: Effect.Effect<A, E, Stores>) => runtime.runPromise(effect)
}

/** Inside a transaction: waits until a statement of another one waits for its locks. */
export const untilBlocking = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.repeat(
    sql`SELECT 1 AS one FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`,
    { until: (rows) => rows.length > 0 }
  )
)
