/** A bill against recorded costs: every amount is compared once, and the differences add up to that of the totals. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { type BillLine, matchBill, type RecordedCost } from "../../src/schema/nouns/operator/Bill.ts"

const day = fc.constantFrom("2026-11-20", "2026-11-21", "2026-11-22")
const run = fc.constantFrom("run_a", "run_b", "run_c", "run_d")
const lines: fc.Arbitrary<ReadonlyArray<BillLine>> = fc.array(
  fc.record({
    date: day,
    amount: fc.bigInt(0n, 5n),
    reference: fc.option(fc.oneof(run, fc.constant("inv-1")), { nil: null })
  })
)
const costs: fc.Arbitrary<ReadonlyArray<RecordedCost>> = fc.uniqueArray(
  fc.record({ run_id: run, day, cost: fc.bigInt(1n, 5n) }),
  { selector: ({ run_id }) => run_id }
)

test("the differences add up to the difference of the totals, in any order of the lines", () => {
  fc.assert(
    fc.property(lines, costs, (bill, recorded) => {
      const { differences, ...totals } = matchBill(bill, recorded)
      const net = differences.reduce((all, one) => all + one.billed - one.recorded, 0n)
      expect(net).toBe(totals.billed - totals.recorded)
      expect(new Set(matchBill(bill.toReversed(), recorded).differences)).toEqual(new Set(differences))
      expect(differences.every(({ billed, recorded }) => billed !== recorded)).toBe(true)
    })
  )
})

test("a bill that is what was recorded has no difference, with and without references", () => {
  fc.assert(
    fc.property(costs, fc.boolean(), (recorded, named) => {
      const bill = recorded.map(({ run_id, day, cost }) => ({
        date: day,
        amount: cost,
        reference: named ? run_id : null
      }))
      expect(matchBill(bill, recorded).differences).toEqual([])
    })
  )
})

test("differences say what is wrong, of a run or of a day", () => {
  const recorded = [
    { run_id: "run_a", day: "2026-11-20", cost: 3n },
    { run_id: "run_b", day: "2026-11-21", cost: 2n }
  ]
  const bill = [
    { date: "2026-11-20", amount: 4n, reference: "run_a" },
    { date: "2026-11-22", amount: 1n, reference: "inv-1" }
  ]
  expect(matchBill(bill, recorded)).toEqual({
    billed: 5n,
    recorded: 5n,
    differences: [
      { kind: "other_amount", day: "2026-11-20", run_id: "run_a", billed: 4n, recorded: 3n },
      { kind: "not_billed", day: "2026-11-21", run_id: null, billed: 0n, recorded: 2n },
      { kind: "not_recorded", day: "2026-11-22", run_id: null, billed: 1n, recorded: 0n }
    ]
  })
})
