/**
 * Waiting for an id: a run that becomes final, or a command that is answered.
 *
 * A waiter is a fiber parked on a Deferred: it costs no connection and no thread, and is released by the word, the deadline
 * or the client that hangs up. A slow poll stands behind the signals, so a lost one delays an answer and never loses it.
 */
import { Clock, Context, Deferred, Effect, Layer, Option, Schedule } from "effect"
import { oneLine } from "../layers/Batch.ts"
import { Signals } from "../layers/Signals.ts"
import { WaitStore } from "../layers/WaitStore.ts"

interface Watched {
  readonly done: Deferred.Deferred<void>
  readonly since: number
  count: number
}

const pollEvery = "2 seconds"
/** Younger waits are not asked about: their signal is most likely on its way. */
const pollAfterMillis = 1_000

export class Waiters extends Context.Service<
  Waiters,
  {
    /**
     * Registers for `id`, runs `before` (store the command, or read the state), and then waits at most `millis` unless before
     * said that there is nothing to wait for. True when the word came.
     */
    readonly waitFor: <A>(
      id: string,
      millis: number,
      before: Effect.Effect<A>,
      settled: (answer: A) => boolean
    ) => Effect.Effect<{ readonly answer: A; readonly told: boolean }>
    readonly watching: () => number
    /** Answers every waiter now, as if its time were up: the process is stopping. */
    readonly close: Effect.Effect<void>
  }
>()("rungate/actors/Waiters") {
  static readonly layer = Layer.effect(
    Waiters,
    Effect.gen(function* () {
      const signals = yield* Signals
      const store = yield* WaitStore
      const watched = new Map<string, Watched>()
      const closing = yield* Deferred.make<void>()

      const tell = (ids: Iterable<string>) => {
        for (const id of ids) {
          const entry = watched.get(id)
          if (entry !== undefined) Deferred.doneUnsafe(entry.done, Effect.void)
        }
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => signals.listen(tell)),
        (stop) => Effect.sync(stop)
      )

      yield* Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const old = [...watched].flatMap(([id, entry]) => (now - entry.since > pollAfterMillis ? [id] : []))
        if (old.length > 0) tell(yield* store.known(old))
      }).pipe(
        Effect.catchCause((cause) => Effect.logDebug(`slow poll: ${oneLine(cause)}`)),
        Effect.repeat(Schedule.spaced(pollEvery)),
        Effect.forkScoped
      )

      const register = (id: string) =>
        Effect.map(Clock.currentTimeMillis, (since) => {
          const entry = watched.get(id) ?? { done: Deferred.makeUnsafe<void>(), since, count: 0 }
          entry.count += 1
          watched.set(id, entry)
          return entry
        })
      const release = (id: string) => (entry: Watched) =>
        Effect.sync(() => {
          entry.count -= 1
          if (entry.count === 0 && watched.get(id) === entry) watched.delete(id)
        })

      return Waiters.of({
        waitFor: (id, millis, before, settled) =>
          Effect.acquireUseRelease(
            register(id),
            (entry) =>
              Effect.gen(function* () {
                const answer = yield* before
                if (settled(answer) || millis <= 0) return { answer, told: false }
                const word = Effect.raceFirst(Effect.as(Deferred.await(entry.done), true), Effect.as(Deferred.await(closing), false))
                const told = yield* Effect.timeoutOption(word, `${millis} millis`)
                return { answer, told: Option.getOrElse(told, () => false) }
              }),
            release(id)
          ),
        watching: () => watched.size,
        close: Effect.asVoid(Deferred.succeed(closing, undefined))
      })
    })
  )
}
