/**
 * Limits what providers' answers take of this process: their bytes in memory, and the time in which those of own accounts are parsed. A call
 * waits before it reads a large body.
 *
 * A call takes room once, for the largest answer that it may read, and gives back what the answer did not need. It holds no room while it
 * waits for some, so calls can't block each other for ever. What its last answer needs is held until its run is settled.
 */
import { Context, Effect, Exit, PartitionedSemaphore, Semaphore } from "effect"

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
    return Effect.onExit(Effect.provideService(work, CurrentHold, hold), () => hold.release)
  })

export interface Reading {
  /** The largest answer that is read. */
  readonly bytes: number
  /** The organization through whose own account the answer comes, or null. */
  readonly own: string | null
}

export type AnswerBudget = <A extends { readonly bytes: number }>(
  reading: Reading,
  read: Effect.Effect<A>
) => Effect.Effect<A>

export const makeAnswerBudget = (bytesMax: number): AnswerBudget => {
  const all = Semaphore.makeUnsafe(bytesMax)
  // Customers choose the addresses of their own accounts. Slow ones leave half of the room to other calls, and organizations get it in turn.
  const ofOwn = PartitionedSemaphore.makeUnsafe<string>({ permits: Math.floor(bytesMax / 2) })
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
      return yield* own === null ? inAll : ofOwn.withPermits(own, bytes)(inAll)
    })
}

/** The part of a process's time in which the answers of one organization's own accounts are parsed. */
export const ownParsingShare = 0.2

/** Says how many milliseconds an organization's answer waits at `now`, if parsing it takes `millis`. */
export const makeParsingTurns = () => {
  const next = new Map<string, number>()
  return (org_id: string, millis: number, now: number): number => {
    const from = Math.max(now, next.get(org_id) ?? now)
    next.delete(org_id)
    next.set(org_id, from + millis / ownParsingShare)
    // The organization that came first is the first of the map.
    for (const [other, until] of next) {
      if (until > now) break
      next.delete(other)
    }
    return from - now
  }
}
