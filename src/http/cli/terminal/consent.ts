/** Something that can't be taken back: asked of a person, said with --yes where there is none. */
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { confirmed } from "./confirm.ts"
import { fail } from "./exits.ts"
import { Screen } from "./Screen.ts"

export const yes = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("don't ask"),
  Flag.withDefault(false)
)

const nothing = "Nothing was done."

/** Goes on when the answer is yes; else the command ends. */
export const consent = Effect.fnUntraced(function* (question: string, given: { readonly yes: boolean }) {
  if (given.yes) return
  const screen = yield* Screen
  if (!screen.askable) return yield* fail("usage", `${question} Say so with --yes, where nobody can be asked.`)
  if (!(yield* confirmed(question, nothing))) return yield* fail("interrupted", nothing)
})
