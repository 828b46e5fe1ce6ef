/**
 * Opens the shared connection of a starting process to Redis. A service waits while Redis is away, and says what it waits for. A command of
 * an operator fails at once.
 */
import type { Cluster, Redis as IORedis } from "ioredis"
import { Clock, Context, Effect, Schema, type Scope } from "effect"

export class RedisUnavailable extends Schema.TaggedError<RedisUnavailable>()("RedisUnavailable", {
  message: Schema.String
}) {}

export type Client = IORedis | Cluster

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

const nodeErrors = ["node error", "sentinelError"]

const ready = (client: Client) =>
  Effect.callback<void, Error>((resume) => {
    let lastError: Error | undefined
    const timer = setTimeout(() => finish(Effect.fail(lastError ?? new Error("no answer"))), connectMillisMax)
    const onError = (error: Error) => finish(Effect.fail(lastError ?? error))
    // One node of a cluster, or one Sentinel, may be down. If all are, `error` follows and says less.
    const onNodeError = (error: Error) => {
      lastError = error
    }
    const finish = (result: Effect.Effect<void, Error>) => {
      clearTimeout(timer)
      client.off("error", onError)
      for (const event of nodeErrors) client.off(event, onNodeError)
      client.off("ready", onReady)
      client.on("error", () => {})
      resume(result)
    }
    const onReady = () => finish(Effect.void)
    for (const event of nodeErrors) client.on(event, onNodeError)
    client.once("ready", onReady)
    client.once("error", onError)
    return Effect.sync(() => clearTimeout(timer))
  })

/** One attempt. The caller disconnects the client. */
const connect = <A extends Client>(open: () => A) =>
  Effect.suspend(() => {
    const client = open()
    return ready(client).pipe(
      Effect.as(client),
      Effect.onError(() => Effect.sync(() => client.disconnect()))
    )
  })

const adviceOf = (reason: string, place: string) =>
  reason.includes("cluster support disabled")
    ? `It is no cluster: set REDIS_URL=redis://${place}.`
    : "Check REDIS_URL and that the server runs, or unset REDIS_URL to run the queues on Postgres."

/** Redis itself says that it will answer later. */
const laterPattern = /^(?:LOADING|MASTERDOWN|BUSY|TRYAGAIN)/
/** An answer that is not Redis's, or one that refuses what the service asks for. Waiting does not change these. */
const answerNames = ["ParserError", "ReplyError"]
const refusedPattern = /WRONGPASS|NOAUTH|NOPERM|invalid password|AUTH/

/**
 * Null: waiting does not help, as with a server that is no Redis. Any other failure is waited for: a proxy in front of Redis accepts
 * connections and closes them at any point, so a list of all errors of a server that is away would never be complete.
 */
export const troubleOf = (error: Error): RedisTrouble | null => {
  if (refusedPattern.test(error.message)) return "refused"
  return answerNames.includes(error.name) && !laterPattern.test(error.message) ? null : "away"
}

/** ioredis has no words for a connection that is closed before its first command. A server that is no Redis does that, too. */
const inWords = ({ message }: Error): string =>
  message.startsWith("Stream isn't writeable") ? "it closes the connection; is it a Redis?" : message

/** Tries until Redis answers, and says what the service waits for. Fails if waiting does not help. */
const waitFor = Effect.fnUntraced(function* <A extends Client>(
  open: () => A,
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
    } else if (inWords(error) !== said || now - saidAt >= sayAgainMillis) {
      said = inWords(error)
      yield* Effect.logWarning(
        `Waiting for Redis at ${place} before the service starts (${said}). ${adviceOf(said, place)}`
      )
      saidAt = now
    }
    yield* Effect.sleep(`${trouble === "refused" ? refusedAgainSeconds : againSeconds} seconds`)
    const attempt = yield* Effect.result(connect(open))
    if (attempt._tag === "Success") {
      yield* Effect.logInfo(`Redis at ${place} answers. The service starts.`)
      return attempt.success
    }
    error = attempt.failure
  }
})

/** Opens a connection and closes it with the scope. */
export const opened = Effect.fnUntraced(function* <A extends Client>(open: () => A, place: string) {
  const wait = yield* RedisWait
  const waiting = (first: Error) => {
    const trouble = troubleOf(first)
    if (wait === null || trouble === null) return Effect.fail(first)
    const state = { trouble }
    return Effect.scoped(
      Effect.andThen(
        wait(() => state.trouble),
        waitFor(open, place, first, state)
      )
    )
  }
  return yield* Effect.acquireRelease(
    connect(open).pipe(Effect.catch(waiting)),
    (redis) => Effect.sync(() => redis.disconnect()),
    { interruptible: true }
  ).pipe(
    Effect.mapError(
      (error) =>
        new RedisUnavailable({
          message: `Can't reach Redis at ${place} (${inWords(error)}). ${adviceOf(error.message, place)}`
        })
    )
  )
})
