/**
 * The maximum and the actual price of a run: pure functions of an offer's price, the input and the outcome.
 *
 * `priceMax` of an input bounds every charge for it. So a hold taken before the call always covers the charge.
 */
import * as Decimal from "./Decimal.ts"
import * as Money from "./Money.ts"

/** The markup unless the operator sets another one. Imported documents contain it. */
export const defaultMarkup = "1.2"

/** How an offer is priced. Units: microdollars per call, per result, per call on one platform, per requested page of results. */
export type Price =
  | { readonly kind: "flat"; readonly amount: Money.MicroUsd }
  | {
      readonly kind: "metered"
      readonly base: Money.MicroUsd
      readonly per_result: Money.MicroUsd
      readonly default_limit: number
    }
  | { readonly kind: "by_platform"; readonly amounts: Readonly<Record<string, Money.MicroUsd>> }
  /** Charged for each requested page, also for one that has fewer results. Nobody who asks for fewer results pays for more pages. */
  | {
      readonly kind: "paged"
      readonly first: Money.MicroUsd
      readonly further: Money.MicroUsd
      readonly page_size: number
    }

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
    case "paged":
      return price.first
  }
}

/** The parts of an input that a price can depend on. */
export interface Demand {
  /** The requested number of results. Null if the input does not say; then the offer's `default_limit` applies. */
  readonly results: number | null
  readonly platform: string | null
}

/** The demand of an input without a limit and a platform. */
export const anyDemand: Demand = { results: null, platform: null }

/** Reads `limit` and `platform` of an input. A capability that counts in another way overrides this (`requested`). */
export const demandOf = (input: unknown): Demand => {
  if (typeof input !== "object" || input === null) return anyDemand
  const limit = "limit" in input ? input.limit : undefined
  const platform = "platform" in input ? input.platform : undefined
  return {
    results: typeof limit === "number" && Number.isInteger(limit) ? limit : null,
    platform: typeof platform === "string" ? platform : null
  }
}

/** Own properties only, because the caller may send a platform such as "toString". */
const namedAmount = (
  amounts: Readonly<Record<string, Money.MicroUsd>>,
  platform: string
): Money.MicroUsd | undefined => (Object.hasOwn(amounts, platform) ? amounts[platform] : undefined)

/** The maximum price for this demand: the quote of the offer, which its hold must cover. */
export const priceMax = (price: Price, demand: Demand): Money.MicroUsd => {
  switch (price.kind) {
    case "flat":
      return price.amount
    case "metered":
      return Money.plus(price.base, Money.times(price.per_result, demand.results ?? price.default_limit))
    case "by_platform":
      // The offer does not serve other platforms. The highest price is still an upper bound for them.
      return (
        namedAmount(price.amounts, demand.platform ?? "") ??
        Object.values(price.amounts).reduce((a, b) => Money.max(a, b))
      )
    case "paged": {
      const pages = Math.ceil((demand.results ?? price.page_size) / price.page_size)
      return Money.plus(price.first, Money.times(price.further, Math.max(0, pages - 1)))
    }
  }
}

/**
 * The charge for a delivered result. `results` counts the items of a metered result. It is limited to the requested number, so a provider
 * that returns more can't raise the charge.
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

/** The estimated price of one raw call, from the provider's published rates. */
export interface RateCard {
  readonly estimate: Money.MicroUsd
}

/** The hold of a raw call to a provider without published rates (specification 4.2). */
const unpricedHold = Money.dollars("1.00")
/** A rate card is an estimate, so 1.5 times as much is held. */
const headroom = { numerator: 3n, denominator: 2n }
const scaled = (amount: Money.MicroUsd, rate: { numerator: bigint; denominator: bigint }): Money.MicroUsd =>
  Money.MicroUsd((amount * rate.numerator + rate.denominator - 1n) / rate.denominator)

/** The markup as a ratio of whole numbers. */
const ratioOf = (markup: string) => {
  const { digits, scale } = Decimal.parse(markup)
  return { numerator: digits, denominator: 10n ** BigInt(scale) }
}

const priced = (factors: ReadonlyArray<string>) => Decimal.product([defaultMarkup, ...factors].map(Decimal.parse))

/** The product of these decimals (such as a price and a number of units) and the markup that imported documents contain, exactly. */
export const exactAtPlatformRate = (...factors: ReadonlyArray<string>): string => Decimal.text(priced(factors))

/** The same, rounded up once, to a microdollar. */
export const atPlatformRate = (...factors: ReadonlyArray<string>): Money.MicroUsd => Decimal.micros(priced(factors))

const capped = (amount: Money.MicroUsd, max_cost: Money.MicroUsd | null): Money.MicroUsd =>
  max_cost === null ? amount : Money.min(amount, max_cost)

/** The hold of a raw run: the rate card with headroom, or $1.00 without a rate card. `max_cost` lowers it. */
export const rawHold = (rates: RateCard | null, max_cost: Money.MicroUsd | null): Money.MicroUsd =>
  capped(rates === null ? unpricedHold : scaled(rates.estimate, headroom), max_cost)

/**
 * The charge of a delivered raw run: the measured cost with the markup, otherwise the rate card's estimate, otherwise nothing. It is
 * never above the hold. A measured cost of zero charges nothing.
 */
export const rawCharge = (
  rates: RateCard | null,
  measured: Money.MicroUsd | null,
  hold: Money.MicroUsd,
  markup = defaultMarkup
): Money.MicroUsd => {
  const amount =
    measured === null ? (rates?.estimate ?? Money.zero) : scaled(Money.max(Money.zero, measured), ratioOf(markup))
  return Money.min(amount, hold)
}

/** A higher cost report is a mistake of the provider, and must not prevent the run from settling. */
const costMax = Money.dollars("1000000.00")

/** The estimated provider cost of a run without cost reports: the charge without the markup. */
export const estimatedCost = (charged: Money.MicroUsd, markup = defaultMarkup): Money.MicroUsd => {
  const { numerator, denominator } = ratioOf(markup)
  return scaled(charged, { numerator: denominator, denominator: numerator })
}

/**
 * The provider cost of a run: the reports of its attempts, with an estimate for the delivering attempt if that reports nothing. `delivering`
 * is the report of that attempt, or null. `others` are the reports of the other attempts.
 */
export const providerCost = (
  charged: Money.MicroUsd,
  delivering: Money.MicroUsd | null,
  others: Iterable<Money.MicroUsd>,
  markup = defaultMarkup
): Money.MicroUsd => Money.min(Money.plus(delivering ?? estimatedCost(charged, markup), Money.sum(others)), costMax)
