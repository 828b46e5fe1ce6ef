/**
 * Limits the bytes of providers' answers that are in this process at once. A call waits before it reads a large body.
 *
 * A call takes room once, for the largest answer that it may read, and gives back what the answer did not need. It holds no room while it
 * waits for some, so calls can't block each other for ever. What its last answer needs is held until its run is settled.
 */
import { Context, Effect, Exit, Semaphore } from "effect"

/** The beginning of an answer is read without room. Most answers are shorter, and never wait. */
export const smallAnswerBytes = 64 * 1024

/** The room that a run's last answer needs. */
interface Hold {
  release: Effect.Effect<unknown>
}
const CurrentHold = Context.Reference<Hold | null>("rungate/layers/executor/CurrentHold", { defaultValue: () => null })

/** Keeps the room of the last answer that `work` reads until `work` ends. */
export const keepingAnswer = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const hold: Hold = { release: Effect.void }
    return work.pipe(Effect.provideService(CurrentHold, hold), Effect.ensuring(Effect.suspend(() => hold.release)))
  })

export interface Reading {
  /** The largest answer that is read. */
  readonly bytes: number
  /** The answer comes through an organization's own account. */
  readonly own: boolean
}

export type AnswerBudget = <A extends { readonly bytes: number }>(
  reading: Reading,
  read: Effect.Effect<A>
) => Effect.Effect<A>

export const makeAnswerBudget = (bytesMax: number): AnswerBudget => {
  const all = Semaphore.makeUnsafe(bytesMax)
  // Customers choose the addresses of their own accounts. Slow ones leave half of the room to other calls.
  const ofOwn = Semaphore.makeUnsafe(Math.floor(bytesMax / 2))
  return ({ bytes, own }, read) =>
    Effect.gen(function* () {
      const hold = yield* CurrentHold
      if (hold !== null) {
        yield* hold.release
        hold.release = Effect.void
      }
      const inAll = Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          yield* restore(all.take(bytes))
          const exit = yield* Effect.exit(restore(read))
          const kept = Exit.isSuccess(exit) && hold !== null ? Math.min(bytes, exit.value.bytes) : 0
          yield* all.release(bytes - kept)
          if (hold !== null) hold.release = all.release(kept)
          return yield* exit
        })
      )
      return yield* own ? ofOwn.withPermits(bytes)(inAll) : inAll
    })
}
