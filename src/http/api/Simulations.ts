/** The contract of simulations: what past runs would have cost and delivered under another routing policy. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { optional, reads } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { Usd } from "../../schema/money/Money.ts"
import { Moment } from "../../schema/Period.ts"
import { strategies } from "../../schema/runs/Routing.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"
import { Simulation } from "../../schema/nouns/Simulation.ts"

const Slug = Schema.NonEmptyString.check(Schema.isMaxLength(200))
/** More providers than any capability has. */
const withoutMax = 50
/** The longest time of one simulation. */
export const simulationDaysMax = 92

export const SimulationRequest = component("SimulationRequest", {
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
}).pipe(withExample({ from: "2026-11-01", routing: { strategy: "cheapest" }, without: ["hunter"], max_cost: "0.02" }))

export class SimulationsApi extends HttpApiGroup.make("simulations").add(
  reads(
    "Simulate a routing policy",
    `Replays the organization's own past runs with another strategy, cap or set of providers, and returns cost, hit rate and 95th percentile of the latency beside what happened. Where the past does not know what a provider would have answered, lower and upper bound every possible answer, and expected is by measured outcomes. limits says what the rules of today would have blocked or made wait. Up to 100,000 runs of at most ${simulationDaysMax} days. Free: makes no run and calls nobody.`,
    "simulate"
  ).post("simulate", "/simulate", {
    payload: SimulationRequest,
    success: Simulation,
    error: [Wire.capability_not_found, Wire.service_unavailable]
  })
) {}
