/** How well an offer or a raw endpoint works, by the calls of the last days. */
import { Schema } from "effect"
import { healthStatuses } from "../runs/Health.ts"
import { withExample } from "./Noun.ts"

export const Metrics = Schema.Struct({
  success_rate: Schema.NullOr(Schema.Number),
  latency_ms_p50: Schema.NullOr(Schema.Int),
  latency_ms_p95: Schema.NullOr(Schema.Int),
  sample_size: Schema.Int
})

export const healthExample = {
  status: "healthy",
  success_rate: 0.9875,
  latency_ms_p50: 840,
  latency_ms_p95: 2_100,
  sample_size: 240,
  source: "measured"
} as const

export const Health = Schema.Struct({
  status: Schema.Literals(healthStatuses),
  ...Metrics.fields,
  source: Schema.Literals(["measured", "provider_reported"])
})
  .annotate({ identifier: "Health" })
  .pipe(withExample(healthExample))
