/**
 * Which part of a provider's limits this process may use. The limits are those of an account, so the workers that call through it divide them.
 *
 * The service's accounts are called by the workers of all cells, which their directory counts. An organization's own account is called by the
 * workers of its cell.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { Directory } from "../accounts/Directory.ts"
import { logFailure } from "../postgres/Batch.ts"

/** At least one call at once: a limit below the number of workers is exceeded. */
export const partOf = (limit: number, workers: number): number => Math.max(1, Math.floor(limit / workers))

const countEvery = "5 seconds"

export class ProviderShares extends Context.Service<
  ProviderShares,
  {
    /** Living workers that call through the service's accounts. At least 1. */
    readonly workers: () => number
    /** Those that call through the own accounts of this cell's organizations. */
    readonly workersOfCell: () => number
    /** Tells how many workers of this cell are alive. Only a worker does. */
    readonly count: (alive: number) => Effect.Effect<void>
  }
>()("rungate/layers/executor/ProviderShares") {
  static readonly layer = Layer.effect(
    ProviderShares,
    Effect.gen(function* () {
      const { cells, reach } = yield* Directory
      const scope = yield* Effect.scope
      let ofCell = 0
      let elsewhere = 0
      const workers = () => Math.max(1, ofCell + elsewhere)
      /** Who looks for the reason why a provider is called slowly finds it in the log. */
      const become = (own: number, others: number) =>
        Effect.suspend(() => {
          const before = workers()
          ofCell = own
          elsewhere = others
          return workers() === before
            ? Effect.void
            : Effect.logInfo(`Each worker uses 1/${workers()} of a provider's limits: so many workers are alive`)
        })
      const countElsewhere =
        cells === null
          ? null
          : Effect.suspend(() => reach(cells.countWorkers(ofCell))).pipe(
              Effect.flatMap((others) => become(ofCell, others)),
              // The directory's silence is logged where it is noticed.
              Effect.ignore,
              Effect.catchCause(logFailure("Counting the workers of other cells failed; keeping the last number")),
              Effect.repeat(Schedule.spaced(countEvery))
            )
      return ProviderShares.of({
        workers,
        workersOfCell: () => Math.max(1, ofCell),
        count: Effect.fnUntraced(function* (alive: number) {
          const begins = ofCell === 0
          yield* become(alive, elsewhere)
          if (begins && countElsewhere !== null) yield* Effect.forkIn(countElsewhere, scope)
        })
      })
    })
  )
}
