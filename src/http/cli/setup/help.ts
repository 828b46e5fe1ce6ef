/** `rungate help <topic>`: what no command's own help says. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { type Exit, exits, meanings } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const names = Object.keys(meanings).filter((name): name is Exit => name in exits)

const topics = {
  "exit-codes": (width: number, bold: (text: string) => string) => [
    ...table(
      names,
      [
        { title: "CODE", of: (name) => exits[name], right: true },
        { title: "MEANING", of: (name) => meanings[name] }
      ],
      width,
      bold
    )
  ],
  environment: (width: number, bold: (text: string) => string) => [
    ...table(
      [
        ["RUNGATE_API_KEY", "the key; without it the profile's, from credentials.json"],
        ["RUNGATE_URL", "the service; without it the profile's, else http://127.0.0.1:8787"],
        ["RUNGATE_MAX_COST", "--max-cost of run and call, where it is left out"],
        ["RUNGATE_PROFILE", "which saved profile; --profile says so too, and comes first of all"],
        ["XDG_CONFIG_HOME", "where rungate/credentials.json and sessions.json stand; else ~/.config"],
        ["XDG_STATE_HOME", "where runs are written down until they end; else ~/.local/state"],
        ["XDG_CACHE_HOME", "where names are kept that completions offer; else ~/.cache"],
        ["NO_COLOR, FORCE_COLOR", "without colors, or with them wherever"],
        ["CI", "nothing is asked, nothing is animated"]
      ] as const,
      [
        { title: "VARIABLE", of: ([name]) => name },
        { title: "MEANING", of: ([, meaning]) => meaning }
      ],
      width,
      bold
    )
  ]
}

/** `help runs list` is what `runs list --help` prints. */
export const helpAsked = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, subject = "-", ...rest] = words
  return first !== "help" || subject.startsWith("-") || Object.hasOwn(topics, subject)
    ? words
    : [subject, ...rest, "--help"]
}

export const help = Command.make(
  "help",
  {
    topic: Argument.Literals("topic", ["exit-codes", "environment"]).pipe(
      Argument.withDescription("exit-codes or environment"),
      Argument.optional
    )
  },
  Effect.fnUntraced(function* ({ topic }) {
    const screen = yield* Screen
    const bold = (text: string) => screen.paint("bold", text)
    const lines = Option.isSome(topic)
      ? topics[topic.value](screen.width, bold)
      : [
          "rungate --help             all commands",
          "rungate help <command>     what it takes, as rungate <command> --help",
          ...Object.keys(topics).map((name) => `rungate help ${name}`)
        ]
    yield* screen.out(lines.map((line) => `${line}\n`).join(""))
  })
).pipe(Command.withDescription("Explain a command, exit codes, or the environment"))
