/** `rungate run <capability> -i '{…}'` runs a capability and waits for its result. `rungate call <provider> <endpoint>` calls a raw endpoint. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type * as Money from "../../../schema/money/Money.ts"
import { firstRun } from "../../../schema/Steps.ts"
import { present } from "../answers/row.ts"
import { argument, boolean, withExamples } from "../terminal/flags.ts"
import { acceptFlags, endpointFlags, endpointTexts, guardFlags, reuseFlags, routingFlags, runBody } from "./bodies.ts"
import { confirmAndRun, runFlags } from "./confirmAndRun.ts"
import { inputFlags, runInput, wordsArgument } from "./input.ts"

export const run = Command.make(
  "run",
  {
    capability: argument("capability", "slug such as email.find; discover finds them"),
    words: wordsArgument,
    ...inputFlags,
    ...routingFlags,
    ...guardFlags,
    ...acceptFlags,
    ...reuseFlags,
    include_raw: boolean("include-raw", "add the provider's raw response to the result"),
    ...runFlags
  },
  Effect.fnUntraced(function* (given) {
    const input = yield* runInput(given)
    const bodyWith = (max_cost: Money.MicroUsd | null) =>
      runBody({ capability: given.capability }, { input }, given, { ...given, max_cost })
    yield* confirmAndRun({ title: given.capability, bodyWith, capNeeded: false }, given)
  })
).pipe(
  Command.withDescription("Run a capability and print its result"),
  withExamples({
    [firstRun]: "Find a work email",
    "rungate run people.enrich -f person.json --max-cost 0.10": "Input from a file, with a cap",
    "rungate run people.enrich -f person.json --reuse 30d": "At $0 if it was bought within 30 days",
    "jq .person lead.json | rungate run people.enrich - | jq .result": "In a pipe"
  })
)

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
  withExamples({
    [`rungate call sec_edgar '/submissions/CIK{cik}.json' --path '{"cik":"0000320193"}' -i '{}' --max-cost 0.01`]:
      "Fill a path and set a cap"
  })
)
