/**
 * Makes the partitions of the next months, moves months whose runs are all final out of `runs_recent` (schema/partitions.sql), and drops months that
 * are older than the operator keeps them.
 *
 * Any number of processes may do this at once. The functions take a lock, work with the privileges of the tables' owner, and give up after half a
 * second if a table is busy, because statements of runs would wait behind them. The next call tries again.
 */
import { Effect, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../../platform/Settings.ts"
import { oneFlag, oneRowOf, rowsOf } from "../Rows.ts"

const stepRow = oneRowOf({ step: Schema.NullOr(Schema.String) })
const allowedRow = oneRowOf({ allowed: Schema.Boolean, role: Schema.String })
const droppedRows = rowsOf({ done: Schema.NullOr(Schema.String), waits: Schema.NullOr(Schema.String) })

/** Steps of one call: three for each month. */
const stepsMax = 12
/** Steps of one call: each deletes a day of Idempotency-Keys, or drops a month. */
const dropsMax = 100

/** Makes, moves and drops what is due, and logs what an operator should know. */
export const makeTendPartitions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { retentionMonths } = yield* Settings
  const said = yield* Ref.make("")

  /** Each says it once, not every ten minutes. */
  const warnOnce = Effect.fnUntraced(function* (text: string) {
    if ((yield* Ref.getAndSet(said, text)) !== text) yield* Effect.logWarning(text)
  })

  const makeMonths = Effect.gen(function* () {
    for (const table of ["runs", "ledger"]) {
      const waiting = yield* oneFlag(sql`SELECT make_months(${table}) AS waiting`)
      if (waiting)
        yield* Effect.logError(
          `${table}_future has rows: a clock is ahead, or months were not made in time; see docs/operate.md`
        )
    }
  })

  /** Reading a month takes as long as it is large. */
  const patient = <A, E>(work: Effect.Effect<A, E>) =>
    sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 0`, work))

  const ageMonths = Effect.gen(function* () {
    for (let n = 0; n < stepsMax; n++) {
      const { step } = yield* patient(stepRow(sql`SELECT age_month() AS step`))
      if (step === null) return
      yield* Effect.logInfo(`partition ${step}`)
    }
  })

  const dropMonths = Effect.gen(function* () {
    const { allowed, role } = yield* allowedRow(sql`
          SELECT has_function_privilege('drop_months(timestamptz)', 'EXECUTE') AS allowed, current_user::text AS role`)
    if (!allowed)
      return yield* warnOnce(
        `RUNGATE_RETENTION_MONTHS drops nothing, because the role "${role}" may not drop months. As the owner of the schema, run: GRANT EXECUTE ON FUNCTION drop_months(timestamptz) TO ${role};`
      )
    for (let n = 0; n < dropsMax; n++) {
      const [step] = yield* patient(
        droppedRows(sql`
              SELECT done, waits FROM drop_months(date_trunc('month', now(), 'UTC') - make_interval(months => ${retentionMonths}::int))`)
      )
      if (step === undefined) return
      if (step.done === null) return yield* warnOnce(`retention keeps the month ${step.waits}`)
      yield* Effect.logInfo(`retention: ${step.done}`)
    }
  })

  const tend = Effect.andThen(makeMonths, ageMonths)

  return Effect.orDie(retentionMonths === 0 ? tend : Effect.andThen(tend, dropMonths))
})
