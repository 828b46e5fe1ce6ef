/**
 * Counts finished runs into the rollups of usage, after the history worker has taken them from its queue.
 *
 * Every worker tries. Postgres lets one at a time through, and each batch is one transaction, so a killed process loses nothing and counts
 * nothing twice.
 */
import { Effect, Layer } from "effect"
import { DueWork } from "../layers/postgres/DueWork.ts"
import { UsageRollups } from "../layers/usage/UsageRollups.ts"

/** Limit of one pass, so that a backlog leaves capacity for runs. */
const batchesMax = 10

export const UsageWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const rollups = yield* UsageRollups
    const pass = Effect.gen(function* () {
      for (let batch = 0; batch < batchesMax; batch++) if ((yield* rollups.count) === 0) return
    })
    yield* (yield* DueWork).whenDue("usage", UsageRollups.due, pass)
  })
)
