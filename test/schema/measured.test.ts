import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { cost } from "../../src/layers/providers/kit/outcome.ts"
import { measuredOf } from "../../src/schema/catalog/Measured.ts"
import { MicroUsd } from "../../src/schema/money/Money.ts"
import type { Cost } from "../../src/schema/catalog/Provider.ts"

const usd = (amount: string): Cost => ({ unit: "USD", amount })
const credits = (amount: string): Cost => ({ unit: "credit", amount })

describe("a measured cost", () => {
  const cases: ReadonlyArray<[Cost | null, string | null, bigint | null]> = [
    [null, "0.01", null],
    [usd("0.2654"), null, 265_400n],
    [usd("0.00805"), null, 8_050n],
    // Rounded up, once.
    [usd("0.0000001"), null, 1n],
    [usd("0.000000000"), null, 0n],
    [usd("12"), "0.01", 12_000_000n],
    [credits("3"), "0.0245", 73_500n],
    [credits("0.2"), "0.0245", 4_900n],
    [credits("0.333333333"), "0.000001", 1n],
    // Zero is zero whatever a credit costs; anything else of an unknown price is unknown.
    [credits("0"), null, 0n],
    [credits("1"), null, null],
    [credits("1"), "free", null],
    ...["", "-1", "NaN", "Infinity", "1e3", "1,5", ".5", "0x10", "1".repeat(20)].map((amount): [Cost, null, null] => [
      usd(amount),
      null,
      null
    ])
  ]
  test.each(cases)("%p at %p a credit is %p microdollars", (reported, credit, expected) => {
    expect(measuredOf(reported, credit)).toEqual(expected as never)
  })

  test.each([-1, Number.NaN, 1e308, Infinity, "1e308", "-3", null, {}, true])(
    "%p in a report says nothing",
    (reported) => {
      expect(measuredOf(cost("USD", reported), null)).toBeNull()
    }
  )

  test("is the exact product rounded up to a microdollar", () => {
    const micros = fc.bigInt({ min: 0n, max: 10n ** 12n })
    const text = (value: bigint) => `${value / 1_000_000n}.${String(value % 1_000_000n).padStart(6, "0")}`
    fc.assert(
      fc.property(micros, micros, (amount, price) => {
        const found = measuredOf(credits(text(amount)), text(price)) ?? -1n
        const exact = amount * price
        // A million dollars at most: more is a mistake.
        if (exact > 10n ** 18n) return expect(found).toBe(MicroUsd(10n ** 12n))
        expect(found * 1_000_000n >= exact && (found - 1n) * 1_000_000n < exact).toBe(true)
      })
    )
  })
})
