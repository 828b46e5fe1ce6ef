/**
 * The index of `run_subjects` by run. Only a re-index asks which subjects a run has, so it stands for no longer than one is at work: kept
 * for good it would cost each run as much again as the index that questions use.
 *
 * Built and dropped beside a busy service, by whoever holds a lock that goes with its connection; what a killed process leaves behind is
 * used by the next, or dropped by a worker.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"
import { isRecord } from "../schema/Json.ts"

/** Any number; nobody else's. */
const lock = 7_411_007
/** Postgres takes a moment to see that the process before is gone, and a worker to clear up after it. */
const triesMax = 10
const tryEvery = "200 millis"
const name = "run_subjects_run"

export class ReindexUnderWay extends Schema.TaggedError<ReindexUnderWay>()("ReindexUnderWay", {
  message: Schema.String
}) {}

const asked = (connection: SqlConnection.Connection, text: string) =>
  Effect.map(connection.executeUnprepared(text, [], undefined), (rows: ReadonlyArray<unknown>) => {
    const [row] = rows
    return isRecord(row) ? row["answer"] : undefined
  })

/** A connection with the lock, and with all the time that an index takes; null while somebody else has the lock. */
const locked = Effect.fnUntraced(function* (tries: number) {
  const connection = yield* (yield* SqlClient.SqlClient).reserve
  const take = asked(connection, `SELECT pg_try_advisory_lock(${lock}) AS answer`)
  const taking = Effect.gen(function* () {
    let taken = yield* take
    for (let n = 1; n < tries && taken !== true; n++) taken = yield* Effect.delay(take, tryEvery)
    return taken
  })
  const taken = yield* Effect.acquireRelease(taking, (mine) =>
    // The connection goes back to the others: it must not keep the lock.
    mine === true ? Effect.ignore(asked(connection, `SELECT pg_advisory_unlock(${lock})`)) : Effect.void
  )
  if (taken !== true) return null
  yield* Effect.acquireRelease(asked(connection, "SET statement_timeout = 0"), () =>
    Effect.ignore(asked(connection, "RESET statement_timeout"))
  )
  return connection
})

const drop = (connection: SqlConnection.Connection) => asked(connection, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`)

/** There until the scope is closed. */
export const runIndex = Effect.gen(function* () {
  const connection = yield* locked(triesMax)
  if (connection === null) {
    const message =
      "Another rungate admin reindex-history is at work on this database, or one that was killed is not over yet; wait until it has ended."
    return yield* new ReindexUnderWay({ message })
  }
  yield* Effect.addFinalizer(() => Effect.ignore(drop(connection)))
  // A build that was broken off leaves an index that nobody may use.
  const valid = yield* asked(
    connection,
    `SELECT indisvalid AS answer FROM pg_index WHERE indexrelid = to_regclass('${name}')`
  )
  if (valid === true) return
  if (valid === false) yield* drop(connection)
  yield* asked(connection, `CREATE INDEX CONCURRENTLY ${name} ON run_subjects (run_id)`)
})

/** Drops what a killed re-index left behind. */
export const noRunIndex = Effect.scoped(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [left] = yield* sql<{ there: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS there`
    if (left?.there !== true) return
    const connection = yield* locked(1)
    if (connection !== null) yield* drop(connection)
  })
)
