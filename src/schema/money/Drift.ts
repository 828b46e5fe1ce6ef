/**
 * Compares a reported cost with the rate that an offer's price is computed from, and prices an offer whose rate is too low. Pure.
 *
 * A lower cost is no drift: providers answer from caches, and some prices cover the largest answer.
 */
import * as Money from "./Money.ts"
import type { Price } from "./Pricing.ts"
import { type Rates, atMarkup } from "./Rates.ts"

/** The largest cost of an offer since it stopped to fit, and what the rate says about the same call. */
export interface Drift {
  readonly expected: Money.MicroUsd
  readonly measured: Money.MicroUsd
}

/** Rounding and exchange rates differ by less. In percent. */
export const tolerancePercent = 5
/** A call may cost no more than this many times its rate. More is a mistake, or a provider that means harm, and is not passed on to customers. */
const factorMax = 100n

export const isDrift = ({ expected, measured }: Drift, percent: number = tolerancePercent): boolean =>
  measured > expected + 1n && measured * 100n > expected * (100n + BigInt(percent))

/** The cost that is passed on. */
export const believed = ({ expected, measured }: Drift): Money.MicroUsd =>
  expected === Money.zero ? measured : Money.min(measured, Money.MicroUsd(expected * factorMax))

const scaled = (amount: Money.MicroUsd, { expected, measured }: Drift): Money.MicroUsd =>
  Money.MicroUsd((amount * measured + expected - 1n) / expected)

/** The price that covers what the call cost: as many times higher as the cost was, rounded up. */
export const raisedPrice = (price: Price, drift: Drift, { markup }: Pick<Rates, "markup">): Price => {
  const cost = { ...drift, measured: believed(drift) }
  // A rate of zero can't be multiplied.
  if (drift.expected === Money.zero) return { kind: "flat", amount: atMarkup(cost.measured, markup) }
  switch (price.kind) {
    case "flat":
      return { kind: "flat", amount: scaled(price.amount, cost) }
    case "metered":
      return { ...price, base: scaled(price.base, cost), per_result: scaled(price.per_result, cost) }
    case "by_platform": {
      const amounts = Object.entries(price.amounts).map(([name, amount]) => [name, scaled(amount, cost)] as const)
      return { kind: "by_platform", amounts: Object.fromEntries(amounts) }
    }
    case "paged":
      return { ...price, first: scaled(price.first, cost), further: scaled(price.further, cost) }
  }
}
