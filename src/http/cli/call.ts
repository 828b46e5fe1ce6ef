/** `rungate call <provider> <endpoint> -i '{…}'`: calls a provider's own endpoint. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Client } from "../client/Client.ts"
import * as Flags from "./flags.ts"
import { show } from "./output.ts"

export const call = Command.make(
  "call",
  {
    provider: Argument.String("provider"),
    endpoint: Argument.String("endpoint").pipe(Argument.withDescription("the provider's own path")),
    method: Flags.method,
    path: Flags.object("path", "values of the path's {placeholders}, as a JSON object"),
    query: Flags.object("query", "query parameters, as a JSON object"),
    input: Flags.input,
    max_cost: Flags.maxCost,
    wait: Flags.wait
  },
  Effect.fnUntraced(function* ({ provider, endpoint, method, path, query, input, max_cost, wait }) {
    const { post } = yield* Client
    const body = {
      provider,
      endpoint,
      method: Option.getOrNull(method),
      path: Option.getOrNull(path),
      query: Option.getOrNull(query),
      input,
      routing: { max_cost: Option.getOrNull(max_cost) },
      wait_seconds: wait
    }
    yield* Effect.flatMap(post("/v1/run", body), show)
  })
).pipe(Command.withDescription("Call a provider's raw endpoint and print its answer"))
