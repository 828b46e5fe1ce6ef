/**
 * `rungate completions <shell>`: the script that completes commands, flags and the catalog's names; how to install it stands on stderr.
 *
 * Commands and flags stand in the script. Capabilities, providers and endpoints are asked of `rungate complete`, which answers from a file.
 */
import { Context, Effect } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { kinds } from "./complete.ts"
import { Screen } from "../terminal/Screen.ts"

const hints = {
  bash: "rungate completions bash > ~/.local/share/bash-completion/completions/rungate",
  zsh: `rungate completions zsh > "\${fpath[1]}/_rungate"`,
  fish: "rungate completions fish > ~/.config/fish/completions/rungate.fish"
} as const
type Shell = keyof typeof hints

/** The whole tree of commands, which this one is a part of. */
export class Root extends Context.Service<Root, Parameters<typeof Completions.fromCommand>[0]>()(
  "rungate/http/cli/catalog/Root"
) {}

/** Stands in the generated script where the names of a kind are to be asked for. */
const mark = (kind: string) => `RUNGATE-NAMES-${kind}`
const markPattern = "RUNGATE-NAMES-(\\w+)"

interface Named {
  readonly name: string
  readonly type: Completions.FlagType
}
const marked = <A extends Named>(one: A) =>
  one.type._tag === "String" && kinds.some((kind) => kind === one.name)
    ? { ...one, type: { _tag: "Choice", values: [mark(one.name)] } as const }
    : one

/** An argument or a flag that is called as a kind of name takes such names, in every command. */
const withNames = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  arguments: command.arguments.map(marked),
  flags: command.flags.map(marked),
  subcommands: command.subcommands.map(withNames)
})

/** What is printed goes to the shell alone; when it is old, new names are fetched behind its back. */
const askings: Readonly<Record<Shell, string>> = {
  bash: `_rungate--names()
{
  local _kind="$1" _line; shift
  _rungate_names=()
  while IFS= read -r _line; do _rungate_names+=("$_line"); done < <(
    rungate complete "$_kind" -- "$@" 2>/dev/null || { (rungate complete refresh </dev/null >/dev/null 2>&1 &); }
  )
}
`,
  zsh: `_rungate_names() {
  local -a names
  names=(\${(f)"$(rungate complete $1 -- \${words[1,CURRENT-1]} 2>/dev/null || { rungate complete refresh </dev/null >/dev/null 2>&1 &! })"})
  compadd -a names
}
`,
  fish: `function __rungate_names
  rungate complete $argv[1] -- (commandline -opc) 2>/dev/null
  or begin; rungate complete refresh </dev/null >/dev/null 2>&1 & disown; end
end
`
}

const replacements: Readonly<Record<Shell, readonly [RegExp, string]>> = {
  bash: [
    new RegExp(`(_rungate--choices "\\$cur" "\\$_comp_word") '${markPattern}'`, "g"),
    `_rungate--names $2 "\${words[@]:1:cword-1}"; $1 "\${_rungate_names[@]}"`
  ],
  zsh: [new RegExp(`\\(${markPattern}\\)`, "g"), "_rungate_names $1"],
  fish: [new RegExp(`-a '${markPattern}'`, "g"), "-a '(__rungate_names $1)'"]
}

const scriptFor = (shell: Shell, root: Root["Service"]): string => {
  const text = Completions.generate("rungate", shell, withNames(Completions.fromCommand(root)))
  const [pattern, replacement] = replacements[shell]
  const asking = text.replace(pattern, replacement)
  // zsh wants its first line first.
  const [first = "", ...rest] = asking.split("\n")
  return `${[first, askings[shell], ...rest].join("\n").trimEnd()}\n`
}

export const completions = Command.make(
  "completions",
  { shell: Argument.Literals("shell", ["bash", "zsh", "fish"]) },
  Effect.fnUntraced(function* ({ shell }) {
    const screen = yield* Screen
    yield* screen.out(scriptFor(shell, yield* Root))
    if (screen.person) yield* screen.say(`Install it with: ${hints[shell]}`)
  })
).pipe(
  Command.withDescription("Print a script that completes commands, flags and the catalog's names in bash, zsh or fish")
)
