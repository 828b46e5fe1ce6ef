/** The contract of simulations: what past runs would have cost and delivered under another routing policy. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { operation } from "./shapes/Rights.ts"
import { Wire } from "../../schema/Errors.ts"
import { Usd } from "../../schema/money/Money.ts"
import { Moment } from "../../schema/Period.ts"
import { strategies } from "../../schema/runs/Routing.ts"
import { Auth, optional } from "./shapes/Common.ts"
import { withExample } from "../../schema/nouns/Noun.ts"

const Slug = Schema.NonEmptyString.check(Schema.isMaxLength(200))
/** More providers than any capability has. */
const withoutMax = 50
/** The longest time of one simulation. */
export const simulationDaysMax = 92

export const SimulationRequest = Schema.Struct({
  from: Moment.annotate({ description: "runs from this date or time on, UTC" }),
  to: optional(Moment.annotate({ description: "runs before this time; a date includes its day; the default is now" })),
  capability: optional(Slug.annotate({ description: "only runs of this capability" })),
  routing: optional(
    Schema.Struct({
      strategy: optional(Schema.Literals(strategies)),
      allow_fallback: optional(Schema.Boolean)
    }).annotate({
      description: "what differs from the routing of each run"
    })
  ),
  without: optional(
    Schema.Array(Slug).check(Schema.isMaxLength(withoutMax)).annotate({ description: "providers that are not called" })
  ),
  max_cost: optional(Usd)
})
  .annotate({ identifier: "SimulationRequest" })
  .pipe(withExample({ from: "2026-11-01", routing: { strategy: "cheapest" }, without: ["hunter"], max_cost: "0.02" }))

const rate = Schema.NullOr(Schema.Number)

const Amounts = Schema.Struct({ lower: Schema.String, expected: Schema.String, upper: Schema.String }).annotate({
  identifier: "SimulatedAmount"
})
const Rates = Schema.Struct({ lower: rate, expected: rate, upper: rate }).annotate({ identifier: "SimulatedRate" })

export const Simulation = Schema.Struct({
  currency: Schema.Literal("USD"),
  runs: Schema.Int.annotate({ description: "finished runs of capabilities in this time" }),
  actual: Schema.Struct({
    cost: Schema.String,
    hit_rate: rate,
    latency_ms_p95: rate
  }).annotate({ identifier: "ActualFigures" }),
  simulated: Schema.Struct({
    cost: Amounts,
    hit_rate: Rates,
    latency_ms_p95: Rates.annotate({ description: "upper is null if nobody knows how long enough of the calls take" })
  }).annotate({ identifier: "SimulatedFigures" }),
  unchanged_runs: Schema.Int.annotate({ description: "runs that would have gone as they went" }),
  unknown_runs: Schema.Int.annotate({
    description:
      "runs that would have called a provider which the past run did not call; bounds count every way in which it might have answered"
  }),
  unknown_share: rate,
  refused_runs: Schema.Int.annotate({ description: "runs that no provider would have served" }),
  left_out: Schema.Struct({ raw: Schema.Int, erased: Schema.Int, older: Schema.Int }).annotate({
    description:
      "runs that are not simulated: of raw endpoints, erased ones, and those of a release that did not store what routing saw"
  })
})
  .annotate({ identifier: "Simulation" })
  .pipe(
    withExample({
      currency: "USD",
      runs: 4210,
      actual: { cost: "61.3848", hit_rate: 0.8413, latency_ms_p95: 2310 },
      simulated: {
        cost: { lower: "38.52", expected: "44.1907", upper: "52.8804" },
        hit_rate: { lower: 0.6917, expected: 0.8102, upper: 0.9033 },
        latency_ms_p95: { lower: 1980, expected: 2204, upper: null }
      },
      unchanged_runs: 1904,
      unknown_runs: 912,
      unknown_share: 0.2166,
      refused_runs: 0,
      left_out: { raw: 120, erased: 3, older: 0 }
    })
  )
export type Simulation = typeof Simulation.Type

export class SimulationsApi extends HttpApiGroup.make("simulations")
  .add(
    HttpApiEndpoint.post("simulate", "/simulate", {
      payload: SimulationRequest,
      success: Simulation,
      error: [Wire.invalid_request, Wire.capability_not_found, Wire.forbidden, Wire.service_unavailable]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", command: "simulate" },
        "Simulate a routing policy",
        `Replays the organization's own past runs with another strategy, cap or set of providers, and returns cost, hit rate and 95th percentile of the latency beside what happened. Where the past does not know what a provider would have answered, lower and upper bound every possible answer, and expected is by measured outcomes. Up to 100,000 runs of at most ${simulationDaysMax} days. Free: makes no run and calls nobody.`
      )
    )
  )
  .middleware(Auth) {}
