/** Questions before what can't be undone. Enter, end of input and Ctrl-C all mean no. */
import { Effect } from "effect"
import { fail, bad } from "./exits.ts"
import { Screen } from "./Screen.ts"

/** Requires `screen.askable`. Ctrl-C prints `otherwise`. */
export const confirmed = Effect.fnUntraced(function* (question: string, otherwise: string) {
  const screen = yield* Screen
  const answer = yield* Effect.onInterrupt(screen.ask(`${question} [y/N]`), () => screen.warn(`\n${otherwise}`))
  return /^y(es)?$/i.test((answer ?? "").trim())
})

const nothing = "Cancelled. Nothing was changed."

/** Succeeds when the user agrees at the terminal or gave --yes; otherwise the command fails. */
export const consent = Effect.fnUntraced(function* (
  question: string,
  given: { readonly yes: boolean },
  otherwise = nothing
) {
  if (given.yes) return
  const screen = yield* Screen
  if (!screen.askable)
    return yield* bad(
      `This needs confirmation, and there is no terminal to ask at. Pass --yes to confirm. (${question})`
    )
  if (!(yield* confirmed(question, otherwise))) return yield* fail("interrupted", otherwise)
})
