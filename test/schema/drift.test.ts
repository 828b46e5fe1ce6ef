/** When a reported cost counts as above its rate, and the price that follows from it. */
import { describe, expect, test } from "bun:test"
import { type Drift, believed, isDrift, raisedPrice } from "../../src/schema/money/Drift.ts"
import { MicroUsd } from "../../src/schema/money/Money.ts"
import type { Price } from "../../src/schema/money/Pricing.ts"

const drift = (expected: bigint, measured: bigint): Drift => ({
  expected: MicroUsd(expected),
  measured: MicroUsd(measured)
})

describe("a cost is a drift", () => {
  test.each([
    ["over 5 percent above the rate", 100n, 105n, 106n],
    ["over 5 percent above a high rate", 1_000_000n, 1_050_000n, 1_050_001n],
    ["over a microdollar above a low rate, which may be a rounding", 10n, 11n, 12n],
    ["over a microdollar above a rate of zero", 0n, 1n, 2n]
  ])("%s", (_name, expected, most, least) => {
    expect([isDrift(drift(expected, most)), isDrift(drift(expected, least))]).toEqual([false, true])
  })

  test("by the percentage that is asked for", () => {
    expect([isDrift(drift(100n, 110n), 10), isDrift(drift(100n, 111n), 10)]).toEqual([false, true])
  })
})

test("a cost is believed up to a hundred times its rate, and any cost for a rate of zero", () => {
  expect([believed(drift(2n, 199n)), believed(drift(2n, 201n))]).toEqual([MicroUsd(199n), MicroUsd(200n)])
  expect(believed(drift(0n, 201n))).toBe(MicroUsd(201n))
})

describe("a raised price", () => {
  const raised = (price: Price, { expected, measured }: Drift) =>
    raisedPrice(price, { expected, measured }, { markup: "1.2" })
  const flat = (amount: bigint): Price => ({ kind: "flat", amount: MicroUsd(amount) })

  test("is in proportion to the cost, rounded up unless it is exact", () => {
    expect(raised(flat(10n), drift(3n, 4n))).toEqual(flat(14n))
    expect(raised(flat(11n), drift(3n, 4n))).toEqual(flat(15n))
    expect(raised(flat(12n), drift(3n, 4n))).toEqual(flat(16n))
    expect(raised(flat(12n), drift(3n, 400n))).toEqual(flat(1_200n))
  })

  test("of a metered offer or of platforms raises each part", () => {
    const metered: Price = { kind: "metered", base: MicroUsd(6n), per_result: MicroUsd(2n), default_limit: 10 }
    expect(raised(metered, drift(2n, 5n))).toEqual({ ...metered, base: MicroUsd(15n), per_result: MicroUsd(5n) })
    const platforms = (a: bigint, b: bigint): Price => ({
      kind: "by_platform",
      amounts: { tiktok: MicroUsd(a), x: MicroUsd(b) }
    })
    expect(raised(platforms(6n, 2n), drift(2n, 5n))).toEqual(platforms(15n, 5n))
    const paged: Price = { kind: "paged", first: MicroUsd(6n), further: MicroUsd(2n), page_size: 10 }
    expect(raised(paged, drift(2n, 5n))).toEqual({ ...paged, first: MicroUsd(15n), further: MicroUsd(5n) })
  })

  test("of an offer whose rate is zero is the cost with the markup", () => {
    expect(raised(flat(0n), drift(0n, 11n))).toEqual(flat(14n))
  })
})
