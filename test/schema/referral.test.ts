import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { dollars, MicroUsd, zero } from "../../src/schema/money/Money.ts"
import { estimatedCost, providerCost } from "../../src/schema/money/Pricing.ts"
import {
  bpsOf,
  codeAlphabet,
  codeLength,
  codeOf,
  describeTerms,
  due,
  earned,
  netRevenue,
  percentOf,
  unpaidOf
} from "../../src/schema/wallet/Referral.ts"

const amounts = fc.bigInt({ min: 0n, max: 10n ** 12n }).map((micros) => MicroUsd(micros))

describe("a share in percent", () => {
  test.each([
    ["10", 1000],
    ["0", 0],
    ["100", 10_000],
    ["100.00", 10_000],
    ["12.5", 1250],
    ["0.01", 1],
    ["33.33", 3333]
  ])("%s is %d basis points", (text, bps) => expect(bpsOf(text)).toBe(bps))

  test.each(["", "-1", "100.01", "101", "1.234", "1e1", ".5", "5.", "10%", "010", " 1", "NaN", "٣"])(
    "%j is none",
    (text) => expect(bpsOf(text)).toBeNull()
  )

  test("is shown as it was said", () => {
    for (let bps = 0; bps <= 10_000; bps++) expect(bpsOf(percentOf(bps))).toBe(bps)
    expect([percentOf(1000), percentOf(1250), percentOf(1), percentOf(105)]).toEqual(["10", "12.5", "0.01", "1.05"])
  })
})

describe("what a run has cost the platform", () => {
  const cases: ReadonlyArray<[string, bigint, bigint | null, ReadonlyArray<bigint>, bigint]> = [
    ["nothing charged, nothing reported", 0n, null, [], 0n],
    ["nothing charged, a failed attempt that cost something", 0n, null, [700n], 700n],
    ["reported", 1200n, 900n, [], 900n],
    ["reported as free", 1200n, 0n, [], 0n],
    ["not reported: five sixths of the charge", 1200n, null, [], 1000n],
    ["not reported, rounded up", 1n, null, [], 1n],
    ["reported, after attempts that cost something", 1200n, 900n, [100n, 20n], 1020n],
    ["not reported, after such attempts", 1200n, null, [100n], 1100n],
    ["more than it was charged", 1200n, 5000n, [], 5000n],
    ["a report that can't be true", 1200n, 10n ** 18n, [], dollars("1000000.00")]
  ]
  test.each(cases)("%s", (_name, charged, delivering, others, cost) => {
    const report = delivering === null ? null : MicroUsd(delivering)
    expect(providerCost(MicroUsd(charged), report, others.map(MicroUsd))).toBe(MicroUsd(cost))
  })

  test("estimated, it covers the charge at the platform's rate, and a microdollar less would not", () => {
    fc.assert(
      fc.property(amounts, (charged) => {
        const cost = estimatedCost(charged)
        expect(cost * 6n >= charged * 5n && (cost - 1n) * 6n < charged * 5n).toBe(true)
        expect(cost <= charged).toBe(true)
      })
    )
  })
})

describe("what a referral earns", () => {
  test("the platform keeps nothing of a run that cost more than was charged", () => {
    expect(netRevenue(MicroUsd(1200n), MicroUsd(900n))).toBe(MicroUsd(300n))
    expect(netRevenue(MicroUsd(1200n), MicroUsd(1200n))).toBe(zero)
    expect(netRevenue(MicroUsd(1200n), MicroUsd(9000n))).toBe(zero)
    // A run of before costs were kept.
    expect(netRevenue(MicroUsd(1200n), null)).toBe(MicroUsd(200n))
  })

  test("revenue that was never paid is none", () => {
    const share_bps = 1000
    expect(unpaidOf(MicroUsd(5n))).toBe(zero)
    expect(unpaidOf(MicroUsd(-5n))).toBe(MicroUsd(5n))
    expect(earned({ share_bps, net_revenue: MicroUsd(1000n), unpaid: zero })).toBe(MicroUsd(100n))
    expect(earned({ share_bps, net_revenue: MicroUsd(1000n), unpaid: MicroUsd(400n) })).toBe(MicroUsd(60n))
    expect(earned({ share_bps, net_revenue: MicroUsd(1000n), unpaid: MicroUsd(9000n) })).toBe(zero)
    expect(earned({ share_bps, net_revenue: MicroUsd(19n), unpaid: zero })).toBe(MicroUsd(1n))
  })

  test("from a cent up it is credited, down at once", () => {
    const cent = dollars("0.01")
    expect(due(MicroUsd(cent - 1n), zero)).toBe(zero)
    expect(due(cent, zero)).toBe(cent)
    expect(due(MicroUsd(cent + 1n), MicroUsd(2n))).toBe(zero)
    expect(due(MicroUsd(4n), MicroUsd(5n))).toBe(MicroUsd(-1n))
    expect(due(cent, cent)).toBe(zero)
  })

  test("however it is cut into pieces, the credits are its share to the microdollar", () => {
    const pieces = fc.array(fc.record({ net: amounts, unpaid: fc.option(amounts, { nil: zero }) }), { maxLength: 40 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), pieces, (share_bps, steps) => {
        let net_revenue = zero
        let credited = zero
        for (const { net, unpaid } of [...steps, { net: zero, unpaid: zero }]) {
          net_revenue = MicroUsd(net_revenue + net)
          const now = earned({ share_bps, net_revenue, unpaid })
          const amount = due(now, credited)
          credited = MicroUsd(credited + amount)
          // Never more than was earned, and less only by what makes no entry yet.
          expect(credited <= now).toBe(true)
          expect(now - credited < 10_000n).toBe(true)
          expect(amount === 0n || credited === now).toBe(true)
        }
        const share = (net_revenue * BigInt(share_bps)) / 10_000n
        expect(share - credited < 10_000n && credited <= share).toBe(true)
      })
    )
  })
})

describe("a referral code", () => {
  test("is read in any case and with blanks around it", () => {
    expect(codeOf(" abcd2345 ")).toBe("ABCD2345")
    for (const none of [
      "",
      "ABCD234",
      "ABCD23456",
      "ABCD234O",
      "ABCD2341",
      "ABCD 345",
      "ABCD234ß",
      "../../..",
      "ABCD234\n5"
    ])
      expect(codeOf(none)).toBeNull()
  })

  test("has no letters that are taken for others", () => {
    for (const letter of "01OIL") expect(codeAlphabet.includes(letter)).toBe(false)
    expect(new Set(codeAlphabet).size).toBe(codeAlphabet.length)
    expect(codeAlphabet.length ** codeLength).toBeGreaterThan(6e11)
  })
})

test("terms that give nothing say so", () => {
  const terms = { deposit_min: dollars("10.00"), deposit_bonus: dollars("5.00"), share_bps: 1250, months: 1 }
  expect(describeTerms(terms).referred).toContain("$5.00 once, with its first deposit of at least $10.00")
  expect(describeTerms(terms).referrer).toContain("12.5% of the net revenue")
  expect(describeTerms(terms).referrer).toEndWith("for 1 month.")
  expect(describeTerms({ ...terms, deposit_bonus: zero }).referred).toContain("no bonus")
  expect(describeTerms({ ...terms, share_bps: 0 }).referrer).toContain("no share")
  expect(describeTerms({ ...terms, months: 0 }).referrer).toContain("no share")
})
