/** `rungate call <provider> <endpoint> -i '{…}'`: calls a provider's raw endpoint. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { methods } from "../../../schema/catalog/Endpoint.ts"
import { bodyOf } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { inputFlags, jsonOf, runInput, stdinArgument } from "./input.ts"
import { confirmAndRun, metadataMember, runFlags } from "./confirmAndRun.ts"
import { text } from "../terminal/flags.ts"

export const call = Command.make(
  "call",
  {
    provider: Argument.String("provider"),
    endpoint: Argument.String("endpoint").pipe(Argument.withDescription("the provider's path, as discover shows it")),
    stdin: stdinArgument,
    ...inputFlags,
    method: Flag.Literals("method", methods).pipe(
      Flag.withDescription("HTTP method, when the path has several"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    path: text("path", "values of the path's {placeholders}, as a JSON object"),
    query: text("query", "query parameters, as a JSON object"),
    ...runFlags
  },
  Effect.fnUntraced(function* ({ provider, endpoint, method, path, query, ...given }) {
    const input = yield* runInput(given)
    const members = {
      input,
      ...(path === null ? {} : { path: yield* jsonOf(path, "--path") }),
      ...(query === null ? {} : { query: yield* jsonOf(query, "--query") })
    }
    const bodyWith = (max_cost: Money.MicroUsd | null) =>
      bodyOf(
        {
          provider,
          endpoint,
          ...(method === null ? {} : { method }),
          ...(max_cost === null ? {} : { routing: { max_cost: Money.usd(max_cost) } }),
          ...metadataMember(given.metadata)
        },
        members
      )
    yield* confirmAndRun(
      {
        title: `${provider} ${endpoint}`,
        bodyWith,
        capNeeded: true,
        quote: ({ endpointQuote }) =>
          endpointQuote(
            { provider, endpoint, method },
            { input, path: members.path ?? null, query: members.query ?? null },
            given.max_cost
          )
      },
      given
    )
  })
).pipe(
  Command.withDescription("Call a provider's raw endpoint and print its answer"),
  Command.withExamples([
    {
      command: `rungate call sec_edgar '/submissions/CIK{cik}.json' --path '{"cik":"0000320193"}' -i '{}' --max-cost 0.01`,
      description: "Fill a path and set a cap"
    }
  ])
)
