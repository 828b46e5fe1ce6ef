/**
 * Prints help and the version to stdout, and usage errors to stderr, one line each, with a pointer to the help.
 *
 * `--help --json` prints the same help for programs (tree.ts). The text shows default values, which Effect's own help omits.
 */
import { Console, Context, Effect, Option, Stdio } from "effect"
import { CliOutput, type Command, type Completions, GlobalFlag, type HelpDoc, TerminalCapabilities } from "effect/cli"
import { globals } from "./globals.ts"
import { harmless } from "./text.ts"
import { commandAt, commandTree, type CommandTree, helpJson } from "./tree.ts"

/** The root command: shells complete its commands. */
export class Root extends Context.Service<Root, Parameters<typeof Completions.fromCommand>[0]>()(
  "rungate/http/cli/terminal/Root"
) {}

/** Effect's built-in flags that this command supports. `completions` is a command here. */
export const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.LogLevel] as const

const withDefaults = (doc: HelpDoc.HelpDoc, tree: CommandTree): HelpDoc.HelpDoc => ({
  ...doc,
  flags: doc.flags.map((flag) => {
    const preset = tree.flags.find(({ name }) => name === flag.name)?.default ?? null
    if (preset === null || typeof preset === "boolean") return flag
    const described = Option.map(flag.description, (text) => `${text} (default: ${String(preset)})`)
    return { ...flag, description: described }
  })
})

/** Effect prints the flags that every command takes before the commands. They come last here. */
const commandsFirst = (text: string): string => {
  const blocks = text.split("\n\n")
  const isGlobal = (block: string) => block.includes("GLOBAL FLAGS")
  return [...blocks.filter((one) => !isGlobal(one)), ...blocks.filter(isGlobal)].join("\n\n")
}

/** Effect prints suggestions on lines of their own. Here an error is one line. */
const sentence = (message: string) =>
  message.replace(/\s*\n\s*Did you mean this\?\s*/, "; did you mean ").replace(/\s*\n\s*/g, " or ")

/** `version` is the package's. */
export const presenterOf = Effect.fnUntraced(function* (root: Command.Command.Any, version: string) {
  const surroundings = yield* Effect.context<Command.Environment>()
  const { args } = yield* Stdio.Stdio
  const asJson = (yield* args).some((word) => word === "--json" || word === "-q" || word === "--quiet")

  const help = Effect.fnUntraced(function* (event: Extract<CliOutput.Presenter.Event, { readonly _tag: "Help" }>) {
    const { commandPath, helpDoc, reason } = event
    if (asJson && reason === "Requested") {
      const text = yield* helpJson(root, commandPath, [...builtIns, ...globals], version)
      return yield* Effect.sync(() => process.stdout.write(text))
    }
    const tree = yield* commandTree(commandAt(root, commandPath), commandPath.slice(0, -1))
    const canColor = Context.get(yield* Effect.context<never>(), TerminalCapabilities.TerminalCapabilities).canColor
    const text = CliOutput.defaultFormatter({ colors: canColor }).formatHelpDoc(withDefaults(helpDoc, tree))
    return yield* Console.log(commandsFirst(text))
  }, Effect.provideContext(surroundings))

  const presenter: CliOutput.Presenter = {
    present: Effect.fnUntraced(function* (event) {
      if (event._tag === "Help") return void (yield* help(event))
      if (event._tag !== "InvalidInvocation") return yield* CliOutput.defaultPresenter.present(event)
      const lines = event.errors.map((error) => `rungate: ${harmless(sentence(error.message))}`)
      const see = `See: ${event.commandPath.join(" ")} --help`
      yield* Effect.sync(() => process.stderr.write(`${[...lines, see].join("\n")}\n`))
    })
  }
  return presenter
})
