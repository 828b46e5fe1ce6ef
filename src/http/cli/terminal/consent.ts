/** Confirmation of an irreversible action: a question at a terminal, or the flag --yes elsewhere. */
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { confirmed } from "./confirm.ts"
import { fail } from "./exits.ts"
import { Screen } from "./Screen.ts"

export const yes = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("skip the confirmation"),
  Flag.withDefault(false)
)

const nothing = "Cancelled. Nothing was changed."

/** Succeeds when the user agrees; otherwise the command fails. */
export const consent = Effect.fnUntraced(function* (question: string, given: { readonly yes: boolean }) {
  if (given.yes) return
  const screen = yield* Screen
  if (!screen.askable)
    return yield* fail(
      "usage",
      `This needs confirmation, and there is no terminal to ask at. Pass --yes to confirm. (${question})`
    )
  if (!(yield* confirmed(question, nothing))) return yield* fail("interrupted", nothing)
})
