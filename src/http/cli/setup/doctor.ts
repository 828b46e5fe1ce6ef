/** `rungate doctor`: checks everything that a run needs. Exit code 0 when all checks pass or warn, 1 when one fails. */
import { Effect, type Layer } from "effect"
import { Command } from "effect/cli"
import type { Client } from "../answers/Client.ts"
import { check, checks, type Verdict } from "./checks.ts"
import type { Credentials } from "../state/Credentials.ts"
import { CommandFailed, exits } from "../terminal/exits.ts"
import { hosts } from "./hosts.ts"
import { Screen, type Style } from "../terminal/Screen.ts"
import { formatOf, json } from "../answers/show.ts"
import { harmless, wrap } from "../terminal/text.ts"

const marks: Readonly<Record<Verdict, readonly [string, Style]>> = {
  pass: ["pass", "green"],
  warn: ["WARN", "yellow"],
  fail: ["FAIL", "red"]
}

/** Builds the client itself, because invalid settings are a failed check and not a crash. */
export const doctor = <E, R>(surroundings: Layer.Layer<Client | Credentials, E, R>) =>
  Command.make(
    "doctor",
    { json },
    Effect.fnUntraced(function* (flags) {
      const screen = yield* Screen
      const looked = yield* checks.pipe(
        Effect.provide(surroundings),
        Effect.catch((error) =>
          error instanceof CommandFailed
            ? Effect.succeed([check("settings", "fail", error.message)])
            : Effect.die(error)
        )
      )
      const results = [...looked, yield* hosts]
      const failed = results.some(({ verdict }) => verdict === "fail")
      if (formatOf(screen, flags) === "json") {
        yield* screen.out(`${JSON.stringify({ ok: !failed, checks: results })}\n`)
      } else {
        const width = Math.max(...results.map(({ name }) => name.length))
        // The mark has four columns, and two gaps of two.
        const indent = 4 + 2 + width + 2
        const rows = results.map(({ name, verdict, detail }) => {
          const [mark, style] = marks[verdict]
          const [first = "", ...rest] = wrap(harmless(detail), screen.width - indent, "whole")
          const head = `${screen.paint(style, mark)}  ${name.padEnd(width)}  ${first}\n`
          return head + rest.map((line) => `${" ".repeat(indent)}${line}\n`).join("")
        })
        yield* screen.out(rows.join(""))
      }
      // The failed checks are printed above.
      if (failed) return yield* new CommandFailed({ message: "", exit_code: exits.failed })
    })
  ).pipe(Command.withDescription("Check the settings, the service, the key, the balance and agent hosts"))
