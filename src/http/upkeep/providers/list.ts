/**
 * Handler of `rungate providers`: which accounts are configured, when each was checked, and what the missing ones would add.
 *
 * It reads the settings of this shell and the database. Start the service with the same settings.
 */
import { Console, Effect } from "effect"
import { type OperatorProvider, OperatorProviders } from "../../../schema/nouns/operator/Provider.ts"
import { OperatorProvidersApi } from "../../api/operator/Providers.ts"
import { ask } from "../../cli/answers/operation.ts"
import { harmless } from "../../cli/terminal/text.ts"
import { print, table } from "../../operator/output.ts"
import { capabilityCount, missingLines } from "../../../layers/catalog/ProviderReadiness.ts"
import { fitsToClear } from "../../../layers/executor/CostDrifts.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { unknownSettings } from "../../../layers/platform/unknownSettings.ts"
import { parties } from "../config.ts"

type Provider = typeof OperatorProvider.Encoded
type Answer = typeof OperatorProviders.Encoded

/** `2 of 6 passed, 2026-11-22`, or `never`. */
const checkedText = ({ checked_at, serves, unchecked }: Provider): string =>
  checked_at === null
    ? "never"
    : `${serves.length - unchecked.length} of ${serves.length} passed, ${checked_at.slice(0, 10)}`

const lines = (providers: ReadonlyArray<Provider>): ReadonlyArray<string> => {
  const configured = providers.filter((one) => one.configured)
  const missing = providers.filter((one) => !one.configured).toSorted((a, b) => b.adds.length - a.adds.length)
  return [
    ...(configured.length === 0
      ? ["No provider is configured."]
      : table(configured, {
          configured: (one) => one.provider,
          checked: checkedText,
          health: (one) => one.health.status,
          "calls of 30 days": (one) => one.health.sample_size,
          serves: (one) => one.serves.join(", ")
        })),
    "",
    ...table(missing, {
      "not configured": (one) => one.provider,
      set: (one) => one.variable,
      "its account would add": ({ adds, serves }) =>
        adds.length > 0 ? adds.join(", ") : serves.length > 0 ? "more providers to fall back to" : "raw endpoints only"
    })
  ]
}

const driftLine = ({ provider, capability, expected, measured, run_id }: Answer["cost_drifts"][number]): string =>
  `${provider} ${capability} costs more than its rate: ${measured} USD instead of ${expected} (${run_id}). It is priced by that cost until ${fitsToClear} calls in a row fit.`

export const listProviders = (json: boolean) =>
  Effect.gen(function* () {
    // What a service leaves alone is known in its own processes only.
    const { paused: _paused, ...answer } = yield* ask(OperatorProvidersApi.endpoints.list, {}, OperatorProviders)
    const { capabilities, providers, cost_drifts } = answer
    const { mode, names } = yield* Settings
    const warnings = unknownSettings(names, parties).filter((line) => line.startsWith("RUNGATE_PROVIDER_"))
    if (json) return yield* print({ ...answer, can_run: capabilities.filter((one) => one.can_run).length, warnings })
    yield* Console.log([...lines(providers), "", `${capabilityCount(answer)}.`, ...missingLines(answer)].join("\n"))
    if (mode === "sandbox")
      yield* Console.error(
        "This is the sandbox, which simulates all of them. Accounts take effect with RUNGATE_MODE=production."
      )
    for (const drift of cost_drifts) yield* Console.error(driftLine(drift))
    for (const line of warnings) yield* Console.error(harmless(line))
    if (providers.some((one) => one.configured && one.unchecked.length > 0))
      yield* Console.error("Before customers use a provider, accept it: rungate providers check <slug>")
  })
