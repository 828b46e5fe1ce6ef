/** What the command line itself says: help and versions on stdout, mistakes on stderr in a line each, and where the help is. */
import { Effect } from "effect"
import { CliOutput } from "effect/cli"
import { harmless } from "./text.ts"

export const presenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    if (event._tag !== "InvalidInvocation") return yield* CliOutput.defaultPresenter.present(event)
    const lines = event.errors.map((error) => `rungate: ${harmless(error.message)}`)
    const help = `See: ${event.commandPath.join(" ")} --help`
    yield* Effect.sync(() => process.stderr.write(`${[...lines, help].join("\n")}\n`))
  })
}
