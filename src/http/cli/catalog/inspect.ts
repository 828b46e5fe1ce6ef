/** `rungate inspect <capability>` and `rungate inspect <provider> <endpoint>`: show input, price and health. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { methods } from "../../../schema/catalog/Endpoint.ts"
import { Client } from "../answers/Client.ts"
import { Screen } from "../terminal/Screen.ts"
import { json, show } from "../answers/show.ts"

export const inspect = Command.make(
  "inspect",
  {
    target: Argument.String("target").pipe(Argument.withDescription("a capability or a provider")),
    endpoint: Argument.String("endpoint").pipe(
      Argument.withDescription("the provider's path, as discover shows it"),
      Argument.optional
    ),
    method: Flag.Literals("method", methods).pipe(
      Flag.withDescription("HTTP method, when the path has several"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ target, endpoint, method, ...flags }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const body = Option.isNone(endpoint)
      ? { capability: target, method: Option.getOrNull(method) }
      : { provider: target, endpoint: endpoint.value, method: Option.getOrNull(method) }
    const answer = yield* send("POST", "/v1/inspect", { body })
    yield* show(answer, flags, (text) =>
      Effect.map(
        Effect.promise(() => import("./CatalogView.ts")),
        ({ inspectLines }) => inspectLines(text, screen)
      )
    )
  })
).pipe(Command.withDescription("Show input, price and health of a capability or a raw endpoint"))
