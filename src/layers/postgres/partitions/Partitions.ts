/**
 * Makes the partitions of the next months, and moves months whose runs are all final out of `runs_recent` (migration 0032).
 *
 * Any number of processes may do this at once. The functions take a lock, work with the privileges of the tables' owner, and give up after half a
 * second if a table is busy, because statements of runs would wait behind them. The next call tries again.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf } from "../Rows.ts"

const waitingRow = oneRowOf({ waiting: Schema.Boolean })
const stepRow = oneRowOf({ step: Schema.NullOr(Schema.String) })

/** Steps of one call: three for each month. */
const stepsMax = 12

export class Partitions extends Context.Service<
  Partitions,
  {
    /** Makes and moves what is due, and logs what an operator should know. */
    readonly tend: Effect.Effect<void>
  }
>()("rungate/layers/postgres/Partitions") {
  static readonly layer = Layer.effect(
    Partitions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const makeMonths = Effect.gen(function* () {
        for (const table of ["runs", "ledger"]) {
          const { waiting } = yield* waitingRow(sql`SELECT make_months(${table}) AS waiting`)
          if (waiting)
            yield* Effect.logError(
              `${table}_future has rows: a clock is ahead, or months were not made in time; see docs/operate.md`
            )
        }
      })

      // Checking a month reads all of it.
      const ageOnce = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SET LOCAL statement_timeout = 0`
          return yield* stepRow(sql`SELECT age_month() AS step`)
        })
      )
      const ageMonths = Effect.gen(function* () {
        for (let n = 0; n < stepsMax; n++) {
          const { step } = yield* ageOnce
          if (step === null) return
          yield* Effect.logInfo(`partition ${step}`)
        }
      })

      return Partitions.of({ tend: Effect.orDie(Effect.andThen(makeMonths, ageMonths)) })
    })
  )
}
