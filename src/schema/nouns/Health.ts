/** How well an offer or a raw endpoint works, by the calls of the last days. */
import * as rules from "../runs/Health.ts"
import { withExample } from "./Noun.ts"

export const healthExample = {
  status: "healthy",
  success_rate: 0.9875,
  latency_ms_p50: 840,
  latency_ms_p95: 2_100,
  sample_size: 240,
  source: "measured"
} as const

export const Health = rules.Health.annotate({ identifier: "Health" }).pipe(withExample(healthExample))
