/** The mapping of organizations to lanes: even, the same for everybody, and moving few wallets when the number of lanes grows. */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import fc from "fast-check"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { settingsOf } from "../../src/layers/platform/Settings.ts"
import { laneOf, lanesMax } from "../../src/schema/wallet/Lane.ts"

const count = fc.integer({ min: 1, max: lanesMax })

describe("the lane of an organization", () => {
  test("is one of the lanes, and stays or becomes a new one when their number grows", () => {
    fc.assert(
      fc.property(fc.string(), count, count, (org_id, one, other) => {
        const [few, many] = [Math.min(one, other), Math.max(one, other)]
        const before = laneOf(digest(org_id), few)
        const after = laneOf(digest(org_id), many)
        expect(before).toBeGreaterThanOrEqual(0)
        expect(before).toBeLessThan(few)
        if (after !== before) expect(after).toBeGreaterThanOrEqual(few)
        expect(after).toBeLessThan(many)
      })
    )
  })

  test("of two lanes is the one that earlier versions chose", () => {
    fc.assert(
      fc.property(fc.string(), (org_id) => {
        expect(laneOf(digest(org_id), 2)).toBe((digest(org_id)[0] ?? 0) % 2)
      })
    )
  })

  // Processes of two versions run beside each other during a deployment, and must agree on the lane of every wallet.
  test.each([
    [3, [1, 1, 2, 1, 0, 1, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0]],
    [7, [5, 4, 6, 1, 3, 6, 2, 5, 3, 5, 3, 1, 0, 0, 3, 0]],
    [32, [5, 18, 11, 18, 22, 30, 9, 28, 24, 7, 27, 28, 8, 8, 14, 26]]
  ])("of %d lanes is the same in every version", (lanes, known) => {
    expect(known.map((_, n) => laneOf(digest(`org_${n}`), lanes))).toEqual(known)
  })

  test.each([2, 3, 4, 7, 8, 32])("takes an even share of the wallets among %d", (lanes) => {
    const wallets = 2_000 * lanes
    const shares = Array.from({ length: lanes }, () => 0)
    for (let n = 0; n < wallets; n++) {
      const lane = laneOf(digest(`org_${n}`), lanes)
      shares[lane] = (shares[lane] ?? 0) + 1
    }
    // Five standard deviations of a fair draw.
    for (const share of shares) expect(Math.abs(share - 2_000)).toBeLessThan(5 * Math.sqrt(2_000))
  })
})

test("an installation has 1 to 32 lanes", async () => {
  const read = (lanes: string) => Effect.runPromise(settingsOf({ RUNGATE_LANES: lanes }))
  for (const lanes of [1, 32]) expect((await read(`${lanes}`)).lanes).toBe(lanes)
  for (const lanes of ["0", "33"]) await expect(read(lanes)).rejects.toThrow("RUNGATE_LANES")
})
