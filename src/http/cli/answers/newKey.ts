/** Shows a key that a command created. The service answers it this once. */
import { Effect, Schema } from "effect"
import { Screen } from "../terminal/Screen.ts"
import type { Answer } from "./Client.ts"
import { decoded, failureOf, lines, printed } from "./show.ts"

const Made = Schema.Struct({ id: Schema.String, api_key: Schema.String })
export type MadeKey = typeof Made.Type

/** The new key, or null once the answer is printed: for `--json`, or because it has another form. Fails with the service's error. */
export const madeKey = Effect.fnUntraced(function* (answer: Answer, json: boolean) {
  const failure = yield* failureOf(answer)
  if (json) yield* (yield* Screen).out(printed(answer.text))
  if (failure !== null) return yield* failure
  if (json) return null
  const newKey = decoded(Made, answer.text)
  if (newKey === null) yield* lines(null, answer.text)
  return newKey
})

/** Prints the key alone to stdout, so that it can be piped, and `sentence` to stderr. */
export const printKey = Effect.fnUntraced(function* ({ id, api_key }: MadeKey, sentence: string) {
  const screen = yield* Screen
  yield* screen.out(`${api_key}\n`)
  yield* screen.say(`Created ${id}. ${sentence}`)
})
