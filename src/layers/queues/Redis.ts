/**
 * The connection to Redis if `REDIS_URL` is set. It is checked at start, and shared by queues, signals and rate limits.
 *
 * Redis never has the only copy of any data. While it is down, commands fail fast and callers continue without it. A service that starts
 * while Redis is away waits for it (`RedisWait`). A command of an operator fails at once.
 */
import { Redis as IORedis, type RedisOptions } from "ioredis"
import { Clock, Context, Effect, Layer, Redacted, Schema, type Scope } from "effect"
import { Settings } from "../platform/Settings.ts"

export class RedisUnavailable extends Schema.TaggedError<RedisUnavailable>()("RedisUnavailable", {
  message: Schema.String
}) {}

export interface RedisShape {
  readonly client: IORedis
  /** Opens another connection, for blocking reads and subscriptions. It reconnects forever. The caller closes it. */
  readonly dedicated: () => IORedis
}

/** What the operator of a starting service has to do. `refused`: Redis is there and does not accept the password. */
export type RedisTrouble = "away" | "refused"

/** What a starting process does while it waits for Redis, until the scope closes. Null: it does not wait and fails. */
export const RedisWait = Context.Reference<
  ((trouble: () => RedisTrouble) => Effect.Effect<void, never, Scope.Scope>) | null
>("rungate/layers/queues/RedisWait", { defaultValue: () => null })

const connectMillisMax = 5_000
/** Short, because the service starts this much later than Redis. */
const againSeconds = 1
/** A password is corrected by hand, and each attempt is logged. */
const refusedAgainSeconds = 5
/** A service that waits for long says so again, for whoever reads only the newest lines of the log. */
const sayAgainMillis = 60_000

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
    return Effect.sync(() => clearTimeout(timer))
  })

/** One attempt. The caller disconnects the client. */
const connect = (url: string) =>
  Effect.suspend(() => {
    const client = new IORedis(url, sharedOptions)
    return ready(client).pipe(
      Effect.as(client),
      Effect.onError(() => Effect.sync(() => client.disconnect()))
    )
  })

/** The system's words for a server that is not there, not there yet, or still reads its data. */
const awayPattern =
  /ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|no answer|Connection is closed|Command aborted|LOADING|MASTERDOWN/
const refusedPattern = /WRONGPASS|NOAUTH|NOPERM|invalid password|AUTH/

/** Null: waiting does not help, as with a server that is no Redis. */
const troubleOf = (error: Error): RedisTrouble | null => {
  if (refusedPattern.test(error.message)) return "refused"
  return awayPattern.test(`${"code" in error ? error.code : ""} ${error.message}`) ? "away" : null
}

const advice = "Check REDIS_URL and that the server runs, or unset REDIS_URL to run the queues on Postgres."

/** Tries until Redis answers, and says what the service waits for. Fails if waiting does not help. */
const waitFor = Effect.fnUntraced(function* (
  url: string,
  place: string,
  first: Error,
  state: { trouble: RedisTrouble }
) {
  let error = first
  let said = ""
  let saidAt = 0
  while (true) {
    const trouble = troubleOf(error)
    if (trouble === null) return yield* Effect.fail(error)
    state.trouble = trouble
    const now = yield* Clock.currentTimeMillis
    if (trouble === "refused") {
      yield* Effect.logWarning(
        `Redis at ${place} refuses the service (${error.message}). Correct the user and password in REDIS_URL, then start the service again. It tries again every ${refusedAgainSeconds} s, in case they change in Redis.`
      )
      said = ""
    } else if (error.message !== said || now - saidAt >= sayAgainMillis) {
      yield* Effect.logWarning(`Waiting for Redis at ${place} before the service starts (${error.message}). ${advice}`)
      said = error.message
      saidAt = now
    }
    yield* Effect.sleep(`${trouble === "refused" ? refusedAgainSeconds : againSeconds} seconds`)
    const attempt = yield* Effect.result(connect(url))
    if (attempt._tag === "Success") {
      yield* Effect.logInfo(`Redis at ${place} answers. The service starts.`)
      return attempt.success
    }
    error = attempt.failure
  }
})

/** Null without `REDIS_URL`. Queues and signals then use Postgres, and each process limits rates on its own. */
export class Redis extends Context.Service<Redis, RedisShape | null>()("rungate/layers/queues/Redis") {
  static readonly layer = Layer.effect(
    Redis,
    Effect.gen(function* () {
      const { redisUrl } = yield* Settings
      const wait = yield* RedisWait
      if (redisUrl === null) return null
      const url = Redacted.value(redisUrl)
      const { hostname, port } = new URL(url)
      const place = `${hostname}:${port === "" ? "6379" : port}`
      const waiting = (first: Error) => {
        const trouble = troubleOf(first)
        if (wait === null || trouble === null) return Effect.fail(first)
        const state = { trouble }
        return Effect.scoped(
          Effect.andThen(
            wait(() => state.trouble),
            waitFor(url, place, first, state)
          )
        )
      }
      const client = yield* Effect.acquireRelease(
        connect(url).pipe(Effect.catch(waiting)),
        (redis) => Effect.sync(() => redis.disconnect()),
        { interruptible: true }
      ).pipe(
        Effect.mapError(
          ({ message }) => new RedisUnavailable({ message: `Can't reach Redis at ${place} (${message}). ${advice}` })
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
