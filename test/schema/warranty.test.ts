/** The rules of the outcome warranty, without a database. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { plainAddress } from "../../src/schema/mail/Bounce.ts"
import { MicroUsd } from "../../src/schema/money/Money.ts"
import {
  askWaitMinutes,
  asksPerHourMax,
  type ClosedRun,
  coverOf,
  isWithinShare
} from "../../src/schema/wallet/Warranty.ts"

const run: ClosedRun = {
  status: "succeeded",
  charged: MicroUsd(3_000n),
  reused_from: null,
  own_account: false,
  erased: false,
  finished_at: new Date("2026-11-01T10:00:00Z"),
  address: "Jane@Example.com",
  warranted: true
}

describe("what the warranty covers", () => {
  test("a charged run that called an address valid: its whole charge, for seven days", () => {
    expect(coverOf(run)).toEqual({
      _tag: "Covered",
      address: "jane@example.com",
      amount: MicroUsd(3_000n),
      until: new Date("2026-11-08T10:00:00Z")
    })
  })

  test("the smallest charge", () => {
    expect(coverOf({ ...run, charged: MicroUsd(1n) })).toMatchObject({ _tag: "Covered", amount: MicroUsd(1n) })
  })

  const uncovered: ReadonlyArray<readonly [Partial<ClosedRun>, string]> = [
    [{ warranted: false }, "only runs of email.find and email.verify"],
    [{ erased: true }, "erased"],
    [{ finished_at: null }, "has not ended"],
    [{ reused_from: "run_x" }, "reused an earlier result"],
    [{ own_account: true }, "your own account"],
    [{ status: "no_match" }, "did not say that an address is valid"],
    [{ address: null }, "did not say that an address is valid"],
    [{ charged: null }, "cost nothing"],
    [{ charged: MicroUsd(0n) }, "cost nothing"]
  ]
  test.each(uncovered)("%p is not covered: %s", (change, why) => {
    expect(coverOf({ ...run, ...change })).toEqual({ _tag: "NotCovered", why: expect.stringContaining(why) })
  })

  test("an address in any spelling is one address", () => {
    for (const text of [" Jane@Example.com", "Jane Doe <jane@example.COM>", "<jane@example.com> "])
      expect(plainAddress(text)).toBe("jane@example.com")
  })
})

test("refunds one after the other never pass the share, and fill it to the last that fits", () => {
  for (const share_bps of [0, 1, 33, 2_500, 10_000])
    for (const amount of [1n, 7n, 999n]) {
      const revenue = MicroUsd(100_000n)
      let refunded = MicroUsd(0n)
      // The only organization.
      const fits = () => isWithinShare({ share_bps, revenue, refunded, own: { revenue, refunded } }, MicroUsd(amount))
      while (fits()) refunded = MicroUsd(refunded + amount)
      const limit = (revenue * BigInt(share_bps)) / 10_000n
      expect(refunded).toBeLessThanOrEqual(limit)
      expect(refunded + amount).toBeGreaterThan(limit)
    }
  const sums = { revenue: MicroUsd(10n), refunded: MicroUsd(0n) }
  expect(isWithinShare({ share_bps: 10_000, ...sums, own: sums }, MicroUsd(0n))).toBe(false)
})

test("one organization never gets the half of the fund that is for the others' own shares", () => {
  const own = { revenue: 1_000n, refunded: 0n }
  const all = { revenue: 100_000n, refunded: 0n }
  const fits = (of: typeof own) =>
    isWithinShare(
      {
        share_bps: 1_000,
        revenue: MicroUsd(all.revenue),
        refunded: MicroUsd(all.refunded),
        own: { revenue: MicroUsd(of.revenue), refunded: MicroUsd(of.refunded) }
      },
      MicroUsd(10n)
    )
  const take = (of: typeof own) => {
    while (fits(of)) {
      of.refunded += 10n
      all.refunded += 10n
    }
    return of.refunded
  }
  // Half of a tenth of all charges, far above a tenth of its own.
  expect(take(own)).toBe(5_000n)
  const other = { revenue: 30_000n, refunded: 0n }
  expect(take(other)).toBe(3_000n)
  expect(take({ revenue: 69_000n, refunded: 0n })).toBe(2_000n)
})

test("providers are asked as often as docs/warranty.md says", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/warranty.md"), "utf8").replace(/\s+/g, " ")
  const [first, second, third, last, ...more] = askWaitMinutes
  expect(more).toEqual([])
  expect(page).toContain(`after ${first}, ${second} and ${third} minutes and then every ${last / 60} hours`)
  expect(page).toContain(`at most ${asksPerHourMax} runs of an organization in an hour`)
})
