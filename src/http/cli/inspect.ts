/** `rungate inspect <capability>` and `rungate inspect <provider> <endpoint>`: contract, price and health. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Client } from "../client/Client.ts"
import * as Flags from "./flags.ts"
import { show } from "./output.ts"

export const inspect = Command.make(
  "inspect",
  {
    target: Argument.String("target").pipe(Argument.withDescription("a capability, or a provider")),
    endpoint: Argument.String("endpoint").pipe(Argument.withDescription("the provider's own path"), Argument.optional),
    method: Flags.method
  },
  Effect.fnUntraced(function* ({ target, endpoint, method }) {
    const { post } = yield* Client
    const body = Option.isNone(endpoint)
      ? { capability: target }
      : { provider: target, endpoint: endpoint.value, method: Option.getOrNull(method) }
    yield* Effect.flatMap(post("/v1/inspect", body), show)
  })
).pipe(Command.withDescription("Show contract, price and health of a capability or a raw endpoint"))
