/**
 * Single-flight cache for expensive queries. The TTL of an answer is 20 times the time that it took.
 *
 * Without it, the owner of a large wallet could keep the database busy by repeating an expensive query.
 */
import { Cache, Duration, Effect, Exit, Fiber, Semaphore } from "effect"

/**
 * TTL as a multiple of the time that the answer took: milliseconds for most wallets, minutes for a million entries. So one key
 * keeps at most a twentieth of one connection busy.
 */
const ttlFactor = 20
/** Cached answers. The one that was used longest ago is dropped first. */
const answersMax = 1_000

/** `ttlMillisMax` bounds the TTL of answers that must not be old. Queries run one at a time. */
export const costBoundCache = Effect.fnUntraced(function* <A>(
  compute: (key: string) => Effect.Effect<A>,
  ttlMillisMax = Number.POSITIVE_INFINITY
) {
  const scope = yield* Effect.scope
  const oneAtATime = Semaphore.makeUnsafe(1)
  const cache = yield* Cache.makeWith((key: string) => oneAtATime.withPermit(Effect.timed(compute(key))), {
    capacity: answersMax,
    timeToLive: Exit.match({
      onFailure: () => Duration.zero,
      onSuccess: ([took]) => Duration.min(Duration.times(took, ttlFactor), Duration.millis(ttlMillisMax))
    })
  })
  // In a fiber of its own, so that a client that disconnects and retries does not start the query again.
  return (key: string) =>
    Effect.forkIn(Cache.get(cache, key), scope).pipe(
      Effect.flatMap(Fiber.join),
      Effect.map(([, answer]) => answer)
    )
})
