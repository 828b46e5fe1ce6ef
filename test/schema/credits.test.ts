/** Rules of provider credits: units are rounded against the account, use per day follows readings, and states warn in time. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { burnAfter, costIn, microsOf } from "../../src/schema/catalog/Credits.ts"
import { availableOf, type CreditsAccount, outlookOf } from "../../src/schema/nouns/operator/Credits.ts"
import { dollars, MicroUsd } from "../../src/schema/money/Money.ts"

const day = 86_400_000
const now = Date.parse("2026-11-26T12:00:00Z")
const account = (changes: Partial<CreditsAccount> = {}): CreditsAccount => ({
  source: "read",
  balance: 100_000_000n,
  read_at: new Date(now),
  reserved: 0n,
  burn_per_day: 0n,
  low_below: null,
  expires_at: null,
  renews: false,
  empty_until: null,
  ...changes
})
const inDays = (days: number) => new Date(now + days * day)
const stateOf = (changes: Partial<CreditsAccount>) => outlookOf(account(changes), now).state

test("a cost in credits is never less than what it costs, and less than a millionth more", () => {
  expect(costIn("credit", "0.0245", dollars("0.0245"))).toBe(1_000_000n)
  expect(costIn("USD", null, dollars("0.0245"))).toBe(24_500n)
  expect(costIn("credit", null, dollars("5.00"))).toBe(0n)
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 1, max: 100_000_000 }), (cost, price) => {
      const micros = costIn("credit", `0.${String(price).padStart(9, "0")}`, MicroUsd(cost))
      const paid = micros * BigInt(price)
      expect(paid >= cost * 10n ** 9n).toBe(true)
      expect(paid - BigInt(price) < cost * 10n ** 9n).toBe(true)
    })
  )
})

test("a balance is rounded down, and has a highest value that the database holds", () => {
  expect([microsOf(7333.8), microsOf(0.0000019), microsOf(1e300)]).toEqual([7_333_800_000n, 1n, 10n ** 18n])
})

test("use per day comes near the use of the last days, stays with a top-up, and is never negative", () => {
  let burn = 0n
  let balance = 10_000_000_000n
  for (let hour = 0; hour < 24 * 14; hour++) {
    burn = burnAfter(burn, balance, balance - 10_000_000n, 3_600_000)
    balance -= 10_000_000n
  }
  expect(Number(burn) / 240_000_000).toBeGreaterThan(0.98)
  expect(Number(burn) / 240_000_000).toBeLessThanOrEqual(1)
  expect(burnAfter(burn, 0n, 5n, day)).toBe(burn)
  expect(burnAfter(burn, 5n, 0n, 0)).toBe(burn)
  fc.assert(
    fc.property(
      fc.bigInt(0n, 10n ** 15n),
      fc.bigInt(0n, 10n ** 15n),
      fc.integer({ min: 1, max: 10 * day }),
      (a, b, millis) => {
        expect(burnAfter(0n, a, b, millis) >= 0n).toBe(true)
      }
    )
  )
})

test("a reading that is older than six hours limits nothing, and a balance that was set always does", () => {
  const spent = { reserved: 100_000_000n }
  expect(availableOf(account({ ...spent, read_at: inDays(-0.249) }), now)).toBe(0n)
  expect(availableOf(account({ ...spent, read_at: inDays(-0.251) }), now)).toBeNull()
  expect(availableOf(account({ ...spent, read_at: null }), now)).toBeNull()
  expect(availableOf(account({ ...spent, read_at: inDays(-9), source: "set" }), now)).toBe(0n)
  expect(availableOf(account({ read_at: null, empty_until: inDays(0.01) }), now)).toBe(0n)
  expect(stateOf({ ...spent, read_at: inDays(-1) })).toBe("unknown")
})

test("what is available is never negative, and nothing of an empty account or an expired package", () => {
  expect(availableOf(account({ reserved: 30_000_000n }), now)).toBe(70_000_000n)
  expect(availableOf(account({ reserved: 300_000_000n }), now)).toBe(0n)
  expect(availableOf(account({ balance: null }), now)).toBeNull()
  expect(availableOf(account({ balance: null, empty_until: inDays(0.01) }), now)).toBe(0n)
  expect(availableOf(account({ empty_until: inDays(-0.01) }), now)).toBe(100_000_000n)
  expect(availableOf(account({ source: "set", expires_at: inDays(-1) }), now)).toBe(0n)
  expect(availableOf(account({ expires_at: inDays(-1), renews: true }), now)).toBe(100_000_000n)
})

test("states: unknown, empty, low by use or by limit, expiring, ok", () => {
  expect(stateOf({})).toBe("ok")
  expect(stateOf({ balance: null })).toBe("unknown")
  expect(stateOf({ balance: 0n })).toBe("empty")
  expect(stateOf({ low_below: 100_000_001n })).toBe("low")
  expect(stateOf({ low_below: 100_000_000n })).toBe("ok")
  // 100 credits at 34 a day last less than three days; at 33 a day they last longer.
  expect(stateOf({ burn_per_day: 34_000_000n })).toBe("low")
  expect(stateOf({ burn_per_day: 33_000_000n })).toBe("ok")
  // The plan gives new credits tomorrow, or too late.
  expect(stateOf({ burn_per_day: 34_000_000n, renews: true, expires_at: inDays(1) })).toBe("ok")
  expect(stateOf({ burn_per_day: 34_000_000n, renews: true, expires_at: inDays(20) })).toBe("low")
  expect(stateOf({ expires_at: inDays(6.9) })).toBe("expiring")
  expect(stateOf({ expires_at: inDays(7.1) })).toBe("ok")
  expect(stateOf({ expires_at: inDays(6.9), renews: true })).toBe("ok")
})

test("the date on which it runs out follows from the use per day", () => {
  expect(outlookOf(account({ burn_per_day: 10_000_000n }), now)).toMatchObject({
    days_left: 10,
    runs_out_at: inDays(10)
  })
  expect(outlookOf(account(), now)).toMatchObject({ days_left: null, runs_out_at: null })
  expect(outlookOf(account({ burn_per_day: 1n }), now)).toMatchObject({ runs_out_at: null })
})
