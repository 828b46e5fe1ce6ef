/**
 * Lets requests wait until a run ends or a command is answered. Both are identified by their id.
 *
 * A waiter is a `Place`: a callback with a deadline. It needs no timer and no connection, and ends with the signal, at its deadline, or when
 * it is released. A slow poll of the database backs the signals up, so a lost signal only delays the answer.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { EndedRun } from "../../layers/ledger/Turn.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { WaitStore } from "../../layers/runs/WaitStore.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { type CommittedEnd, Places, type Place } from "./Places.ts"
import { repeatedly } from "../../layers/postgres/DueWork.ts"

const pollSeconds = 2
/** Seconds between two polls. A poll finds what a lost signal did not say, so a test that must see it lost makes polls rare. */
export const PollSeconds = Context.Reference("rungate/actors/mailbox/PollSeconds", { defaultValue: () => pollSeconds })
/** Younger waits are not polled, because their signal usually arrives in this time. */
const pollAfterMillis = 1_000

export class Waiters extends Context.Service<
  Waiters,
  {
    /** A place for one wait, which is nowhere yet. Whoever takes it releases it. */
    readonly place: () => Place
    /**
     * Registers for `id`, runs `before` (store the command, or read the state), and then waits at most `millis`. Does not wait
     * when `settled` accepts the answer of `before`. `signalled` is true when the signal arrived.
     */
    readonly waitFor: <A>(
      id: string,
      millis: number,
      before: Effect.Effect<A>,
      settled: (answer: A) => boolean
    ) => Effect.Effect<{ readonly answer: A; readonly signalled: boolean; readonly end: CommittedEnd | undefined }>
    /** Keeps a run's result for its waiter in this process. Does nothing without a waiter. */
    readonly keepResult: (run_id: string, lease_token: string, result: string) => void
    /** Keeps how a run ended for its waiter in this process, and what its organization could spend then. Call it after the commit. */
    readonly keepEnd: (ending: EndedRun, finished_at: Date, available: MicroUsd | null) => void
    readonly watching: () => number
    /** Ends every wait now, as if its deadline had passed. For a process that is stopping. */
    readonly close: Effect.Effect<void>
  }
>()("rungate/actors/mailbox/Waiters") {
  static readonly layer = Layer.effect(
    Waiters,
    Effect.gen(function* () {
      const signals = yield* Signals
      const store = yield* WaitStore
      const clock = yield* Clock.Clock
      const places = yield* Effect.acquireRelease(
        Effect.sync(() => new Places(() => Number(clock.monotonicTimeNanosUnsafe()) / 1e6)),
        (newPlaces) => Effect.sync(() => newPlaces.stop())
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => signals.listen((ids) => places.signal(ids))),
        (stop) => Effect.sync(stop)
      )

      const poll = Effect.gen(function* () {
        const old = places.waitingFor(pollAfterMillis)
        if (old.length > 0) places.signal(yield* store.ended(old))
      })
      yield* repeatedly("polling for missed signals", `${yield* PollSeconds} seconds`, poll)

      return Waiters.of({
        place: () => places.place(),
        waitFor: (id, millis, before, settled) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              const place = places.place()
              place.at(id)
              return place
            }),
            Effect.fnUntraced(function* (place) {
              const answer = yield* before
              if (settled(answer) || millis <= 0) return { answer, signalled: false, end: undefined }
              return { answer, ...(yield* awaitPlace(place, millis)) }
            }),
            (place) => Effect.sync(() => place.release())
          ),
        keepResult: (run_id, lease_token, text) => places.keepResult(run_id, lease_token, text),
        keepEnd: (ending, finished_at, available) => places.keepEnd(ending, finished_at, available),
        watching: () => places.watched,
        close: Effect.sync(() => places.endAll())
      })
    })
  )
}

/** Waits in a fiber. The place is released at the end. Whoever waits releases it when the fiber is interrupted. */
export const awaitPlace = (place: Place, millis: number) =>
  Effect.callback<{ readonly signalled: boolean; readonly end: CommittedEnd | undefined }>((resume) => {
    place.wait(millis, (signalled, end) => resume(Effect.succeed({ signalled, end })))
  })
