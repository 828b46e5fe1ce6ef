/** `rungate completions <shell>`: the script that completes commands and flags; how to install it stands on stderr. */
import { Context, Effect } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { Screen } from "./Screen.ts"

const hints = {
  bash: "rungate completions bash > ~/.local/share/bash-completion/completions/rungate",
  zsh: `rungate completions zsh > "\${fpath[1]}/_rungate"`,
  fish: "rungate completions fish > ~/.config/fish/completions/rungate.fish"
} as const

/** The whole tree of commands, which this one is a part of. */
export class Root extends Context.Service<Root, Parameters<typeof Completions.fromCommand>[0]>()(
  "rungate/http/cli/Root"
) {}

export const completions = Command.make(
  "completions",
  { shell: Argument.Literals("shell", ["bash", "zsh", "fish"]) },
  Effect.fnUntraced(function* ({ shell }) {
    const screen = yield* Screen
    const script = Completions.generate("rungate", shell, Completions.fromCommand(yield* Root))
    yield* screen.out(script.endsWith("\n") ? script : `${script}\n`)
    if (screen.person) yield* screen.say(`Install it with: ${hints[shell]}`)
  })
).pipe(Command.withDescription("Print a script that completes commands and flags in bash, zsh or fish"))
