/**
 * What was known when a run's route was chosen, as its plan stores it. A receipt shows it later, and a simulation ranks the offers again. Pure.
 *
 * It is written with every run, so it is compact: what the rest of the plan says is not repeated, and unmeasured offers are left out.
 */
import * as Money from "../money/Money.ts"
import type { Seen } from "./Plan.ts"
import type { Candidate, Metrics, Route, RoutingRequest } from "./Routing.ts"

export const strategyDefault = "best_value"

const rounded = (rate: number | null) => (rate === null ? null : Math.round(rate * 10_000) / 10_000)

const healthOf = (considered: ReadonlyArray<Candidate>): Seen["health"] => {
  const health: Record<string, readonly [number | null, number | null, number]> = {}
  let measured = false
  for (const { provider, metrics } of considered) {
    if (metrics === null || metrics.sample_size === 0) continue
    measured = true
    health[provider] = [rounded(metrics.success_rate), metrics.latency_ms_p50, metrics.sample_size]
  }
  return measured ? health : undefined
}

export const seenOf = (
  catalog: string,
  { strategy, max_cost }: RoutingRequest,
  considered: ReadonlyArray<Candidate>,
  chosen: Route
): Seen => {
  const health = healthOf(considered)
  const metered = chosen.candidates.some(
    ({ offer, own }) => (own?.failover ?? { offer }).offer.price.kind === "metered"
  )
  return {
    catalog,
    ...(strategy === strategyDefault ? {} : { strategy }),
    ...(max_cost === null ? {} : { max_cost: Money.usd(max_cost) }),
    ...(metered ? { quotes: chosen.candidates.map(({ quote, failover }) => Money.usd(failover ?? quote)) } : {}),
    ...(health === undefined ? {} : { health }),
    ...(chosen.spare.length === 0
      ? {}
      : { spare: chosen.spare.map(({ provider, quote }) => [provider, Money.usd(quote)] as const) })
  }
}

/** The measurements as routing reads them. */
export const metricsOf = (seen: Seen, provider: string): Metrics | null => {
  const measurement = seen.health?.[provider]
  if (measurement === undefined) return null
  const [success_rate, latency_ms_p50, sample_size] = measurement
  return { success_rate, latency_ms_p50, sample_size }
}
