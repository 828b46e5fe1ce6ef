/** What a run is expected to cost, by what its offers did so far. */
import { describe, expect, test } from "bun:test"
import { dollars, usd } from "../../src/schema/money/Money.ts"
import {
  type CalledOffer,
  countsFor,
  expectedCharge,
  type OutcomeCounts,
  successOf,
  type Waterfall
} from "../../src/schema/runs/Quote.ts"

const counts = (change: Partial<OutcomeCounts> = {}): OutcomeCounts => ({
  ...{ succeeded: 0n, inconclusive: 0n, no_match: 0n, failed: 0n, quoted: 0n, charged: 0n },
  ...change
})
const offer = (price: string, change: Partial<OutcomeCounts> | null = null): CalledOffer => ({
  price: dollars(price),
  counts: change === null ? null : counts(change)
})
const expected = (offers: ReadonlyArray<CalledOffer>, change: Partial<Waterfall> = {}) =>
  usd(expectedCharge(offers, { bills_no_match: false, conclusive: false, hold: dollars("1.00"), ...change }))

test("five calls of the kind of input count, or else five of all inputs", () => {
  const [four, five] = [
    counts({ succeeded: 4n }),
    counts({ succeeded: 1n, inconclusive: 1n, no_match: 2n, failed: 1n })
  ]
  const all = counts({ failed: 9n })
  expect(countsFor(five, all)).toBe(five)
  expect(countsFor(four, all)).toBe(all)
  expect(countsFor(null, five)).toBe(five)
  expect([countsFor(four, four), countsFor(null, null)]).toEqual([null, null])
})

test("the success rate counts results, rounded to four decimals", () => {
  expect(successOf(null)).toBeNull()
  expect(successOf(counts({ succeeded: 1n, inconclusive: 1n, no_match: 1n, failed: 1n }))).toBe(0.5)
  expect(successOf(counts({ succeeded: 2n, failed: 1n }))).toBe(0.6667)
  expect(successOf(counts({ succeeded: 1n, failed: 2n }))).toBe(0.3333)
  expect(successOf(counts({ succeeded: 5n, failed: 4n }))).toBe(0.5556)
})

describe("the expected charge", () => {
  test("of an offer that nothing is known of is its price, and never more than the hold", () => {
    expect(expected([offer("0.02")])).toBe("0.02")
    expect(expected([offer("0.02"), offer("0.50")])).toBe("0.02")
    expect(expected([offer("0.02")], { hold: dollars("0.01") })).toBe("0.01")
    expect(expected([])).toBe("0.00")
  })

  test("counts each price with the chance that the offers before it did not deliver", () => {
    const half = { succeeded: 5n, failed: 5n }
    expect(expected([offer("0.02", half)])).toBe("0.01")
    expect(expected([offer("0.02", half), offer("0.10", half), offer("0.40")])).toBe("0.135")
  })

  test("a miss costs only where the capability bills it, and then ends the run", () => {
    const misses = { succeeded: 5n, no_match: 5n }
    expect(expected([offer("0.02", misses), offer("0.10")])).toBe("0.06")
    expect(expected([offer("0.02", misses), offer("0.10")], { bills_no_match: true })).toBe("0.02")
  })

  test("an inconclusive answer ends the run, unless the run wants a conclusive one: then it is the fallback", () => {
    const doubtful = { succeeded: 2n, inconclusive: 8n }
    expect(expected([offer("0.02", doubtful), offer("0.10")])).toBe("0.02")
    expect(expected([offer("0.02", doubtful)], { conclusive: true })).toBe("0.02")
    expect(expected([offer("0.02", doubtful), offer("0.10")], { conclusive: true })).toBe("0.084")
    // Of 8 in 10 runs with a fallback, half end with the second offer, and half are charged the first.
    const half = { succeeded: 5n, failed: 5n }
    expect(expected([offer("0.02", doubtful), offer("0.10", half)], { conclusive: true })).toBe("0.052")
    // The first fallback is kept: a second inconclusive answer is not charged.
    const never = { inconclusive: 10n }
    expect(expected([offer("0.02", never), offer("0.10", never)], { conclusive: true })).toBe("0.02")
  })

  test("a delivery costs the share of the price that deliveries were charged so far", () => {
    const third = { succeeded: 10n, quoted: 300n, charged: 100n }
    expect(expected([offer("0.03", third)])).toBe("0.01")
    expect(expected([offer("0.03", { succeeded: 10n })])).toBe("0.03")
    expect(expected([offer("0.03", { succeeded: 10n, quoted: 100n, charged: 900n })], { hold: dollars("0.05") })).toBe(
      "0.05"
    )
  })

  test("is rounded up once, to a microdollar", () => {
    expect(expected([offer("0.000001", { succeeded: 1n, failed: 4n })])).toBe("0.000001")
    const third = { succeeded: 2n, failed: 4n }
    expect(expected([offer("0.01", third)])).toBe("0.003334")
  })
})
