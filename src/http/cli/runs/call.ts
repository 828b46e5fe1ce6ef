/** `rungate call <provider> <endpoint> -i '{…}'`: calls a provider's raw endpoint. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type * as Money from "../../../schema/money/Money.ts"
import { endpointFlags, endpointTexts, reuseFlags, runBody } from "./bodies.ts"
import { inputFlags, runInput, wordsArgument } from "./input.ts"
import { confirmAndRun, runFlags } from "./confirmAndRun.ts"
import { present } from "../answers/row.ts"
import { argument } from "../terminal/flags.ts"

export const call = Command.make(
  "call",
  {
    provider: Argument.String("provider"),
    endpoint: argument("endpoint", "the provider's path, as discover shows it"),
    words: wordsArgument,
    ...inputFlags,
    ...endpointFlags,
    ...reuseFlags,
    ...runFlags
  },
  Effect.fnUntraced(function* (given) {
    const { provider, endpoint, method } = given
    const texts = yield* endpointTexts(yield* runInput(given), given)
    const bodyWith = (max_cost: Money.MicroUsd | null) =>
      runBody({ provider, endpoint, ...present({ method }) }, texts, null, { ...given, max_cost })
    yield* confirmAndRun({ title: `${provider} ${endpoint}`, bodyWith, capNeeded: true }, given)
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
