/** `rungate help`: help for commands, exit codes and environment variables. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { exitNames, exits, meanings } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { type Paper, tableLines } from "../answers/draw.ts"

const topics = {
  "exit-codes": (paper: Paper) =>
    tableLines(
      exitNames,
      [
        { title: "CODE", of: (name) => exits[name], right: true },
        { title: "MEANING", of: (name) => meanings[name], least: 20 }
      ],
      paper
    ),
  environment: (paper: Paper) =>
    tableLines(
      [
        ["RUNGATE_API_KEY", "API key; default: the key saved in the profile"],
        [
          "RUNGATE_URL",
          "address of the service; default: the profile's, then the service running on this machine, then http://127.0.0.1:8787"
        ],
        ["RUNGATE_MAX_COST", "default of --max-cost for run and call"],
        ["RUNGATE_PROFILE", "saved profile to use; --profile overrides it"],
        ["XDG_CONFIG_HOME", "folder of rungate/credentials.json and sessions.json; default: ~/.config"],
        ["XDG_STATE_HOME", "folder of rungate's journal of unfinished runs; default: ~/.local/state"],
        ["XDG_CACHE_HOME", "folder of cached names for shell completion; default: ~/.cache"],
        ["NO_COLOR, FORCE_COLOR", "disable colors, or force them"],
        ["CI", "disable prompts and progress lines"]
      ] as const,
      [
        { title: "VARIABLE", of: ([name]) => name },
        { title: "MEANING", of: ([, meaning]) => meaning, least: 20 }
      ],
      paper
    )
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
    const lines = Option.isSome(topic)
      ? topics[topic.value]({ screen })
      : [
          "rungate --help             all commands",
          "rungate help <command>     usage of a command, as rungate <command> --help",
          ...Object.keys(topics).map((name) => `rungate help ${name}`)
        ]
    yield* screen.out(lines.map((line) => `${line}\n`).join(""))
  })
).pipe(Command.withDescription("Show help for a command, exit codes or environment variables"))
