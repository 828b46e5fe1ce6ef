/**
 * What the operator's commands need (cli/answers/row.ts): operations are answered in this process (InProcess.ts), which is loaded with the
 * first request, so that other commands start fast.
 *
 * Tables stay tables in files and pipes, because operators read them there: as wide as their cells, with exact times.
 */
import { Effect, Layer, type Scope, Stream } from "effect"
import type { Settings } from "../../layers/platform/Settings.ts"
import { Client } from "../cli/answers/Client.ts"
import { Credentials } from "../cli/state/Credentials.ts"
import { fail } from "../cli/terminal/exits.ts"
import { Screen } from "../cli/terminal/Screen.ts"

const InProcess = Layer.effect(
  Client,
  Effect.gen(function* () {
    const context = yield* Effect.context<Settings | Scope.Scope>()
    const send = yield* Effect.promise(() => import("./InProcess.ts")).pipe(
      Effect.flatMap(({ makeSend }) => makeSend),
      Effect.provide(context),
      Effect.cached
    )
    return Client.of({
      url: "",
      events: () => Stream.empty,
      send: (...request) => Effect.flatMap(send, (send) => send(...request))
    })
  })
)

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

export const OperatorLayer = Layer.mergeAll(InProcess, Nobody, Paper)
