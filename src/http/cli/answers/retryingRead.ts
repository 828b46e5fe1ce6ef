/**
 * Reads with unlimited retries, for a command that follows something until the user stops it.
 *
 * An unreachable, busy or failing service is retried without a time limit. The outage and its end are reported once each.
 * Errors that a retry can't fix (a wrong key, a bad request) end the command. So does a service that never answered.
 */
import { Effect } from "effect"
import { type Answer, Client } from "./Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { Screen } from "../terminal/Screen.ts"
import { failureOf } from "./show.ts"

/** A page arrives sooner unless the connection is dead. */
const answerSeconds = 15
const pausesSeconds = [1, 2, 4, 5]
/** The longest Retry-After that is honoured; longer than any rate limit window. */
const pauseSecondsMost = 60

/** Retry-After in seconds. */
const askedPause = ({ headers }: Answer): number => {
  const seconds = Number(headers["retry-after"] ?? "")
  return seconds > 0 ? Math.min(seconds, pauseSecondsMost) : 1
}

export const retryingRead = Effect.gen(function* () {
  const { send, url } = yield* Client
  const screen = yield* Screen
  const credentials = yield* Credentials
  const refusal = (answer: Answer) => Effect.provideService(failureOf(answer), Credentials, credentials)
  let answered = false

  const wait = (seconds: number, what: string) =>
    Effect.andThen(screen.status(what), Effect.ensuring(Effect.sleep(`${seconds} seconds`), screen.status("")))

  /** The answer to a GET, below 400. */
  return Effect.fnUntraced(function* (path: string) {
    for (let away = 0; ; ) {
      const attempt = yield* Effect.result(send("GET", path, { once: true, seconds: answerSeconds }))
      const answer = attempt._tag === "Success" ? attempt.success : null
      if (answer?.status === 429) {
        const seconds = askedPause(answer)
        yield* wait(seconds, `Rate limited by the service; retrying in ${seconds} s`)
        continue
      }
      // Before the first success an error is reported, not retried.
      if (answer !== null && (answer.status < 500 || !answered)) {
        const failure = yield* refusal(answer)
        if (failure !== null) return yield* failure
        if (away > 0) yield* screen.say("Reconnected. Continuing.")
        answered = true
        return answer
      }
      if (attempt._tag === "Failure" && !answered) return yield* attempt.failure
      const why = attempt._tag === "Failure" ? attempt.failure.message : `${url} answers HTTP ${answer?.status}.`
      if (away === 0) yield* screen.warn(`${why} Retrying until it answers.`)
      yield* wait(pausesSeconds[Math.min(away, pausesSeconds.length - 1)] ?? 1, `Waiting for ${url}`)
      away++
    }
  })
})
