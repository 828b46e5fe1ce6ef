/**
 * The maximum and the actual price of a run: pure functions of an offer's price, the input and the outcome.
 *
 * `priceMax` of an input bounds every charge for it. So a hold taken before the call always covers the charge.
 */
import * as Decimal from "./Decimal.ts"
import * as Money from "./Money.ts"

/** How an offer is priced. Units: microdollars per call, per result, per call on one platform. */
export type Price =
  | { readonly kind: "flat"; readonly amount: Money.MicroUsd }
  | {
      readonly kind: "metered"
      readonly base: Money.MicroUsd
      readonly per_result: Money.MicroUsd
      readonly default_limit: number
    }
  | { readonly kind: "by_platform"; readonly amounts: Readonly<Record<string, Money.MicroUsd>> }

/** `per_call`: every answer is charged. `on_match`: only a match. `metered`: base plus per result. */
export type BillingModel = "per_call" | "on_match" | "metered"
export interface Billing {
  readonly model: BillingModel
  readonly bills_no_match: boolean
  readonly description: string
}

export const flat = (amount: string): Price => ({ kind: "flat", amount: Money.dollars(amount) })
export const metered = (base: string, per_result: string, default_limit: number): Price => ({
  kind: "metered",
  base: Money.dollars(base),
  per_result: Money.dollars(per_result),
  default_limit
})
export const byPlatform = (amounts: Readonly<Record<string, string>>): Price => ({
  kind: "by_platform",
  amounts: Object.fromEntries(Object.entries(amounts).map(([platform, amount]) => [platform, Money.dollars(amount)]))
})

/** The cheapest this price can be, for `starting_price`: a metered price is quoted with one result. */
export const priceMin = (price: Price): Money.MicroUsd => {
  switch (price.kind) {
    case "flat":
      return price.amount
    case "metered":
      return Money.plus(price.base, price.per_result)
    case "by_platform":
      return Object.values(price.amounts).reduce((a, b) => Money.min(a, b))
  }
}

/** How much an input asks for: all of it that a price can depend on. */
export interface Demand {
  /** Results asked for; null when the input does not say, and the offer's `default_limit` holds. */
  readonly results: number | null
  readonly platform: string | null
}

/** Nothing in particular: what an input without a limit and a platform asks for. */
export const anyDemand: Demand = { results: null, platform: null }

/** What the usual fields of an input say: `limit` and `platform`. A capability that counts otherwise says so itself. */
export const demandOf = (input: unknown): Demand => {
  if (typeof input !== "object" || input === null) return anyDemand
  const limit = "limit" in input ? input.limit : undefined
  const platform = "platform" in input ? input.platform : undefined
  return {
    results: typeof limit === "number" && Number.isInteger(limit) ? limit : null,
    platform: typeof platform === "string" ? platform : null
  }
}

/** Own names only: a platform called "toString" is a string of the caller's, not a price. */
const namedAmount = (
  amounts: Readonly<Record<string, Money.MicroUsd>>,
  platform: string
): Money.MicroUsd | undefined => (Object.hasOwn(amounts, platform) ? amounts[platform] : undefined)

/** The most that this can cost: the quote of the offer, and what its hold must cover. */
export const priceMax = (price: Price, demand: Demand): Money.MicroUsd => {
  switch (price.kind) {
    case "flat":
      return price.amount
    case "metered":
      return Money.plus(price.base, Money.times(price.per_result, demand.results ?? price.default_limit))
    case "by_platform":
      // A platform the offer does not name is not served by it; the dearest one keeps the bound true all the same.
      return (
        namedAmount(price.amounts, demand.platform ?? "") ??
        Object.values(price.amounts).reduce((a, b) => Money.max(a, b))
      )
  }
}

/**
 * What a delivered answer costs. `results` counts the items of a metered answer; it is clipped to the requested limit, so
 * a provider that returns more than was asked for can't raise the charge.
 */
export const charge = (
  price: Price,
  billing: Billing,
  demand: Demand,
  outcome: { matched: boolean; results: number; unbilled?: boolean }
): Money.MicroUsd => {
  if (outcome.unbilled === true || (!outcome.matched && !billing.bills_no_match)) return Money.zero
  if (price.kind !== "metered") return priceMax(price, demand)
  const results = Math.max(0, Math.min(outcome.results, demand.results ?? price.default_limit))
  return Money.plus(price.base, Money.times(price.per_result, results))
}

/** What a provider asks for one call of a raw endpoint, when it publishes rates. */
export interface RateCard {
  readonly estimate: Money.MicroUsd
}

/** Held for a raw call of a provider without published rates (specification 4.2). */
const unpricedHold = Money.dollars("1.00")
/** A rate card is an estimate: half as much again is held. */
const headroom = { numerator: 3n, denominator: 2n }
/** What the platform charges for a provider's measured cost. */
const platformRate = { numerator: 6n, denominator: 5n }

const scaled = (amount: Money.MicroUsd, rate: { numerator: bigint; denominator: bigint }): Money.MicroUsd =>
  Money.MicroUsd((amount * rate.numerator + rate.denominator - 1n) / rate.denominator)

/** The same rate as a decimal. */
const platformDecimal = Decimal.parse("1.2")

const priced = (factors: ReadonlyArray<string>) => Decimal.product([platformDecimal, ...factors.map(Decimal.parse)])

/** What the platform charges for the product of these decimals (a price and how many of it), exactly. */
export const exactAtPlatformRate = (...factors: ReadonlyArray<string>): string => Decimal.text(priced(factors))

/** The same, rounded up once, to a microdollar. */
export const atPlatformRate = (...factors: ReadonlyArray<string>): Money.MicroUsd => Decimal.micros(priced(factors))

const capped = (amount: Money.MicroUsd, max_cost: Money.MicroUsd | null): Money.MicroUsd =>
  max_cost === null ? amount : Money.min(amount, max_cost)

/** The hold of a raw run: the rate card with headroom, or $1.00 without one; a $0 card holds nothing; `max_cost` lowers it. */
export const rawHold = (rates: RateCard | null, max_cost: Money.MicroUsd | null): Money.MicroUsd =>
  capped(rates === null ? unpricedHold : scaled(rates.estimate, headroom), max_cost)

/**
 * The charge of a delivered raw run: the measured cost at the platform's rate, else the rate card's estimate, else the hold.
 * Never above the hold; a measured zero charges nothing.
 */
export const rawCharge = (
  rates: RateCard | null,
  measured: Money.MicroUsd | null,
  hold: Money.MicroUsd
): Money.MicroUsd => {
  const asked = measured === null ? (rates?.estimate ?? hold) : scaled(Money.max(Money.zero, measured), platformRate)
  return Money.min(asked, hold)
}

/** A report beyond it is a mistake of the provider's, and must not keep a run from settling. */
const costMax = Money.dollars("1000000.00")

/** What a run's providers cost when none of them says: the part of the charge that is not the platform's rate. */
export const estimatedCost = (charged: Money.MicroUsd): Money.MicroUsd =>
  scaled(charged, { numerator: platformRate.denominator, denominator: platformRate.numerator })

/**
 * What a run has cost the platform: what its attempts report, and an estimate for the delivering one if that reports nothing.
 * `delivering` is its report, null for none; `others` are those of the attempts that delivered nothing.
 */
export const providerCost = (
  charged: Money.MicroUsd,
  delivering: Money.MicroUsd | null,
  others: Iterable<Money.MicroUsd>
): Money.MicroUsd => Money.min(Money.plus(delivering ?? estimatedCost(charged), Money.sum(others)), costMax)
