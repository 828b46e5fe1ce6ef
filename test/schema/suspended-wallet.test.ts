/** A suspended wallet: it admits no run, settles what had begun, and never holds more than before. */
import { describe, expect, test } from "bun:test"
import { dollars, minus } from "../../src/schema/money/Money.ts"
import type { KeyBudget } from "../../src/schema/wallet/KeyBudget.ts"
import { allowanceOf } from "../../src/schema/wallet/Purse.ts"
import { type Command, type Decision, decide, type Wallet, type WalletRun } from "../../src/schema/wallet/Wallet.ts"

const day = "2026-11-21"
const none = dollars("0")
/** Its one run holds $1.00. */
const wallet: Wallet = {
  ...{ org_id: "org_1", balance: dollars("10.00"), reserved: dollars("1.00"), allowances_held: none, entry_seq: 2n },
  ...{ per_run_limit: null, daily_limit: null, spent_day: day, spent: none }
}
/** The allowance of $5.00 that the run counts in. It holds nothing, because the wallet owed money when the last run before ended. */
const allowance: KeyBudget = {
  ...{ budget_id: "bud_1", limit: dollars("5.00"), period: "total", reserved: dollars("1.00"), counted_on: day },
  ...{ spent_day: none, spent_week: none, spent_month: none, spent_total: none },
  purse: { key_id: "key_1", state: "open", held: none, nested: false }
}
const run: WalletRun = { run_id: "run_1", status: "running", hold: dollars("1.00"), lease_token: "lease" }
const settle: Command = { _tag: "Settle", lease_token: "lease", status: "succeeded", charge: dollars("0.40") }
const cancel: Command = { _tag: "Cancel" }
const queued: WalletRun = { ...run, status: "queued" }

const suspended = (changed: Partial<Wallet> = {}): Wallet => ({ ...wallet, suspended: true, ...changed })
const heldBy = ({ budget }: Decision) => allowanceOf(budget)?.purse.held

describe("the end of a run in an allowance", () => {
  test("fills the allowance again from all free money of the wallet", () => {
    const settled = decide(wallet, run, settle, day, allowance)
    expect([heldBy(settled), settled.wallet.reserved]).toEqual([dollars("4.60"), dollars("4.60")])
  })

  test("gives the allowance of a suspended wallet only what the run held", () => {
    const settled = decide(suspended(), run, settle, day, allowance)
    expect(settled.verdict).toEqual({ _tag: "Settled", charge: dollars("0.40") })
    expect([heldBy(settled), settled.wallet.reserved]).toEqual([dollars("0.60"), dollars("0.60")])
    expect(settled.entries.map(({ type, amount }) => [type, amount])).toEqual([
      ["settle", minus(none, dollars("0.40"))],
      ["release", dollars("0.60")],
      ["reserve", minus(none, dollars("0.60"))]
    ])
    const cancelled = decide(suspended(), queued, cancel, day, allowance)
    expect([heldBy(cancelled), cancelled.wallet.reserved]).toEqual([dollars("1.00"), dollars("1.00")])
  })

  test("gives the allowance of a suspended wallet no money that the wallet owes", () => {
    const settled = decide(suspended({ balance: dollars("0.70") }), run, settle, day, allowance)
    expect([heldBy(settled), settled.wallet.reserved]).toEqual([dollars("0.30"), dollars("0.30")])
  })
})

test.each([dollars("1.00"), none])("a suspended wallet admits no run, also none that holds %p", (hold) => {
  const decision = decide(suspended(), { ...run, status: "created", hold, lease_token: null }, { _tag: "Reserve" }, day)
  expect(decision.verdict).toMatchObject({ _tag: "Refused", code: "wallet_suspended" })
  expect([decision.wallet, decision.entries]).toEqual([suspended(), []])
})
