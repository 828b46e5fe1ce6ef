/** A question before something that can't be taken back. */
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { fail } from "./exits.ts"
import { Screen } from "./Screen.ts"

export const yes = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("don't ask"),
  Flag.withDefault(false)
)

/** Goes on when the answer is yes; else the command ends. Where nobody can be asked, --yes is the answer. */
export const confirm = Effect.fnUntraced(function* (question: string, given: { readonly yes: boolean }) {
  if (given.yes) return
  const screen = yield* Screen
  if (!screen.askable) return yield* fail("usage", `${question} Say so with --yes, where nobody can be asked.`)
  const answer = yield* screen.ask(`${question} [y/N]`)
  if (!/^y(es)?$/i.test((answer ?? "").trim())) return yield* fail("interrupted", "Nothing was done.")
})
