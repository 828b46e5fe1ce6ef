/** Simulations: a handler checks the question and the key's scope, asks the actor and shows the figures. Nothing is written. */
import { Clock, Effect, Schema } from "effect"
import { runsMax, Simulations } from "../../../actors/simulation/Simulations.ts"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import type { KeyAccess } from "../../../schema/accounts/KeyAccess.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { Simulation } from "../../../schema/nouns/Simulation.ts"
import { dayMillis } from "../../../schema/money/SpendDay.ts"
import { fromOf, toOf } from "../../../schema/Period.ts"
import type { Figures, Simulated } from "../../../schema/simulation/Simulation.ts"
import { discover } from "../../../schema/Steps.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { group } from "../group.ts"
import { simulationDaysMax } from "../../api/Simulations.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeRulesNow } from "./Parts.ts"

/** A key with a scope learns about runs that it could start itself, and no others. */
const checkScope = (access: KeyAccess | null, capability: string | null) => {
  const allowed = access?.allow?.capabilities
  if (allowed === undefined || (capability !== null && allowed.includes(capability))) return Effect.void
  const list = allowed.length === 0 ? "none" : allowed.join(", ")
  return refusedWith(
    "forbidden",
    capability === null
      ? `This API key can run only some capabilities, so it can simulate only these. Name one of them as capability: ${list} (allow.capabilities).`
      : `This API key can't run ${capability}, so it can't simulate it. It can run: ${list} (allow.capabilities).`
  )
}

const periodOf = Effect.fnUntraced(function* (from: string, to: string | null) {
  const begins = fromOf(from)
  const ends = to === null ? new Date(yield* Clock.currentTimeMillis) : toOf(to)
  if (ends <= begins) return yield* refused("to", "must be after from")
  if (ends.getTime() - begins.getTime() > simulationDaysMax * dayMillis)
    return yield* refused("from", `must be at most ${simulationDaysMax} days before to`)
  return { from: begins, to: ends }
})

/** Four decimals. */
const rateOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000

const simulationJson = Schema.encodeSync(Simulation)
const simulated = ({ runs, lower, expected, upper }: Simulated) => {
  const range = <A>(of: (one: Figures) => A) => ({ lower: of(lower), expected: of(expected), upper: of(upper) })
  return {
    cost: range(({ cost }) => cost),
    hit_rate: range(({ hits }) => rateOf(hits, runs)),
    latency_ms_p95: range(({ latency_ms_p95 }) => latency_ms_p95)
  }
}

export const SimulationsHandlers = group(
  "simulations",
  Effect.fnUntraced(function* (handlers) {
    const simulations = yield* Simulations
    const catalog = yield* Catalog
    const rulesNow = yield* makeRulesNow
    const slugs = catalog.providers.map(({ slug }) => slug)
    const names = catalog.entries.map((one) => one.capability.slug)

    const checkNames = Effect.fnUntraced(function* (capability: string | null, without: ReadonlyArray<string>) {
      for (const [n, slug] of without.entries())
        if (!slugs.includes(slug))
          return yield* refused(
            `without.${n}`,
            `must be a provider's slug, and "${shownName(slug)}" is none.${didYouMean(slug, slugs)}`
          )
      if (capability !== null && !names.includes(capability))
        return yield* refusedWith(
          "capability_not_found",
          withCommands`There is no capability "${shownName(capability)}".${didYouMean(capability, names)} Search the catalog with ${discover}.`
        )
    })

    return handlers.handle(
      "simulate",
      Effect.fnUntraced(function* ({ payload }) {
        const { org_id, access } = yield* CurrentCaller
        const capability = payload.capability ?? null
        const without = payload.without ?? []
        yield* checkNames(capability, without)
        yield* checkScope(access, capability)
        const period = yield* periodOf(payload.from, payload.to ?? null)
        const policy = {
          strategy: payload.routing?.strategy ?? null,
          allow_fallback: payload.routing?.allow_fallback ?? null,
          max_cost: payload.max_cost ?? null,
          without: new Set(without)
        }
        // A key with a scope does not learn about other keys.
        const rules = (access?.allow ?? null) === null ? yield* rulesNow(org_id) : null
        const simulation = yield* simulations.simulate({ org_id, capability, ...period, policy, rules }).pipe(
          Effect.catchTags({
            SimulationBusy: ({ message }) => refusedWith("service_unavailable", message),
            TooManyRuns: ({ reached }) =>
              refused(
                "to",
                `leaves more than ${runsMax.toLocaleString("en")} runs, which is the limit. Choose a time before ${reached.toISOString()}, or one capability`
              )
          })
        )
        const { runs, actual, unchanged, unknown, refused: none, left_out, limits } = simulation
        return simulationJson({
          currency: "USD",
          runs,
          actual: {
            cost: actual.cost,
            hit_rate: rateOf(actual.hits, runs),
            latency_ms_p95: actual.latency_ms_p95
          },
          simulated: simulated(simulation),
          unchanged_runs: unchanged,
          unknown_runs: unknown,
          unknown_share: rateOf(unknown, runs),
          refused_runs: none,
          left_out,
          ...(limits === null ? {} : { limits })
        })
      })
    )
  })
)
