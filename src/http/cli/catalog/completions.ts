/**
 * `rungate completions <shell>`: prints the completion script, and on stderr how to install it.
 *
 * The script contains commands and flags. It asks `rungate complete` for capabilities, providers and endpoints.
 */
import { Effect } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { kinds } from "./complete.ts"
import { Root } from "../terminal/presenter.ts"
import { Screen } from "../terminal/Screen.ts"

const hints = {
  bash: "rungate completions bash > ~/.local/share/bash-completion/completions/rungate",
  zsh: `rungate completions zsh > "\${fpath[1]}/_rungate"`,
  fish: "rungate completions fish > ~/.config/fish/completions/rungate.fish"
} as const
type Shell = keyof typeof hints

/** A placeholder in the generated script for the names of a kind. */
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

/** Every argument or flag named after a kind completes names of that kind. */
const withNames = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  arguments: command.arguments.map(marked),
  flags: command.flags.map(marked),
  subcommands: command.subcommands.map(withNames)
})

/** Shell functions that ask for names, and refresh an outdated cache in the background. */
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
  // zsh needs #compdef on the first line.
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
).pipe(Command.withDescription("Print a completion script for bash, zsh or fish"))
