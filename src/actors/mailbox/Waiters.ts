/**
 * Lets requests wait until a run ends or a command is answered. Both are identified by their id.
 *
 * A waiter is a suspended fiber. It needs no connection, and ends with the signal, at its deadline, or when the client hangs up.
 * A slow poll of the database backs the signals up, so a lost signal only delays the answer.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import type { EndedRun } from "../../layers/ledger/TurnStore.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { WaitStore } from "../../layers/runs/WaitStore.ts"

/** The end of a run that this process committed itself, so its waiter need not read it from the database. */
export interface CommittedEnd {
  readonly ending: EndedRun
  readonly finished_at: Date
  /** JSON text; null when the run has no result. */
  readonly result: string | null
}

/** The waiters of one id. */
interface Watched {
  done: boolean
  /** The result that this process's worker reported, until a turn commits it. */
  result: { readonly lease_token: string; readonly text: string } | undefined
  end: CommittedEnd | undefined
  /** One callback per waiter. Its argument is true if the signal arrived, and false if the wait ended without it. */
  readonly callbacks: Set<(signalled: boolean) => void>
  readonly since: number
  count: number
}

const pollSeconds = 2
/** Seconds between two polls. A poll finds what a lost signal did not say, so a test that must see it lost makes polls rare. */
export const PollSeconds = Context.Reference("rungate/actors/mailbox/PollSeconds", { defaultValue: () => pollSeconds })
/** Younger waits are not polled, because their signal usually arrives in this time. */
const pollAfterMillis = 1_000

export class Waiters extends Context.Service<
  Waiters,
  {
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
    /** Keeps how a run ended for its waiter in this process. Call it after the commit. */
    readonly keepEnd: (ending: EndedRun, finished_at: Date) => void
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
      const pollEvery = yield* PollSeconds
      const watched = new Map<string, Watched>()
      let closed = false

      const finish = (entry: Watched) => {
        entry.done = true
        for (const wake of [...entry.callbacks]) wake(true)
      }
      const signal = (ids: Iterable<string>) => {
        for (const id of ids) {
          const entry = watched.get(id)
          if (entry !== undefined) finish(entry)
        }
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => signals.listen(signal)),
        (stop) => Effect.sync(stop)
      )

      yield* Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        // Without a callback the command may not be stored yet: the poll would take a run that is being admitted for a final one.
        const old = [...watched].flatMap(([id, { since, callbacks }]) =>
          callbacks.size > 0 && now - since > pollAfterMillis ? [id] : []
        )
        if (old.length > 0) signal(yield* store.known(old))
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning(`polling for missed signals failed and will be retried: ${oneLine(cause)}`)
        ),
        Effect.repeat(Schedule.spaced(`${pollEvery} seconds`)),
        Effect.forkScoped
      )

      const register = (id: string) =>
        Effect.map(Clock.currentTimeMillis, (since) => {
          const entry = watched.get(id) ?? {
            done: false,
            result: undefined,
            end: undefined,
            callbacks: new Set(),
            since,
            count: 0
          }
          entry.count += 1
          watched.set(id, entry)
          return entry
        })
      /** One fiber and one timer per waiter. Effect.race would need four fibers for each of thousands of waiters. */
      const awaitSignal = (entry: Watched, millis: number) =>
        Effect.callback<boolean>((resume) => {
          if (entry.done || closed) return resume(Effect.succeed(entry.done))
          const wake = (signalled: boolean) => {
            clearTimeout(timer)
            entry.callbacks.delete(wake)
            resume(Effect.succeed(signalled))
          }
          const timer = setTimeout(() => wake(false), millis)
          entry.callbacks.add(wake)
          return Effect.sync(() => {
            clearTimeout(timer)
            entry.callbacks.delete(wake)
          })
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
                if (settled(answer) || millis <= 0) return { answer, signalled: false, end: undefined }
                const signalled = yield* awaitSignal(entry, millis)
                return { answer, signalled, end: signalled ? entry.end : undefined }
              }),
            release(id)
          ),
        keepResult: (run_id, lease_token, text) => {
          const entry = watched.get(run_id)
          if (entry !== undefined) entry.result = { lease_token, text }
        },
        keepEnd: (ending, finished_at) => {
          const entry = watched.get(ending.run_id)
          if (entry === undefined) return
          // Another process has the result of a run that succeeded there, so the waiter reads it from the database.
          const result = entry.result?.lease_token === ending.lease_token ? entry.result.text : null
          if (ending.status === "succeeded" && result === null) return
          entry.end = { ending, finished_at, result: ending.status === "succeeded" ? result : null }
        },
        watching: () => watched.size,
        close: Effect.sync(() => {
          closed = true
          for (const entry of watched.values()) for (const wake of [...entry.callbacks]) wake(false)
        })
      })
    })
  )
}
