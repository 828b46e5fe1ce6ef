/**
 * Reads that must go on: for a command that follows something until its user stops it.
 *
 * A service that is away, busy or broken is asked again for as long as it takes, and that is said once, as is that it is back. What
 * no repetition can mend (a wrong key, a wrong question) ends the command, and so does a service that was never there.
 */
import { Effect } from "effect"
import { type Answer, Client } from "./Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { Screen } from "../terminal/Screen.ts"
import { failureOf } from "./show.ts"

/** A page of a list is there sooner, or the connection is dead and nobody said so. */
const answerSeconds = 15
const pausesSeconds = [1, 2, 4, 5]
/** What a service may ask for at most: longer than any window of its rate limit. */
const pauseSecondsMost = 60

/** Seconds that a refused request is to wait. */
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
      const asked = yield* Effect.result(send("GET", path, { once: true, seconds: answerSeconds }))
      const answer = asked._tag === "Success" ? asked.success : null
      if (answer?.status === 429) {
        const seconds = askedPause(answer)
        yield* wait(seconds, `The service asks to wait ${seconds} s`)
        continue
      }
      // Nothing was followed yet: what is wrong then is a mistake to be told, not a gap to be waited out.
      if (answer !== null && (answer.status < 500 || !answered)) {
        const failure = yield* refusal(answer)
        if (failure !== null) return yield* failure
        if (away > 0) yield* screen.say("Connected again; going on where it was.")
        answered = true
        return answer
      }
      if (asked._tag === "Failure" && !answered) return yield* asked.failure
      const httpErrors = asked._tag === "Failure" ? asked.failure.message : `${url} answers HTTP ${answer?.status}.`
      if (away === 0) yield* screen.warn(`${httpErrors} CommandClient again until it answers.`)
      yield* wait(pausesSeconds[Math.min(away, pausesSeconds.length - 1)] ?? 1, `Waiting for ${url}`)
      away++
    }
  })
})
