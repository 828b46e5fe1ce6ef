/**
 * Counts finished runs into the rollups of usage, after the history worker has taken them from its queue.
 *
 * Every worker tries. Postgres lets one at a time through, and each batch is one transaction, so a killed process loses nothing and counts
 * nothing twice.
 */
import { Effect, Layer, Schedule } from "effect"
import { oneLine } from "../layers/postgres/Batch.ts"
import { underway } from "../layers/platform/Underway.ts"
import { UsageRollups } from "../layers/usage/UsageRollups.ts"

const countEvery = "1 second"
/** Limit of one pass, so that a backlog leaves capacity for runs. */
const batchesMax = 10

export const UsageWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const rollups = yield* UsageRollups
    const pass = Effect.gen(function* () {
      for (let batch = 0; batch < batchesMax; batch++) if ((yield* rollups.count) === 0) return
    })
    yield* pass.pipe(
      Effect.catchCause((cause) => Effect.logWarning(`usage: ${oneLine(cause)}`)),
      underway("usage"),
      Effect.repeat(Schedule.spaced(countEvery)),
      Effect.forkScoped
    )
  })
)
