import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { lossOf, type ReportedCost } from "../../src/schema/wallet/Loss.ts"
import { dollars, MicroUsd, zero } from "../../src/schema/money/Money.ts"

const one = (provider: string, cost: string, delivering = false): ReportedCost => ({
  provider,
  cost: dollars(cost),
  delivering
})
const settled = (charge: string, hold: string, cost: string | null, ...reported: ReadonlyArray<ReportedCost>) =>
  lossOf({ charge: dollars(charge), hold: dollars(hold), cost: cost === null ? null : dollars(cost), reported })

describe("a loss", () => {
  test.each([
    ["a cost below the charge is none", settled("0.012", "0.05", "0.01", one("a", "0.01", true)), null],
    ["a cost that equals the charge is none", settled("0.01", "0.05", "0.01", one("a", "0.01", true)), null],
    ["no provider was called", settled("0.00", "0.05", null), null],
    ["an estimate is a part of the charge", settled("0.012", "0.05", "0.01"), null]
  ])("%s", (_name, found, expected) => expect(found).toBe(expected))

  test("has one of three reasons, and names who was paid most", () => {
    expect(settled("0.05", "0.05", "0.20", one("a", "0.20", true))).toMatchObject({
      reason: "clipped_by_hold",
      provider: "a",
      measured: true
    })
    expect(settled("0.003", "0.05", "0.02", one("a", "0.02", true))).toMatchObject({ reason: "below_cost" })
    expect(settled("0.00", "0.05", "0.03", one("a", "0.01"), one("b", "0.02"))).toMatchObject({
      reason: "failed_attempts",
      provider: "b",
      measured: true
    })
    expect(settled("0.012", "0.05", "0.02", one("a", "0.01"))).toMatchObject({
      reason: "failed_attempts",
      provider: "a",
      measured: false
    })
    expect(settled("0.01", "0.05", "0.015", one("a", "0.005"), one("b", "0.01", true))).toMatchObject({
      reason: "failed_attempts",
      provider: "a"
    })
    // The provider that delivered was paid, so the loss is not its own even if it cost most.
    expect(settled("0.012", "0.05", "0.016", one("a", "0.005"), one("b", "0.011", true))).toMatchObject({
      reason: "failed_attempts",
      provider: "a"
    })
    expect(settled("0.012", "0.05", "0.02", one("a", "0.01"), one("b", "0.01", true))).toMatchObject({
      reason: "failed_attempts",
      provider: "a",
      measured: true
    })
  })

  test("is there if and only if the cost is above the charge", () => {
    const amount = fc.bigInt({ min: 0n, max: 10_000_000n }).map(MicroUsd)
    const reports = fc.array(
      fc.record({ provider: fc.constantFrom("a", "b"), cost: amount, delivering: fc.boolean() }),
      { maxLength: 3 }
    )
    fc.assert(
      fc.property(amount, amount, fc.option(amount), reports, (charge, hold, cost, reported) => {
        const found = lossOf({ charge, hold, cost, reported })
        expect(found !== null).toBe(cost !== null && cost > charge)
        if (found !== null) expect([found.charge, found.cost]).toEqual([charge, cost ?? zero])
      })
    )
  })
})
