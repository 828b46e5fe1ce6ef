/**
 * Waiting for an id: a run that becomes final, or a command that is answered.
 *
 * A waiter is a parked fiber: it costs no connection and no thread, and is released by the word, the deadline
 * or the client that hangs up. A slow poll stands behind the signals, so a lost one delays an answer and never loses it.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import type { Ending } from "../../layers/ledger/TurnStore.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { WaitStore } from "../../layers/runs/WaitStore.ts"

/** A run's end as this process itself committed it, so that its waiter need not read it back. */
export interface WatchedEnd {
  readonly ending: Ending
  readonly finished_at: Date
  /** JSON text; null when the run has no result. */
  readonly result: string | null
}

interface Watched {
  done: boolean
  /** What this process's own worker reported, until the turn that commits it. */
  result: { readonly lease_token: string; readonly text: string } | undefined
  end: WatchedEnd | undefined
  /** The waiters, each told once whether the word came. */
  readonly parked: Set<(told: boolean) => void>
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
    ) => Effect.Effect<{ readonly answer: A; readonly told: boolean; readonly end: WatchedEnd | undefined }>
    /** Keeps a run's result for its waiter in this process, if there is one. */
    readonly keepResult: (run_id: string, lease_token: string, result: string) => void
    /** Tells a waiter in this process how its run ended; call it after the commit. */
    readonly keepEnd: (ending: Ending, finished_at: Date) => void
    readonly watching: () => number
    /** Answers every waiter now, as if its time were up: the process is stopping. */
    readonly close: Effect.Effect<void>
  }
>()("rungate/actors/mailbox/Waiters") {
  static readonly layer = Layer.effect(
    Waiters,
    Effect.gen(function* () {
      const signals = yield* Signals
      const store = yield* WaitStore
      const watched = new Map<string, Watched>()
      let closed = false

      const finish = (entry: Watched) => {
        entry.done = true
        for (const wake of [...entry.parked]) wake(true)
      }
      const tell = (ids: Iterable<string>) => {
        for (const id of ids) {
          const entry = watched.get(id)
          if (entry !== undefined) finish(entry)
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
        Effect.catchCause((cause) => Effect.logWarning(`slow poll: ${oneLine(cause)}`)),
        Effect.repeat(Schedule.spaced(pollEvery)),
        Effect.forkScoped
      )

      const register = (id: string) =>
        Effect.map(Clock.currentTimeMillis, (since) => {
          const entry = watched.get(id) ?? {
            done: false,
            result: undefined,
            end: undefined,
            parked: new Set(),
            since,
            count: 0
          }
          entry.count += 1
          watched.set(id, entry)
          return entry
        })
      /** One parked fiber and one timer: a race of effects would cost four fibers for each of thousands of waiters. */
      const word = (entry: Watched, millis: number) =>
        Effect.callback<boolean>((resume) => {
          if (entry.done || closed) return resume(Effect.succeed(entry.done))
          const wake = (told: boolean) => {
            clearTimeout(timer)
            entry.parked.delete(wake)
            resume(Effect.succeed(told))
          }
          const timer = setTimeout(() => wake(false), millis)
          entry.parked.add(wake)
          return Effect.sync(() => {
            clearTimeout(timer)
            entry.parked.delete(wake)
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
                if (settled(answer) || millis <= 0) return { answer, told: false, end: undefined }
                const told = yield* word(entry, millis)
                return { answer, told, end: told ? entry.end : undefined }
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
          // A run that succeeded elsewhere has a result that this process does not know: its waiter reads it.
          const result = entry.result?.lease_token === ending.lease_token ? entry.result.text : null
          if (ending.status === "succeeded" && result === null) return
          entry.end = { ending, finished_at, result: ending.status === "succeeded" ? result : null }
        },
        watching: () => watched.size,
        close: Effect.sync(() => {
          closed = true
          for (const entry of watched.values()) for (const wake of [...entry.parked]) wake(false)
        })
      })
    })
  )
}
