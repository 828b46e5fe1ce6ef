/**
 * Indexes runs after they end, counts them into the rollups of usage, and erases runs and batches that are older than the operator's
 * retention period.
 *
 * Any number of workers may do this at once. Postgres stores the pending work, and each batch is one transaction.
 */
import { Context, Effect, Layer } from "effect"
import { BatchErasure } from "../layers/history/BatchErasure.ts"
import { Erasure } from "../layers/history/Erasure.ts"
import { HistoryIndex, stepMax } from "../layers/history/index/HistoryIndex.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { DueWork } from "../layers/postgres/DueWork.ts"
import { UsageRollups } from "../layers/usage/UsageRollups.ts"

/** Limits of one pass, so that a backlog leaves capacity for runs. */
const batchesMax = 20
const rollupsMax = 10
const erasedMax = 2_000

export class HistoryWorker extends Context.Service<
  HistoryWorker,
  {
    /** Indexes runs that have ended. Returns their number. */
    readonly index: Effect.Effect<number>
    readonly indexDue: () => string
    /** Erases runs past the retention period. Returns their number, always 0 without a retention period. */
    readonly retain: Effect.Effect<number>
  }
>()("rungate/actors/HistoryWorker") {
  static readonly layer = Layer.effect(
    HistoryWorker,
    Effect.gen(function* () {
      const { retentionDays, retentionMonths } = yield* Settings
      const history = yield* HistoryIndex
      const erasure = yield* Erasure
      const batches = yield* BatchErasure
      const index = Effect.gen(function* () {
        let indexed = 0
        for (let batch = 0; batch < batchesMax; batch++) {
          const done = yield* history.index
          indexed += done
          // Runs that end meanwhile wait for the next pass: a step for each few of them would cost more than they do.
          if (done < stepMax) break
        }
        return indexed
      })
      const retain =
        retentionDays === 0
          ? Effect.succeed(0)
          : Effect.gen(function* () {
              yield* batches.olderThan(retentionDays)
              if (retentionMonths > 0) yield* batches.drop(retentionMonths)
              let erased = 0
              for (;;) {
                const done = yield* erasure.olderThan(retentionDays, erasedMax)
                if (done === 0) return erased
                erased += done
              }
            })
      return HistoryWorker.of({ index, indexDue: history.due, retain })
    })
  )
}

/** Counts what the index has taken from its queue. */
export const UsageWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const rollups = yield* UsageRollups
    const pass = Effect.gen(function* () {
      for (let batch = 0; batch < rollupsMax; batch++) if ((yield* rollups.count) === 0) return
    })
    yield* (yield* DueWork).whenDue("usage", UsageRollups.due, pass)
  })
)
