/**
 * Where token buckets are kept: in Redis when there is one, so that all processes share them, else in this process.
 *
 * While Redis does not answer, each process limits on its own, so an outage neither lifts a limit nor refuses anybody. The buckets of a
 * process are bounded in number, because strangers choose the keys.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter, Redis as EffectRedis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { Redis, type RedisShape } from "./Redis.ts"

type Store = (typeof RateLimiter.RateLimiterStore)["Service"]

/** A few tens of megabytes at most. */
const bucketsMax = 100_000
/** How long a request waits for Redis before its process decides alone. */
const answerMillisMax = 200
/** What this process was too busy to read in time is read within this. */
const graceMillis = 20
/** How long Redis is left alone after it gave no answer. */
const quietMillis = 1_000

interface Bucket {
  tokens: number
  refilled: number
  /** When it will be full again, unless it is used: a full bucket need not be kept. */
  full: number
}

/** Token buckets in this process. */
export const memoryBuckets = (
  max: number = bucketsMax
): Pick<Store, "tokenBucket"> & { readonly size: () => number } => {
  const buckets = new Map<string, Bucket>()
  const makeRoom = (now: number) => {
    for (const [key, bucket] of buckets) if (bucket.full <= now) buckets.delete(key)
    // The least recently used go first: `Map` keeps the order in which they were set.
    for (const key of buckets.keys()) {
      if (buckets.size <= max / 2) break
      buckets.delete(key)
    }
  }
  return {
    size: () => buckets.size,
    tokenBucket: ({ key, tokens, limit, refillRate, allowOverflow }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const refillMillis = Duration.toMillis(refillRate)
        const known = buckets.get(key)
        const elapsed = known === undefined ? 0 : Math.max(0, Math.floor((now - known.refilled) / refillMillis))
        const held = known === undefined ? limit : Math.min(limit, known.tokens + elapsed)
        const refilled = known === undefined || held >= limit ? now : known.refilled + elapsed * refillMillis
        const left = held - tokens
        const kept = allowOverflow || left >= 0 ? left : held
        if (known === undefined && buckets.size >= max) makeRoom(now)
        buckets.delete(key)
        buckets.set(key, { tokens: kept, refilled, full: refilled + (limit - kept) * refillMillis })
        return [left, Math.max(0, now - refilled)] as const
      })
  }
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

const shared = Effect.fnUntraced(function* ({ client }: RedisShape, prefix: string) {
  const send = <A>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => within(client.call(command, ...args)) as Promise<A>, // justified: the library asks for its scripts' own answers
      catch: (cause) => new EffectRedis.RedisError({ cause })
    })
  const unused = Effect.die(new Error("the rate limiter neither subscribes nor reserves connections"))
  const redis = yield* EffectRedis.make({ send, subscribe: () => unused, connect: unused })
  return yield* Effect.provideService(RateLimiter.makeStoreRedis({ prefix }), EffectRedis.Redis, redis)
})

/** Two services on one Redis have buckets of their own. */
const databaseIdentity = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ identity: string }>`
    SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || oid AS identity
    FROM pg_database WHERE datname = current_database()`
  return row?.identity ?? "unknown"
}).pipe(Effect.orDie)

export const RateLimitStore = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const library = yield* RateLimiter.RateLimiterStore
    const own: Store = { ...library, tokenBucket: memoryBuckets().tokenBucket }
    const redis = yield* Redis
    if (redis === null) return own
    const { tokenBucket } = yield* shared(redis, `rungate:limits:${yield* databaseIdentity}:`)
    let quietUntil = 0
    return {
      ...own,
      // This process keeps count as well, so that an outage gives nobody a full bucket.
      tokenBucket: (options) =>
        Effect.flatMap(own.tokenBucket(options), (alone) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now < quietUntil
              ? Effect.succeed(alone)
              : tokenBucket(options).pipe(
                  Effect.catch((error) => {
                    quietUntil = now + quietMillis
                    return Effect.as(
                      Effect.logDebug(`Redis did not answer, so this process limits on its own: ${error.message}`),
                      alone
                    )
                  })
                )
          )
        )
    }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))
