/**
 * The historian: cuts up the words of runs that have ended, adds up what is asked for again and again, and erases what has become older than the operator keeps it.
 *
 * Any number of workers run it; what is to be done stands in Postgres, and each batch is whole.
 */
import { Context, Effect, Layer } from "effect"
import { Erasure } from "../layers/Erasure.ts"
import { Reindex } from "../layers/Reindex.ts"
import { Rollups } from "../layers/Rollups.ts"
import { Settings } from "../layers/Settings.ts"
import { Words } from "../layers/Words.ts"

/** Batches in one go, so that a backlog leaves room for runs. */
const batchesMax = 20
const erasedMax = 2_000
const stepsMax = 20

export class Historian extends Context.Service<
  Historian,
  {
    /** Indexes the words of what has ended. Answers how many runs. */
    readonly index: Effect.Effect<number>
    /** Works on the rollups that questions want. */
    readonly roll: Effect.Effect<void>
    /** Has those made that questions will want. */
    readonly scout: Effect.Effect<void>
    /** Erases what is too old. Answers how many runs; 0 when nothing is kept for a limited time. */
    readonly retain: Effect.Effect<number>
    /** Clears up after a re-index that was killed. */
    readonly tidy: Effect.Effect<void>
  }
>()("rungate/actors/Historian") {
  static readonly layer = Layer.effect(
    Historian,
    Effect.gen(function* () {
      const { retentionDays } = yield* Settings
      const words = yield* Words
      const erasure = yield* Erasure
      const rollups = yield* Rollups
      const reindex = yield* Reindex
      const roll = Effect.gen(function* () {
        for (let step = 0; step < stepsMax; step++) if (!(yield* rollups.step)) return
      })
      const index = Effect.gen(function* () {
        let indexed = 0
        for (let batch = 0; batch < batchesMax; batch++) {
          const done = yield* words.index
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
      return Historian.of({ index, roll, scout: rollups.scout, retain, tidy: reindex.tidied })
    })
  )
}
