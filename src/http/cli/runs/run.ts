/** `rungate run <capability> -i '{…}'`: runs a capability and waits for its result. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { bodyOf } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { strategies } from "../../../schema/runs/Routing.ts"
import { inputFlags, runInput, stdinArgument } from "./input.ts"
import { confirmAndRun, metadataMember, runFlags } from "./confirmAndRun.ts"
import { boolean } from "../terminal/flags.ts"

export const run = Command.make(
  "run",
  {
    capability: Argument.String("capability").pipe(
      Argument.withDescription("slug such as email.find; discover finds them")
    ),
    stdin: stdinArgument,
    ...inputFlags,
    provider: Flag.String("provider").pipe(
      Flag.withDescription("use only this provider, without fallback"),
      Flag.withDefault("auto")
    ),
    strategy: Flag.Literals("strategy", strategies).pipe(
      Flag.withDescription("how to rank providers; default: best_value"),
      Flag.optional
    ),
    no_fallback: boolean("no-fallback", "try one provider only"),
    include_raw: boolean("include-raw", "add the provider's raw response to the result"),
    ...runFlags
  },
  Effect.fnUntraced(function* ({ capability, provider, strategy, no_fallback, include_raw, ...given }) {
    const input = yield* runInput(given)
    const bodyWith = (max_cost: Money.MicroUsd | null) =>
      bodyOf(
        {
          capability,
          routing: {
            provider,
            ...(Option.isSome(strategy) ? { strategy: strategy.value } : {}),
            ...(max_cost === null ? {} : { max_cost: Money.usd(max_cost) }),
            ...(no_fallback ? { allow_fallback: false } : {})
          },
          ...(include_raw ? { response: { include_raw: true } } : {}),
          ...metadataMember(given.metadata)
        },
        { input }
      )
    yield* confirmAndRun(
      {
        title: capability,
        bodyWith,
        capNeeded: false,
        quote: ({ capabilityQuote }) =>
          capabilityQuote(capability, input, {
            provider,
            strategy: Option.getOrElse(strategy, () => "best_value"),
            max_cost: given.max_cost,
            allow_fallback: !no_fallback
          })
      },
      given
    )
  })
).pipe(
  Command.withDescription("Run a capability and print its result"),
  Command.withExamples([
    {
      command: `rungate run email.find -i '{"full_name":"Ada Lovelace","company_domain":"example.com"}'`,
      description: "Find a work email"
    },
    {
      command: "rungate run people.enrich -f person.json --max-cost 0.10",
      description: "Input from a file, with a cap"
    },
    { command: "jq .person lead.json | rungate run people.enrich - | jq .result", description: "In a pipe" }
  ])
)
