/**
 * How a fiber waits for the end of a run.
 *
 * The run's signal, the deadline and the client who leaves race for it. Thousands of fibers may wait in one process, so a fiber that waits
 * holds little: the run as it was stored, and what its answer needs.
 */
import { Effect, Exit } from "effect"
import type { CommittedEnd, Place } from "./Places.ts"
import { awaitPlace, type Waiters } from "./Waiters.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

export interface Submitted {
  readonly run: RunRow
  readonly replayed: boolean
}

/** A run that is stored and has not ended, for a client that waits for its end. */
export class PendingRun {
  /** The run as it was stored or read. */
  readonly run: RunRow
  readonly replayed: boolean
  /** How long the client waits from now on. */
  readonly millis: number
  /** Registered for the run. */
  readonly place: Place

  constructor(run: RunRow, replayed: boolean, millis: number, place: Place) {
    this.run = run
    this.replayed = replayed
    this.millis = millis
    this.place = place
  }
}

/**
 * Waits for the end of the run that `begin` leaves pending in the place, and answers with it. While the fiber waits it holds that run and
 * `answer`, but nothing that `begin` has needed, such as the request.
 */
export type ToEnd = <A, E>(
  begin: (place: Place) => Effect.Effect<A | PendingRun, E>,
  answer: (ended: Effect.Effect<Submitted>) => Effect.Effect<A>
) => Effect.Effect<A, E>

/** As `servedBy` of layers/usage/servedBy.ts reads it. */
const servedBy = ({ status, provider, attempts }: CommittedEnd["ending"]) =>
  status === "succeeded" || (status === "no_match" && (attempts ?? "[]") !== "[]") ? provider : null

/** The row of a run with the end that this process committed. A look-up would return the same. */
export const endedRow = (run: RunRow, { ending, finished_at, available, result }: CommittedEnd): RunRow => ({
  ...run,
  provider: servedBy(ending),
  status: ending.status,
  charged: ending.charged,
  attempts: ending.attempts,
  hints: ending.hints,
  plan: null,
  result,
  error_code: ending.error_code,
  error_message: ending.error_message,
  control: ending.control,
  reused_from: ending.reuse?.reused_from ?? null,
  finished_at,
  approval: null,
  available
})

/** `reread` reads a run whose end this process did not commit. */
export const toEndOf = (waiters: Waiters["Service"], reread: (run: RunRow) => Effect.Effect<RunRow>): ToEnd => {
  const ended = ({ run, replayed, millis, place }: PendingRun): Effect.Effect<Submitted> =>
    Effect.flatMap(awaitPlace(place, millis), ({ end }) =>
      Effect.map(end === undefined ? reread(run) : Effect.succeed(endedRow(run, end)), (after) => ({
        run: after,
        replayed
      }))
    )
  const released = (place: Place) => Effect.sync(() => place.release())
  const isPending = (exit: Exit.Exit<unknown, unknown>) => Exit.isSuccess(exit) && exit.value instanceof PendingRun
  /** In a function that does not know `begin`, because the fiber that waits keeps what is known here. */
  const waited = <A>(answered: Effect.Effect<A>, place: Place) => Effect.onInterrupt(answered, () => released(place))
  return <A, E>(
    begin: (place: Place) => Effect.Effect<A | PendingRun, E>,
    answer: (ended: Effect.Effect<Submitted>) => Effect.Effect<A>
  ) =>
    Effect.uninterruptibleMask((restore) => {
      const place = waiters.place()
      const begun = Effect.onExit(restore(begin(place)), (exit) => (isPending(exit) ? Effect.void : released(place)))
      return Effect.flatMap(
        begun,
        (one): Effect.Effect<A> =>
          one instanceof PendingRun ? waited(restore(answer(ended(one))), one.place) : Effect.succeed(one)
      )
    })
}
