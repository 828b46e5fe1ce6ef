/** Asks a yes-or-no question. Enter, end of input and Ctrl-C all mean no. */
import { Effect } from "effect"
import { Screen } from "./Screen.ts"

/** Requires `screen.askable`. Ctrl-C prints `otherwise`. */
export const confirmed = Effect.fnUntraced(function* (question: string, otherwise: string) {
  const screen = yield* Screen
  const answer = yield* Effect.onInterrupt(screen.ask(`${question} [y/N]`), () => screen.warn(`\n${otherwise}`))
  return /^y(es)?$/i.test((answer ?? "").trim())
})
