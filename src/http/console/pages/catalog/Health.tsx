/** How well calls went: a word, the share of successes, and the median time, with the number of measured calls. */
import { percent } from "../../../client/Words.ts"
import { duration } from "../../data/time.ts"
import { wordOf } from "../../lists/nouns.tsx"
import { Badge } from "../../parts/Values.tsx"

export interface HealthFacts {
  readonly status: string
  readonly success_rate: number | null
  readonly latency_ms_p50: number | null
  readonly latency_ms_p95: number | null
  readonly sample_size: number
  readonly source: string
}

const tones: Readonly<Record<string, "green" | "amber" | "red">> = {
  healthy: "green",
  stable: "green",
  degraded: "amber",
  outage: "red"
}

export const HealthBadge = ({ health }: { readonly health: Pick<HealthFacts, "status"> }) => (
  <Badge tone={tones[health.status] ?? "grey"}>{wordOf("InspectedOffer", "health.status", health.status)}</Badge>
)

/** In a sentence, for pages of one capability or endpoint. */
export const healthSentence = ({ success_rate, latency_ms_p50, latency_ms_p95, sample_size, source }: HealthFacts) => {
  if (sample_size === 0 && success_rate === null) return "No calls were measured yet."
  const parts = [
    success_rate === null ? "" : `${percent(success_rate)} of calls succeeded`,
    latency_ms_p50 === null ? "" : `half of them within ${duration(latency_ms_p50)}`,
    latency_ms_p95 === null ? "" : `95 % within ${duration(latency_ms_p95)}`
  ].filter((one) => one !== "")
  const from = source === "provider_reported" ? "reported by the provider" : `${sample_size} measured calls of 30 days`
  return `${parts.join(", ")} (${from}).`
}
