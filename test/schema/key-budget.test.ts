/** Counting of an API key's budget, at midnight, at the turn of weeks, months and years. */
import { describe, expect, test } from "bun:test"
import { dollars } from "../../src/schema/money/Money.ts"
import { exceededBy, type KeyBudget, spentIn, withHold, withoutHold } from "../../src/schema/wallet/KeyBudget.ts"

const none = dollars("0")
const allowsHold = (...hold: Parameters<typeof exceededBy>) => exceededBy(...hold) === null
const budget: KeyBudget = {
  ...{ budget_id: "bud_1", limit: dollars("1.00"), period: "day", reserved: none, counted_on: "1970-01-01" },
  ...{ spent_day: none, spent_week: none, spent_month: none, spent_total: none }
}

describe("counting", () => {
  test("a charge counts on the day of its settlement, and a hold counts until then", () => {
    const open = withHold(budget, dollars("0.90"), "2026-11-21")
    expect(allowsHold(open, dollars("0.11"), "2026-11-21")).toBe(false)
    // Held before midnight, settled after it.
    expect(allowsHold(open, dollars("0.11"), "2026-11-22")).toBe(false)
    const settled = withoutHold(open, dollars("0.90"), dollars("0.60"), "2026-11-22")
    expect([spentIn(settled, "2026-11-22"), spentIn(settled, "2026-11-23")]).toEqual([dollars("0.60"), none])
    expect(allowsHold(settled, dollars("0.40"), "2026-11-22")).toBe(true)
    expect(allowsHold(settled, dollars("0.41"), "2026-11-22")).toBe(false)
  })

  test("each period keeps its own sum, and a clock that goes back resets none", () => {
    let one = budget
    for (const day of ["2026-11-29", "2026-11-30", "2026-12-01"]) one = withoutHold(one, none, dollars("0.10"), day)
    const of = (period: KeyBudget["period"], day: string) => spentIn({ ...one, period }, day)
    expect([of("day", "2026-12-01"), of("week", "2026-12-01")]).toEqual([dollars("0.10"), dollars("0.20")])
    expect([of("month", "2026-12-01"), of("total", "2026-12-01")]).toEqual([dollars("0.10"), dollars("0.30")])
    expect([of("week", "2026-12-07"), of("total", "2030-01-01")]).toEqual([none, dollars("0.30")])
    expect(of("day", "2026-11-30")).toBe(dollars("0.10"))
    // A run that cost nothing has not moved the day, so a clock that goes back behind its end finds the sum again.
    one = withoutHold(one, none, none, "2026-12-02")
    expect([of("day", "2026-12-02"), of("day", "2026-12-01")]).toEqual([none, dollars("0.10")])
  })
})
