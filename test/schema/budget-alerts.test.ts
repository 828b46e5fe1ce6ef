/** When the parts of a key's budget are told: whatever charges, refusals, limits and days follow each other. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { alertMail } from "../../src/schema/events/AlertMail.ts"
import { budgetReached, type LastAlert, watchKeyBudget } from "../../src/schema/events/BudgetAlerts.ts"
import { dollars, MicroUsd } from "../../src/schema/money/Money.ts"
import { type KeyBudget, spentIn, withHold, withoutHold } from "../../src/schema/wallet/KeyBudget.ts"
import { periodStart } from "../../src/schema/money/SpendDay.ts"

const none = dollars("0")
const unused: KeyBudget = {
  ...{ budget_id: "bud_1", limit: dollars("1.00"), period: "day", reserved: none, counted_on: "1970-01-01" },
  ...{ spent_day: none, spent_week: none, spent_month: none, spent_total: none }
}
const day = "2026-11-22"
const charged = (budget: KeyBudget, amount: string, on = day) => withoutHold(budget, none, dollars(amount), on)
const watch = (before: KeyBudget, after: KeyBudget, more: Partial<Parameters<typeof watchKeyBudget>[0]> = {}) =>
  watchKeyBudget({ lastAlert: null, before, after, refused: null, day, ...more })
const told = (reached: 50 | 80 | 100, more: Partial<LastAlert> = {}): LastAlert => ({
  ...{ reached, limit: unused.limit, period: "day", starts_on: day },
  ...more
})

describe("a charge", () => {
  test("tells the parts that it crosses, lowest first, and none twice", () => {
    expect(watch(unused, charged(unused, "0.499999"))).toBeNull()
    expect(watch(unused, charged(unused, "0.50"))).toEqual({ lastAlert: told(50), steps: [50] })
    expect(watch(unused, charged(unused, "1.00"))?.steps).toEqual([50, 80, 100])
    expect(watch(unused, charged(unused, "0.85"), { lastAlert: told(50) })?.steps).toEqual([80])
    expect(watch(unused, charged(unused, "0.85"), { lastAlert: told(80) })).toBeNull()
  })

  test("in a new period tells anew, and a clock that goes back does not", () => {
    const used = charged(unused, "0.90")
    expect(watch(used, charged(used, "0.60", "2026-11-23"), { lastAlert: told(80), day: "2026-11-23" })?.steps).toEqual(
      [50]
    )
    const later = charged(unused, "0.90", "2026-11-23")
    const of = { lastAlert: told(80, { starts_on: "2026-11-23" }) }
    expect(watch(later, charged(later, "0.01", day), of)).toBeNull()
  })

  test("after a raised limit tells the parts above, after a lowered one those that it reaches", () => {
    const used = charged(unused, "0.90")
    const raised = { ...used, limit: dollars("1.80") }
    expect(watch(raised, charged(raised, "0.10"), { lastAlert: told(80) })).toBeNull()
    expect(watch(raised, charged(raised, "0.60"), { lastAlert: told(80) })?.steps).toEqual([80])
    const higher = { ...used, limit: dollars("10.00") }
    expect(watch(higher, charged(higher, "4.10"), { lastAlert: told(80) })?.steps).toEqual([50])
    const lowered = { ...used, limit: dollars("0.90") }
    expect(watch(lowered, withHold(lowered, none, day), { lastAlert: told(80) })?.steps).toEqual([100])
  })
})

test("a refusal tells 100 percent if the rest is too small for the run, and not because of holds or of its size", () => {
  const used = charged(unused, "0.60")
  const refusing = (refused: string, budget = used) =>
    watch(budget, budget, { lastAlert: told(50), refused: dollars(refused) })?.steps ?? []
  expect(refusing("0.50")).toEqual([100])
  expect(refusing("0.40", withHold(used, dollars("0.10"), day))).toEqual([])
  expect(refusing("1.50")).toEqual([])
})

test("the data of the event names key, amounts and the end of the period", () => {
  const of = (period: KeyBudget["period"]) => budgetReached("key_1", charged({ ...unused, period }, "0.50"), day, 50)
  expect(of("week")).toEqual({
    ...{ control: "key_budget", key_id: "key_1", manage: "/v1/api-keys/key_1", percent: 50 },
    ...{ limit: "1.00", spent: "0.50", resets_at: "2026-11-23T00:00:00.000Z" }
  })
  expect(of("total").resets_at).toBeNull()
})

test("the e-mail names the key, and says when a refusal used its budget up", () => {
  const textOf = (spent: string, percent: 50 | 100) =>
    alertMail("https://rungate.example", "budget.reached", budgetReached("key_1", charged(unused, spent), day, percent))
      .text
  expect(textOf("0.50", 50)).toContain(
    "$0.50 of $1.00, the budget of the API key key_1, is spent, which is 50 % or more."
  )
  expect(textOf("0.50", 50)).toContain("Read or change the limit at /v1/api-keys/key_1.")
  expect(textOf("0.97", 100)).toContain("is spent, and the rest was too small for a run.")
  expect(textOf("1.00", 100)).toContain("is spent, which is 100 % or more.")
})

test("each part is told once per period and limit, and nothing that was reached stays untold", () => {
  const steps = fc.array(
    fc.record({
      charge: fc.integer({ min: 0, max: 300_000 }),
      days: fc.constantFrom(0, 0, 0, 1, 9, 40),
      commands: fc.integer({ min: 1, max: 3 })
    }),
    { maxLength: 40 }
  )
  const dayAfter = (days: number) => new Date(Date.UTC(2026, 10, 22 + days)).toISOString().slice(0, 10)
  fc.assert(
    fc.property(fc.constantFrom("day", "week", "month", "total" as const), steps, (period, turns) => {
      let budget: KeyBudget = { ...unused, period }
      let last: LastAlert | null = null
      let days = 0
      const seen = new Set<string>()
      for (const turn of turns) {
        days += turn.days
        const now = dayAfter(days)
        let after = budget
        for (let one = 0; one < turn.commands; one++)
          after = withoutHold(after, none, MicroUsd(BigInt(turn.charge)), now)
        const alert = watchKeyBudget({ lastAlert: last, before: budget, after, refused: null, day: now })
        for (const step of alert?.steps ?? []) {
          const once = `${periodStart(period, now)} ${step}`
          expect(seen.has(once)).toBe(false)
          seen.add(once)
        }
        last = alert?.lastAlert ?? last
        budget = after
        for (const step of [50, 80, 100])
          expect(seen.has(`${periodStart(period, now)} ${step}`)).toBe(
            spentIn(budget, now) * 100n >= budget.limit * BigInt(step)
          )
      }
    })
  )
})
