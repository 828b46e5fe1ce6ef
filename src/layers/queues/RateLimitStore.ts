/**
 * Token buckets for rate limits. They are in memory, and processes share them through Redis if `REDIS_URL` is set.
 *
 * A process that can refuse a request by its own bucket does not call Redis. For fast buckets it reports used tokens to Redis in batches of
 * an eighth of the limit, because a call per request would cost as much as reading the wallet. So a caller can exceed such a limit by
 * an eighth per process. If Redis is down, each process limits on its own.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter, Redis as EffectRedis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { Redis, type RedisShape } from "./Redis.ts"
import { oneText } from "../postgres/Rows.ts"

type Store = (typeof RateLimiter.RateLimiterStore)["Service"]
type TokenBucket = Store["tokenBucket"]
type Options = Parameters<TokenBucket>[0]

/** Bounds memory to a few tens of megabytes, because unauthenticated clients can create buckets. */
const bucketsMax = 100_000
/** A request waits this long for Redis. Then its process decides on its own. */
const redisMillisMax = 200
/** Extra time after that to read an answer that arrived while this process was busy. */
const graceMillis = 20
/** After Redis did not answer, it is not called for this time. */
const pauseMillis = 1_000
/** A bucket that refills faster than one token in this time is fast and reports in batches. Slower ones protect passwords and are exact. */
const fastMillisMax = 1_000
const batchesPerLimit = 8

interface Bucket {
  tokens: number
  refilledAt: number
  /** When the bucket will be full again if nobody uses it. A full bucket can be deleted. */
  fullAt: number
  /** Tokens taken in this process that were not reported to Redis yet. */
  unreported: number
}

/** Token buckets in this process. */
export const memoryBuckets = (max: number = bucketsMax) => {
  const buckets = new Map<string, Bucket>()
  const makeRoom = (now: number) => {
    for (const [key, bucket] of buckets) if (bucket.fullAt <= now) buckets.delete(key)
    // Deletes the least recently used ones first, because a `Map` keeps insertion order and `take` reinserts.
    for (const key of buckets.keys()) {
      if (buckets.size <= max / 2) break
      buckets.delete(key)
    }
  }
  /** Takes the tokens if the bucket has enough. `left` is the number of remaining tokens, negative if it has too few. */
  const take = ({ key, tokens, limit, refillRate, allowOverflow }: Options, now: number) => {
    const refillMillis = Duration.toMillis(refillRate)
    const existing = buckets.get(key)
    const bucket = existing ?? { tokens: limit, refilledAt: now, fullAt: now, unreported: 0 }
    const refills = Math.max(0, Math.floor((now - bucket.refilledAt) / refillMillis))
    bucket.tokens = Math.min(limit, bucket.tokens + refills)
    bucket.refilledAt += refills * refillMillis
    // In a full bucket all earlier tokens were refilled, also in Redis, so there is nothing to report.
    if (bucket.tokens >= limit) {
      bucket.refilledAt = now
      bucket.unreported = 0
    }
    const left = bucket.tokens - tokens
    if (allowOverflow || left >= 0) {
      bucket.tokens = left
      bucket.unreported += tokens
    }
    bucket.fullAt = bucket.refilledAt + (limit - bucket.tokens) * refillMillis
    if (existing === undefined && buckets.size >= max) makeRoom(now)
    buckets.delete(key)
    buckets.set(key, bucket)
    return { bucket, left, elapsed: Math.max(0, now - bucket.refilledAt) }
  }
  const tokenBucket: TokenBucket = (options) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const { left, elapsed } = take(options, now)
      return [left, elapsed]
    })
  return { take, tokenBucket, size: () => buckets.size }
}

/** Fails if the answer takes too long, because ioredis would wait forever for a frozen server. */
const withTimeout = <A>(answer: Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    const refuse = () => reject(new Error("no answer from Redis in time"))
    let timer = setTimeout(() => {
      timer = setTimeout(refuse, graceMillis)
    }, redisMillisMax)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })

const redisBuckets = Effect.fnUntraced(function* (server: RedisShape, prefix: string) {
  const send = <A>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => withTimeout(server.send(command, ...args)) as Promise<A>, // justified: the library types the answers of its own scripts
      catch: (cause) => new EffectRedis.RedisError({ cause })
    })
  const unused = Effect.die(new Error("the rate limiter neither subscribes nor reserves connections"))
  const redis = yield* EffectRedis.make({ send, subscribe: () => unused, connect: unused })
  const store = yield* Effect.provideService(RateLimiter.makeStoreRedis({ prefix }), EffectRedis.Redis, redis)
  // A bucket has two keys, which its script uses together.
  return (options: Options) => store.tokenBucket({ ...options, key: server.together(options.key) })
})

/** Buckets in this process that report their used tokens to `remote`, the buckets in Redis. */
export const sharedBuckets = (remote: TokenBucket): TokenBucket => {
  const local = memoryBuckets()
  let pausedUntil = 0
  const report = Effect.fnUntraced(function* (options: Options, bucket: Bucket, now: number) {
    const reported = bucket.unreported
    // Tokens of earlier requests were already granted, so Redis must count them. It may refuse only the tokens of this request.
    const allowOverflow = reported > options.tokens
    bucket.unreported = 0
    const [left, elapsed] = yield* remote({ ...options, tokens: reported, allowOverflow })
    const isRefused = left < 0
    bucket.tokens = Math.min(bucket.tokens, isRefused && !allowOverflow ? left + reported : left)
    bucket.fullAt = now + (options.limit - bucket.tokens) * Duration.toMillis(options.refillRate)
    return [left, elapsed] as const
  })
  return (options) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { bucket, left, elapsed } = local.take(options, now)
      const localAnswer = [left, elapsed] as const
      const isSlow = Duration.toMillis(options.refillRate) > fastMillisMax
      const batch = isSlow ? 1 : Math.floor(options.limit / batchesPerLimit)
      const needsNoReport = left < 0 || (options.tokens > 0 && bucket.unreported < batch)
      if (needsNoReport || now < pausedUntil) return Effect.succeed(localAnswer)
      return report(options, bucket, now).pipe(
        Effect.catch((error) => {
          pausedUntil = now + pauseMillis
          const message = `Redis did not answer, so this process limits on its own: ${error.message}`
          return Effect.as(Effect.logDebug(message), localAnswer)
        })
      )
    })
}

/** Part of the key in Redis, so that two installations on one Redis have separate buckets. */
const databaseIdentity = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const identity = yield* oneText(sql`
    SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || oid || '-' || current_schema() AS identity
    FROM pg_database WHERE datname = current_database()`)
  return identity
}).pipe(Effect.orDie)

export const RateLimitStore = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const library = yield* RateLimiter.RateLimiterStore
    const redis = yield* Redis
    if (redis === null) return { ...library, tokenBucket: memoryBuckets().tokenBucket }
    const remote = yield* redisBuckets(redis, `rungate:limits:${yield* databaseIdentity}:`)
    return { ...library, tokenBucket: sharedBuckets(remote) }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))
