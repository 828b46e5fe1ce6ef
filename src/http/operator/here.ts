/**
 * What rows of commands need (cli/answers/row.ts), for operations that are answered in this process (InProcess.ts), which is loaded on demand.
 *
 * Tables stay tables in files and pipes, because operators read them there: as wide as their cells, with exact times.
 */
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Credentials } from "../cli/state/Credentials.ts"
import { fail } from "../cli/terminal/exits.ts"
import { Screen } from "../cli/terminal/Screen.ts"
import type { OperatorGroup } from "./InProcess.ts"

/** Who may start a command on the machine needs no key. */
const Nobody = Layer.succeed(Credentials)({
  ...{ url: "", profile: "", key: null, source: null, missing: "" },
  session: fail("auth", "The operator's commands need no session.")
})

const Paper = Layer.effect(
  Screen,
  Effect.map(Screen, (screen) => ({
    ...screen,
    person: true,
    width: Number.POSITIVE_INFINITY,
    paint: (_: unknown, text: string) => text
  }))
)

/** Gives rows of operations of one group what they need. */
export const here = <const Name extends string, Input, ContextInput, E, R>(
  group: OperatorGroup,
  command: Command.Command<Name, Input, ContextInput, E, R>
) =>
  Command.provide(
    command,
    Layer.mergeAll(
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("./InProcess.ts")),
          ({ clientOf }) => clientOf(group)
        )
      ),
      Nobody,
      Paper
    )
  )
