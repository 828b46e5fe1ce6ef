/**
 * Single-flight cache for expensive queries. The TTL of an answer is 20 times the time that it took.
 *
 * Without it, the owner of a large wallet could keep the database busy by repeating an expensive query.
 */
import { Clock, Deferred, Effect, Semaphore } from "effect"

/**
 * TTL as a multiple of the time that the answer took: milliseconds for most wallets, minutes for a million entries. So one key
 * keeps at most a twentieth of one connection busy.
 */
const ttlFactor = 20
/** Cached answers. The oldest is dropped first. */
const answersMax = 1_000

interface Answer<A> {
  readonly value: Deferred.Deferred<A>
  /** Milliseconds since 1970. Null while the answer is computed. */
  expiresAt: number | null
}

/** `ttlMillisMax` bounds the TTL of answers that must not be old. Queries run one at a time. */
export const costBoundCache = Effect.fnUntraced(function* <A>(
  compute: (key: string) => Effect.Effect<A>,
  ttlMillisMax = Number.POSITIVE_INFINITY
) {
  const scope = yield* Effect.scope
  const oneAtATime = Semaphore.makeUnsafe(1)
  const answers = new Map<string, Answer<A>>()

  const timed = Effect.fnUntraced(function* (key: string, answer: Answer<A>) {
    const began = yield* Clock.currentTimeMillis
    const value = yield* compute(key)
    const ended = yield* Clock.currentTimeMillis
    answer.expiresAt = ended + Math.min(ttlMillisMax, ttlFactor * (ended - began))
    return value
  })
  const dropAnswer = (key: string, answer: Answer<A>) =>
    Effect.sync(() => answers.get(key) === answer && answers.delete(key))

  return Effect.fnUntraced(function* (key: string) {
    const now = yield* Clock.currentTimeMillis
    const cached = answers.get(key)
    if (cached !== undefined && (cached.expiresAt === null || now < cached.expiresAt)) {
      return yield* Deferred.await(cached.value)
    }
    const answer: Answer<A> = { value: Deferred.makeUnsafe<A>(), expiresAt: null }
    answers.delete(key)
    answers.set(key, answer)
    const [oldest] = answers.keys()
    if (answers.size > answersMax && oldest !== undefined) answers.delete(oldest)
    // Computed in a fiber of its own, so that a client that disconnects and retries does not start the query again.
    yield* timed(key, answer).pipe(
      oneAtATime.withPermit,
      Effect.onError(() => dropAnswer(key, answer)),
      Deferred.into(answer.value),
      Effect.forkIn(scope)
    )
    return yield* Deferred.await(answer.value)
  })
})
