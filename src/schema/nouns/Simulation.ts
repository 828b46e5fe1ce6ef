/** What past runs would have cost and delivered under another routing policy, beside what happened. */
import { Schema } from "effect"
import { component, amount, timeText, withExample } from "./Noun.ts"

const rate = Schema.NullOr(Schema.Number)

const Amounts = component("SimulatedAmount", { lower: amount, expected: amount, upper: amount })
const Rates = component("SimulatedRate", { lower: rate, expected: rate, upper: rate })

export const Replay = Schema.Struct({
  from: timeText.annotate({ description: "runs since then were replayed" }),
  runs: Schema.Int,
  blocked_runs: Schema.Int,
  waiting_runs: Schema.Int.annotate({ description: "runs that would have waited for the yes of a member" }),
  rules: Schema.Array(
    Schema.Struct({ rule: Schema.String, blocked_runs: Schema.Int, waiting_runs: Schema.Int })
  ).annotate({
    description: "opt_outs: by the lists as they are now"
  }),
  not_replayed: Schema.Array(Schema.String).annotate({ description: "rules of which past runs tell nothing" }),
  cut: Schema.Boolean.annotate({ description: "whether older runs were left out, because they are too many" })
}).annotate({
  identifier: "Replay",
  description:
    "what limits, budgets, approval rules and opt-outs would have done with past runs, by the holds and charges that they had: those of today in a simulation, where it is absent without rules and for an API key with a scope, and those that a configuration changes in its preview"
})

export const Simulation = component("Simulation", {
  currency: Schema.Literal("USD"),
  runs: Schema.Int.annotate({ description: "finished runs of capabilities in this time" }),
  actual: component("ActualFigures", {
    cost: amount,
    hit_rate: rate,
    latency_ms_p95: rate
  }),
  simulated: component("SimulatedFigures", {
    cost: Amounts,
    hit_rate: Rates,
    latency_ms_p95: Rates.annotate({ description: "upper is null if nobody knows how long enough of the calls take" })
  }),
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
  }),
  limits: Schema.optionalKey(Replay)
}).pipe(
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
    left_out: { raw: 120, erased: 3, older: 0 },
    limits: {
      from: "2026-11-01T00:00:00.000Z",
      runs: 4330,
      blocked_runs: 2,
      waiting_runs: 31,
      rules: [
        { rule: "approval_rules.Large runs", blocked_runs: 0, waiting_runs: 31 },
        { rule: "opt_outs", blocked_runs: 2, waiting_runs: 0 }
      ],
      not_replayed: [],
      cut: false
    }
  })
)
