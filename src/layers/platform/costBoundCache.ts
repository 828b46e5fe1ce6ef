/**
 * Single-flight cache. The TTL grows with the time that the answer took.
 *
 * Without it, the owner of a large wallet could keep the database busy by repeating an expensive question.
 */
import { Clock, Deferred, Effect, Semaphore } from "effect"

/**
 * An answer stands for this many times as long as it took: milliseconds for most wallets, minutes for a million entries. So nobody
 * has more than a twentieth of one connection, however often they ask.
 */
const standsTimes = 20
/** Answers that are remembered; the oldest is forgotten first. */
const rememberedMax = 1_000

interface Answer<A> {
  readonly value: Deferred.Deferred<A>
  /** Milliseconds since 1970; null until it is there. */
  standsUntil: number | null
}

/** `standsMillisMax`: for answers that must not be old, however long they took. */
export const costBoundCache = Effect.fnUntraced(function* <A>(
  compute: (key: string) => Effect.Effect<A>,
  standsMillisMax = Number.POSITIVE_INFINITY
) {
  const scope = yield* Effect.scope
  const oneAtATime = Semaphore.makeUnsafe(1)
  const answers = new Map<string, Answer<A>>()

  const timed = Effect.fnUntraced(function* (key: string, answer: Answer<A>) {
    const began = yield* Clock.currentTimeMillis
    const value = yield* compute(key)
    const ended = yield* Clock.currentTimeMillis
    answer.standsUntil = ended + Math.min(standsMillisMax, standsTimes * (ended - began))
    return value
  })
  const forget = (key: string, answer: Answer<A>) =>
    Effect.sync(() => answers.get(key) === answer && answers.delete(key))

  return Effect.fnUntraced(function* (key: string) {
    const now = yield* Clock.currentTimeMillis
    const known = answers.get(key)
    if (known !== undefined && (known.standsUntil === null || now < known.standsUntil)) {
      return yield* Deferred.await(known.value)
    }
    const answer: Answer<A> = { value: Deferred.makeUnsafe<A>(), standsUntil: null }
    answers.delete(key)
    answers.set(key, answer)
    const [oldest] = answers.keys()
    if (answers.size > rememberedMax && oldest !== undefined) answers.delete(oldest)
    // Not in the asking fiber: one that hangs up and asks again must not start it again.
    yield* timed(key, answer).pipe(
      oneAtATime.withPermit,
      Effect.onError(() => forget(key, answer)),
      Deferred.into(answer.value),
      Effect.forkIn(scope)
    )
    return yield* Deferred.await(answer.value)
  })
})
