/** A question before something that can't be taken back. Enter, the end of input and Ctrl-C all mean no. */
import { Effect } from "effect"
import { Screen } from "./Screen.ts"

/** Only where `screen.askable`. `otherwise` is what is said when Ctrl-C is the answer. */
export const confirmed = Effect.fnUntraced(function* (question: string, otherwise: string) {
  const screen = yield* Screen
  const answer = yield* Effect.onInterrupt(screen.ask(`${question} [y/N]`), () => screen.warn(`\n${otherwise}`))
  return /^y(es)?$/i.test((answer ?? "").trim())
})
