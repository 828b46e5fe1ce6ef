/**
 * Token buckets of rate limits, in this process, and shared through Redis if there is one.
 *
 * A request that this process can refuse alone needs no call. Fast buckets are shared in batches of an eighth of the limit, because a call per
 * request would cost as much as reading the wallet. So a caller may exceed a limit by an eighth per process. If Redis is down, each process
 * limits on its own.
 */
import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { RateLimiter, Redis as EffectRedis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { Redis, type RedisShape } from "./Redis.ts"
import { oneRowOf } from "../postgres/Rows.ts"

type Store = (typeof RateLimiter.RateLimiterStore)["Service"]
type TokenBucket = Store["tokenBucket"]
type Options = Parameters<TokenBucket>[0]

/** A few tens of megabytes at most. Strangers choose the keys. */
const bucketsMax = 100_000
/** How long a request waits for Redis before its process decides alone. */
const answerMillisMax = 200
/** What this process was too busy to read in time is read within this. */
const graceMillis = 20
/** How long Redis is left alone after it gave no answer. */
const quietMillis = 1_000
/** Of a bucket that gets a token more often than this, shares are counted; slower ones guard passwords, and are exact. */
const fastMillisMax = 1_000
const shares = 8

interface Bucket {
  tokens: number
  refilled: number
  /** When it will be full again, unless it is used: a full bucket need not be kept. */
  full: number
  /** Tokens that were taken here and that Redis doesn't know of. */
  untold: number
}

/** Token buckets in this process. */
export const memoryBuckets = (max: number = bucketsMax) => {
  const buckets = new Map<string, Bucket>()
  const makeRoom = (now: number) => {
    for (const [key, bucket] of buckets) if (bucket.full <= now) buckets.delete(key)
    // The least recently used go first: `Map` keeps the order in which they were set.
    for (const key of buckets.keys()) {
      if (buckets.size <= max / 2) break
      buckets.delete(key)
    }
  }
  /** Takes the tokens if they are there. `left` is what remains, below 0 when they are not. */
  const take = ({ key, tokens, limit, refillRate, allowOverflow }: Options, now: number) => {
    const refillMillis = Duration.toMillis(refillRate)
    const known = buckets.get(key)
    const bucket = known ?? { tokens: limit, refilled: now, full: now, untold: 0 }
    const refills = Math.max(0, Math.floor((now - bucket.refilled) / refillMillis))
    bucket.tokens = Math.min(limit, bucket.tokens + refills)
    bucket.refilled += refills * refillMillis
    // A full bucket owes nothing: what was taken before has come back everywhere.
    if (bucket.tokens >= limit) {
      bucket.refilled = now
      bucket.untold = 0
    }
    const left = bucket.tokens - tokens
    if (allowOverflow || left >= 0) {
      bucket.tokens = left
      bucket.untold += tokens
    }
    bucket.full = bucket.refilled + (limit - bucket.tokens) * refillMillis
    if (known === undefined && buckets.size >= max) makeRoom(now)
    buckets.delete(key)
    buckets.set(key, bucket)
    return { bucket, left, elapsed: Math.max(0, now - bucket.refilled) }
  }
  const tokenBucket: TokenBucket = (options) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const { left, elapsed } = take(options, now)
      return [left, elapsed]
    })
  return { take, tokenBucket, size: () => buckets.size }
}

/** Answers within the bound, or fails; ioredis itself waits for ever on a server that is frozen. */
const within = <A>(answer: Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    const refuse = () => reject(new Error("no answer from Redis in time"))
    let timer = setTimeout(() => {
      timer = setTimeout(refuse, graceMillis)
    }, answerMillisMax)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })

const inRedis = Effect.fnUntraced(function* ({ client }: RedisShape, prefix: string) {
  const send = <A>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => within(client.call(command, ...args)) as Promise<A>, // justified: the library asks for its scripts' own answers
      catch: (cause) => new EffectRedis.RedisError({ cause })
    })
  const unused = Effect.die(new Error("the rate limiter neither subscribes nor reserves connections"))
  const redis = yield* EffectRedis.make({ send, subscribe: () => unused, connect: unused })
  const store = yield* Effect.provideService(RateLimiter.makeStoreRedis({ prefix }), EffectRedis.Redis, redis)
  return store.tokenBucket
})

/** Buckets here, and in Redis by `theirs`. */
export const sharedBuckets = (theirs: TokenBucket): TokenBucket => {
  const own = memoryBuckets()
  let quietUntil = 0
  const ask = Effect.fnUntraced(function* (options: Options, bucket: Bucket, now: number) {
    const told = bucket.untold
    // What was let through before has to be counted; what is asked for now may be refused.
    const allowOverflow = told > options.tokens
    bucket.untold = 0
    const [left, elapsed] = yield* theirs({ ...options, tokens: told, allowOverflow })
    const isRefused = left < 0
    bucket.tokens = Math.min(bucket.tokens, isRefused && !allowOverflow ? left + told : left)
    bucket.full = now + (options.limit - bucket.tokens) * Duration.toMillis(options.refillRate)
    return [left, elapsed] as const
  })
  return (options) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { bucket, left, elapsed } = own.take(options, now)
      const alone = [left, elapsed] as const
      const share = Duration.toMillis(options.refillRate) > fastMillisMax ? 1 : Math.floor(options.limit / shares)
      const isMine = left < 0 || (options.tokens > 0 && bucket.untold < share)
      if (isMine || now < quietUntil) return Effect.succeed(alone)
      return ask(options, bucket, now).pipe(
        Effect.catch((error) => {
          quietUntil = now + quietMillis
          const message = `Redis did not answer, so this process limits on its own: ${error.message}`
          return Effect.as(Effect.logDebug(message), alone)
        })
      )
    })
}

const identityRow = oneRowOf({ identity: Schema.String })

/** Two services on one Redis have buckets of their own. */
const databaseIdentity = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { identity } = yield* identityRow(sql`
    SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || oid AS identity
    FROM pg_database WHERE datname = current_database()`)
  return identity
}).pipe(Effect.orDie)

export const RateLimitStore = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const library = yield* RateLimiter.RateLimiterStore
    const redis = yield* Redis
    if (redis === null) return { ...library, tokenBucket: memoryBuckets().tokenBucket }
    const theirs = yield* inRedis(redis, `rungate:limits:${yield* databaseIdentity}:`)
    return { ...library, tokenBucket: sharedBuckets(theirs) }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))
