/**
 * Performs background migrations one batch after the other, with a pause after each, so that runs are hardly slower meanwhile.
 *
 * Every worker tries. Postgres lets one at a time through and stores the progress, so a killed process loses at most one batch.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { logFailure } from "../layers/postgres/Batch.ts"
import { BackgroundMigrations, type Progress } from "../layers/postgres/BackgroundMigrations.ts"

/** The pause is as long as the batch took, so at most one half of one connection is used, and at least this long. */
const pauseMillisMin = 50
/** After a failure, and while another process works on it. */
const idleMillis = 5_000
const logMillis = 10_000

const logged = ({ name, done, total, finished_at }: Progress) =>
  Effect.logInfo(
    finished_at === null
      ? `background migration ${name}: ${done} of about ${Math.max(total, done)} rows. Safe to interrupt: a worker continues here.`
      : `background migration ${name}: finished, ${done} rows`
  )

export const BackgroundWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const migrations = yield* BackgroundMigrations
    let toldAt = -Infinity
    /** Null when nothing is left to do. */
    const next = Effect.gen(function* () {
      const began = yield* Clock.currentTimeMillis
      const step = yield* migrations.step
      const now = yield* Clock.currentTimeMillis
      if (step === null) return null
      if (step === "busy") return idleMillis
      if (step.finished_at !== null || now - toldAt >= logMillis) {
        toldAt = now
        yield* logged(step)
      }
      return Math.max(pauseMillisMin, now - began)
    }).pipe(
      Effect.catchCause((cause) => Effect.as(logFailure("A migration step failed; retrying in 5 s")(cause), idleMillis))
    )
    const work = Effect.gen(function* () {
      for (;;) {
        const pause = yield* next
        if (pause === null) return
        yield* Effect.sleep(Duration.millis(pause))
      }
    })
    yield* Effect.forkScoped(work)
  })
)
