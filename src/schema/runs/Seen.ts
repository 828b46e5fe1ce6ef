/**
 * What was known when a run's route was chosen, as its plan stores it. A receipt shows it later, and a simulation ranks the offers again. Pure.
 *
 * It is written with every run, so it is compact: what the rest of the plan says is not repeated, and unmeasured offers are left out.
 */
import { Schema } from "effect"
import * as Money from "../money/Money.ts"
import type { Candidate, Metrics, Route, RoutingRequest } from "./Routing.ts"

/** Success rate, median latency in milliseconds, and the number of measured calls. */
const SeenHealth = Schema.Tuple([Schema.NullOr(Schema.Finite), Schema.NullOr(Schema.Finite), Schema.Finite])

/** By provider. */
export const Health = Schema.Record(Schema.String, SeenHealth)
export type Health = typeof Health.Type

export const Seen = Schema.Struct({
  /** The version of the catalog's entry: see layers/catalog/CatalogVersion.ts. */
  catalog: Schema.String,
  /** Absent for `best_value`, which is the default, and for raw runs. */
  strategy: Schema.optionalKey(Schema.String),
  /** The cap under which the run was planned: the request's, or the key's if that is lower. A decimal string. */
  max_cost: Schema.optionalKey(Schema.String),
  /** Present if that is the cap of the API key. */
  key_cap: Schema.optionalKey(Schema.Literal(true)),
  /** The maximum prices of the plan's `providers`, if the plan's `prices` depend on the input. */
  quotes: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Offers without measurements are left out. */
  health: Schema.optionalKey(Health),
  /** Offers that could serve the run beyond its number of attempts, with their maximum prices. */
  spare: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.String, Schema.String])))
})
export type Seen = typeof Seen.Type

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
