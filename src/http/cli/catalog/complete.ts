/**
 * `rungate complete`: prints names for shell completion. Help does not list it.
 *
 * It answers from the cache. Exit code 8 means that the cache is missing or older than a day; then the completion script runs
 * `rungate complete refresh` in the background. It prints nothing to stderr, which would break the prompt.
 */
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { isDue, keptNames, type Names, refreshNames } from "./CatalogNames.ts"
import { CommandFailed, exits } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

/** The kinds of names, by the name of the argument or flag. */
export const kinds = ["capability", "provider", "endpoint", "target"] as const
type Kind = (typeof kinds)[number]

/** `words` are the words before the cursor. They name the provider whose endpoints are completed. */
const offered = (kind: Kind, names: Names, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const providers = Object.keys(names.providers)
  if (kind === "capability") return names.capabilities
  if (kind === "provider") return providers
  if (kind === "target")
    return [...names.capabilities, ...providers.filter((one) => (names.providers[one] ?? []).length > 0)]
  const named = words.find((word) => Object.hasOwn(names.providers, word))
  return named === undefined ? [] : (names.providers[named] ?? [])
}

export const complete = Command.make(
  "complete",
  {
    kind: Argument.Literals("kind", [...kinds, "refresh"]),
    words: Argument.String("word").pipe(Argument.variadic())
  },
  Effect.fnUntraced(function* ({ kind, words }) {
    const screen = yield* Screen
    const names = yield* keptNames
    const due = isDue(names, yield* Clock.currentTimeMillis)
    if (kind === "refresh") return yield* due ? refreshNames : Effect.void
    if (names !== null)
      yield* screen.out(
        offered(kind, names, words)
          .map((name) => `${name}\n`)
          .join("")
      )
    if (due) return yield* new CommandFailed({ message: "", exit_code: exits.pending })
  })
).pipe(Command.withDescription("Print names for a shell to complete"), Command.unlisted)
