/**
 * What a run is expected to cost, from what was measured of its offers. Pure.
 *
 * A run calls its offers in order until one delivers, and charges that one only. So each offer's price counts with the probability that
 * the offers before it did not deliver and that it does. Probabilities are whole billionths, so amounts need no floating point.
 */
import * as Money from "../money/Money.ts"

/** Counted calls of one offer. */
export interface OutcomeCounts {
  readonly succeeded: bigint
  /** Delivered, but the run preferred the conclusive answer of another provider if there was one. */
  readonly inconclusive: bigint
  readonly no_match: bigint
  readonly failed: bigint
  /** Sums over charged calls, in microdollars: the maximum price of each, and its charge. */
  readonly quoted: bigint
  readonly charged: bigint
}

/** Fewer calls say nothing. Health uses the same number. */
const samplesMin = 5n

export const callsOf = ({ succeeded, inconclusive, no_match, failed }: OutcomeCounts): bigint =>
  succeeded + inconclusive + no_match + failed

/** The counts of this kind of input if there are enough, otherwise those of all inputs. Null if nothing is known. */
export const countsFor = (kind: OutcomeCounts | null, all: OutcomeCounts | null): OutcomeCounts | null =>
  [kind, all].find((counts) => counts !== null && callsOf(counts) >= samplesMin) ?? null

/** The share of calls that returned a result, from 0 to 1 with 4 decimals. Null if nothing is known. */
export const successOf = (counts: OutcomeCounts | null): number | null =>
  counts === null
    ? null
    : Number(((counts.succeeded + counts.inconclusive) * 10_000n + callsOf(counts) / 2n) / callsOf(counts)) / 10_000

/** An offer that the run calls. */
export interface CalledOffer {
  /** The maximum price for this input. */
  readonly price: Money.MicroUsd
  /** Null if nothing is known. Then the offer counts as one that delivers and charges its price. */
  readonly counts: OutcomeCounts | null
}

export interface Waterfall {
  /** Whether a miss is charged, and ends the run. */
  readonly bills_no_match: boolean
  /** Whether an inconclusive answer is only a fallback, while the next offer is called. */
  readonly conclusive: boolean
  readonly hold: Money.MicroUsd
  /** Two answers that agree are charged. */
  readonly agree?: boolean
}

const certain = 1_000_000_000n
const times = (a: bigint, b: bigint): bigint => (a * b) / certain

/** How likely a call ends the run with a charge, and how likely it leaves a fallback. */
const chancesOf = (counts: OutcomeCounts | null, { bills_no_match, conclusive }: Waterfall) => {
  if (counts === null) return { ends: certain, falls: 0n }
  const { succeeded, inconclusive, no_match } = counts
  const part = (count: bigint) => (count * certain) / callsOf(counts)
  const charged = succeeded + (bills_no_match ? no_match : 0n)
  return conclusive
    ? { ends: part(charged), falls: part(inconclusive) }
    : { ends: part(charged + inconclusive), falls: 0n }
}

/** The average charge of a delivery: the share of the maximum price that was charged so far. */
const chargeOf = ({ price, counts }: CalledOffer, hold: Money.MicroUsd): Money.MicroUsd =>
  counts === null || counts.quoted === 0n
    ? Money.min(price, hold)
    : Money.min(Money.share(price, counts.charged, counts.quoted), hold)

/** The expected charge of a run that calls offers until two have matched. That they agree is assumed. */
const expectedOfTwo = (offers: ReadonlyArray<CalledOffer>, waterfall: Waterfall): Money.MicroUsd => {
  let none = certain
  let single: ReadonlyArray<{ readonly chance: bigint; readonly charge: Money.MicroUsd }> = []
  const ended: Array<Money.MicroUsd> = []
  for (const offer of offers) {
    const { ends } = chancesOf(offer.counts, { ...waterfall, bills_no_match: false })
    const charge = chargeOf(offer, waterfall.hold)
    for (const one of single) ended.push(Money.share(Money.plus(one.charge, charge), times(one.chance, ends), 1n))
    single = [
      ...single.map((one) => ({ ...one, chance: times(one.chance, certain - ends) })),
      { chance: times(none, ends), charge }
    ]
    none = times(none, certain - ends)
  }
  return Money.min(Money.share(Money.sum(ended), 1n, certain), waterfall.hold)
}

/** The lowest charge of `answers` providers, each by its cheapest offer. */
export const lowestCharge = (
  offers: ReadonlyArray<{ readonly provider: string; readonly price: Money.MicroUsd }>,
  answers: number,
  hold: Money.MicroUsd
): Money.MicroUsd => {
  const prices = new Map<string, Money.MicroUsd>()
  for (const { provider, price } of offers) prices.set(provider, Money.min(prices.get(provider) ?? price, price))
  const lowest = [...prices.values()].sort((a, b) => (a < b ? -1 : 1)).slice(0, answers)
  return lowest.length === 0 ? hold : Money.min(Money.sum(lowest), hold)
}

/** The expected charge, rounded up once, to a microdollar. It is never above the hold. */
export const expectedCharge = (offers: ReadonlyArray<CalledOffer>, waterfall: Waterfall): Money.MicroUsd => {
  if (waterfall.agree === true) return expectedOfTwo(offers, waterfall)
  // How likely the next offer is called: without a fallback yet, and with a fallback of which offer.
  let reached = certain
  let fallbacks: ReadonlyArray<{ readonly chance: bigint; readonly charge: Money.MicroUsd }> = []
  const weighted: Array<{ readonly chance: bigint; readonly charge: Money.MicroUsd }> = []
  for (const offer of offers) {
    const { ends, falls } = chancesOf(offer.counts, waterfall)
    const charge = chargeOf(offer, waterfall.hold)
    const called = fallbacks.reduce((sum, one) => sum + one.chance, reached)
    weighted.push({ chance: times(called, ends), charge })
    fallbacks = [
      ...fallbacks.map((one) => ({ ...one, chance: times(one.chance, certain - ends) })),
      { chance: times(reached, falls), charge }
    ]
    reached = times(reached, certain - ends - falls)
  }
  const total = Money.sum([...weighted, ...fallbacks].map(({ chance, charge }) => Money.share(charge, chance, 1n)))
  return Money.min(Money.share(total, 1n, certain), waterfall.hold)
}
