/**
 * The connection to Redis if `REDIS_URL` is set. It is checked at start, and shared by queues, signals and rate limits.
 *
 * Redis never has the only copy of any data. While it is down, commands fail fast and callers continue without it.
 */
import { Redis as IORedis, type RedisOptions } from "ioredis"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Settings } from "../platform/Settings.ts"

export class RedisUnavailable extends Schema.TaggedError<RedisUnavailable>()("RedisUnavailable", {
  message: Schema.String
}) {}

export interface RedisShape {
  readonly client: IORedis
  /** Opens another connection, for blocking reads and subscriptions. It reconnects forever. The caller closes it. */
  readonly dedicated: () => IORedis
}

const connectMillisMax = 5_000

const dedicatedOptions: RedisOptions = {
  maxRetriesPerRequest: null,
  enableOfflineQueue: true,
  retryStrategy: (times) => Math.min(times * 100, 2_000)
}
const sharedOptions: RedisOptions = {
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  retryStrategy: (times) => Math.min(times * 100, 2_000)
}

const ready = (client: IORedis) =>
  Effect.callback<void, Error>((resume) => {
    let lastError: Error | undefined
    const timer = setTimeout(() => finish(Effect.fail(lastError ?? new Error("no answer"))), connectMillisMax)
    const onError = (error: Error) => {
      lastError = error
      finish(Effect.fail(error))
    }
    const finish = (result: Effect.Effect<void, Error>) => {
      clearTimeout(timer)
      client.off("error", onError)
      client.off("ready", onReady)
      client.on("error", () => {})
      resume(result)
    }
    const onReady = () => finish(Effect.void)
    client.once("ready", onReady)
    client.once("error", onError)
  })

/** Null without `REDIS_URL`. Queues and signals then use Postgres, and each process limits rates on its own. */
export class Redis extends Context.Service<Redis, RedisShape | null>()("rungate/layers/queues/Redis") {
  static readonly layer = Layer.effect(
    Redis,
    Effect.gen(function* () {
      const { redisUrl } = yield* Settings
      if (redisUrl === null) return null
      const url = Redacted.value(redisUrl)
      const { hostname, port } = new URL(url)
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => new IORedis(url, sharedOptions)),
        (redis) => Effect.sync(() => redis.disconnect())
      )
      yield* ready(client).pipe(
        Effect.mapError(
          (error) =>
            new RedisUnavailable({
              message: `Can't reach Redis at ${hostname}:${port === "" ? "6379" : port} (${error.message}). Check REDIS_URL and that the server runs, or unset REDIS_URL to run the queues on Postgres.`
            })
        )
      )
      const dedicated = () => {
        const redis = new IORedis(url, dedicatedOptions)
        redis.on("error", () => {})
        return redis
      }
      return { client, dedicated }
    })
  )
}
