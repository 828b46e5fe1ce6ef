/**
 * The historian: puts runs that have ended into the index of history, and erases what has become older than the operator keeps it.
 *
 * Any number of workers run it; what is to be done stands in Postgres, and each batch is whole.
 */
import { Context, Effect, Layer } from "effect"
import { Erasure } from "../layers/history/Erasure.ts"
import { HistoryIndex } from "../layers/history/index/HistoryIndex.ts"
import { Settings } from "../layers/platform/Settings.ts"

/** Batches in one go, so that a backlog leaves room for runs. */
const batchesMax = 20
const erasedMax = 2_000

export class HistoryWorker extends Context.Service<
  HistoryWorker,
  {
    /** Indexes what has ended. Answers how many runs. */
    readonly index: Effect.Effect<number>
    /** Erases what is too old. Answers how many runs; 0 when nothing is kept for a limited time. */
    readonly retain: Effect.Effect<number>
  }
>()("rungate/actors/HistoryWorker") {
  static readonly layer = Layer.effect(
    HistoryWorker,
    Effect.gen(function* () {
      const { retentionDays } = yield* Settings
      const history = yield* HistoryIndex
      const erasure = yield* Erasure
      const index = Effect.gen(function* () {
        let indexed = 0
        for (let batch = 0; batch < batchesMax; batch++) {
          const done = yield* history.index
          if (done === 0) break
          indexed += done
        }
        return indexed
      })
      const retain =
        retentionDays === 0
          ? Effect.succeed(0)
          : Effect.gen(function* () {
              let erased = 0
              for (;;) {
                const done = yield* erasure.olderThan(retentionDays, erasedMax)
                if (done === 0) return erased
                erased += done
              }
            })
      return HistoryWorker.of({ index, retain })
    })
  )
}
