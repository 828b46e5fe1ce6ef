/**
 * The connection to Redis if `REDIS_URL` is set: checked once at start, and shared by queues and signals.
 *
 * Redis never holds the only copy of anything. Commands fail fast while it is down, and callers continue without it.
 */
import { Redis as IORedis, type RedisOptions } from "ioredis"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Settings } from "../platform/Settings.ts"

export class RedisUnavailable extends Schema.TaggedError<RedisUnavailable>()("RedisUnavailable", {
  message: Schema.String
}) {}

export interface RedisShape {
  readonly client: IORedis
  /** A connection of its own, for blocking reads and subscriptions; retries for ever. Closed by whoever asked. */
  readonly dedicated: () => IORedis
}

const connectMillisMax = 5_000

const patient: RedisOptions = {
  maxRetriesPerRequest: null,
  enableOfflineQueue: true,
  retryStrategy: (times) => Math.min(times * 100, 2_000)
}
const hasty: RedisOptions = {
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  retryStrategy: (times) => Math.min(times * 100, 2_000)
}

const ready = (client: IORedis) =>
  Effect.callback<void, Error>((resume) => {
    let last: Error | undefined
    const timer = setTimeout(() => finish(Effect.fail(last ?? new Error("no answer"))), connectMillisMax)
    const onError = (error: Error) => {
      last = error
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

/** Null without `REDIS_URL`: queues and signals then live in Postgres. */
export class Redis extends Context.Service<Redis, RedisShape | null>()("rungate/layers/queues/Redis") {
  static readonly layer = Layer.effect(
    Redis,
    Effect.gen(function* () {
      const { redisUrl } = yield* Settings
      if (redisUrl === null) return null
      const url = Redacted.value(redisUrl)
      const { hostname, port } = new URL(url)
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => new IORedis(url, hasty)),
        (redis) => Effect.sync(() => redis.disconnect())
      )
      yield* ready(client).pipe(
        Effect.mapError(
          (error) =>
            new RedisUnavailable({
              message: `Can't reach Redis at ${hostname}:${port === "" ? "6379" : port} (${error.message}); is REDIS_URL right and the server up? Unset it to run the queues on Postgres.`
            })
        )
      )
      const dedicated = () => {
        const redis = new IORedis(url, patient)
        redis.on("error", () => {})
        return redis
      }
      return { client, dedicated }
    })
  )
}
