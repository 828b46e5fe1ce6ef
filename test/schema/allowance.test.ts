/** Opening and ending an allowance, and what it holds for the runs and batches of its key. */
import { describe, expect, test } from "bun:test"
import { dollars, MicroUsd, signed, usd, zero } from "../../src/schema/money/Money.ts"
import {
  type AllowanceBudget,
  type AllowanceDecision,
  endAllowance,
  openAllowance
} from "../../src/schema/wallet/Allowance.ts"
import { type KeyBudget, type PurseState, withHold, withoutHold } from "../../src/schema/wallet/KeyBudget.ts"
import { allowanceOf, drawn, refilled } from "../../src/schema/wallet/Purse.ts"
import { decide, type Entry, type Wallet, type WalletRun } from "../../src/schema/wallet/Wallet.ts"

const day = "2026-11-21"
const least = MicroUsd(1n)
const wallet: Wallet = {
  ...{ org_id: "org_1", balance: dollars("10.00"), reserved: zero, allowances_held: zero, entry_seq: 4n },
  ...{ per_run_limit: null, daily_limit: null, spent_day: day, spent: zero }
}
const budget = (limit: string): KeyBudget => ({
  ...{ budget_id: "bud_0", limit: dollars(limit), period: "total", reserved: zero, counted_on: day },
  ...{ spent_day: zero, spent_week: zero, spent_month: zero, spent_total: zero }
})
const allowance = (limit: string, state: PurseState, held = zero, nested = false): AllowanceBudget => ({
  ...budget(limit),
  budget_id: "bud_1",
  purse: { key_id: "key_1", state, held, nested }
})
/** A wallet whose money an allowance holds. */
const holding = (held: MicroUsd): Wallet => ({ ...wallet, reserved: held, allowances_held: held })
const moved = (entries: ReadonlyArray<Entry>) => entries.map(({ type, amount, reference }) => [type, amount, reference])
const purseOf = (one: KeyBudget | null) => [one?.purse?.state, one?.purse?.held]
const refusalOf = ({ wallet: after, entries, budget: closed, verdict }: AllowanceDecision) => {
  expect([entries, purseOf(closed)]).toEqual([[], ["closed", zero]])
  return verdict._tag === "Refused" ? { code: verdict.code, message: verdict.message, after } : expect.unreachable()
}

describe("an allowance opens", () => {
  test("and holds its amount, up to all that is available", () => {
    const opened = openAllowance(wallet, allowance("10.00", "pending"), null, day)
    expect([opened.verdict, purseOf(opened.budget)]).toEqual([{ _tag: "Opened" }, ["open", dollars("10.00")]])
    expect(moved(opened.entries)).toEqual([["reserve", signed("-10.00"), "allowance:key_1:opened"]])
    expect(opened.wallet).toEqual({ ...holding(dollars("10.00")), entry_seq: 5n })
    const refused = refusalOf(openAllowance(wallet, allowance("10.000001", "pending"), null, day))
    expect(refused).toMatchObject({ code: "insufficient_balance", after: wallet })
    expect(refused.message).toContain("would hold $10.000001 and $10.00 is available;")
  })

  test.each([
    ["0.00", "$0.00 is available"],
    ["-0.01", "$0.01 is owed after a refund or a dispute"]
  ])("not with a balance of %s: %s", (balance, message) => {
    const poor = { ...wallet, balance: signed(balance) }
    expect(refusalOf(openAllowance(poor, allowance("1.00", "pending"), null, day)).message).toContain(`and ${message};`)
  })

  test("within what is left of the budget that gives it, with what was spent and is held", () => {
    const used = withHold(withoutHold(budget("5.00"), zero, dollars("1.00"), day), dollars("1.00"), day)
    const opened = openAllowance(wallet, allowance("3.00", "pending"), used, day)
    expect([opened.verdict._tag, opened.parent?.reserved]).toEqual(["Opened", dollars("4.00")])
    const refused = refusalOf(openAllowance(wallet, allowance("3.01", "pending"), used, day))
    expect(refused.code).toBe("over_budget")
    expect(refused.message).toContain("with $2.00 spent or held it would exceed the budget of this API key, $5.00;")
  })

  test("out of the allowance that gives it, even if the wallet has nothing else", () => {
    const all = holding(dollars("10.00"))
    const giving = allowance("10.00", "open", dollars("10.00"))
    const parent = { ...giving, purse: { ...giving.purse, key_id: "key_0" } }
    const opened = openAllowance(all, allowance("4.00", "pending", zero, true), parent, day)
    expect([purseOf(opened.budget), purseOf(opened.parent)]).toEqual([
      ["open", dollars("4.00")],
      ["open", dollars("6.00")]
    ])
    expect(moved(opened.entries)).toEqual([
      ["release", dollars("4.00"), "allowance:key_0:key_1"],
      ["reserve", signed("-4.00"), "allowance:key_1:opened"]
    ])
    expect(opened.wallet.reserved).toBe(all.reserved)
    const ended = { ...parent, purse: { ...parent.purse, state: "ended" as const } }
    expect(refusalOf(openAllowance(all, allowance("4.00", "pending"), ended, day)).code).toBe("over_budget")
  })

  test("not in a suspended wallet, and not twice", () => {
    const suspended = { ...wallet, suspended: true }
    expect(refusalOf(openAllowance(suspended, allowance("1.00", "pending"), null, day)).code).toBe("wallet_suspended")
    for (const state of ["open", "ended", "closed"] as const) {
      const again = openAllowance(wallet, allowance("1.00", state), null, day)
      expect([again.verdict, again.wallet, again.entries]).toEqual([{ _tag: "Stale" }, wallet, []])
    }
  })
})

describe("an allowance ends", () => {
  test("and gives back what it holds, once, however often it is ended", () => {
    const open = holding(dollars("4.00"))
    const ended = endAllowance(open, allowance("5.00", "open", dollars("4.00")), null, day)
    expect([ended.verdict, purseOf(ended.budget)]).toEqual([{ _tag: "Ended", closed: true }, ["closed", zero]])
    expect(moved(ended.entries)).toEqual([["release", dollars("4.00"), "allowance:key_1:ended"]])
    expect([ended.wallet.reserved, ended.wallet.allowances_held]).toEqual([zero, zero])
    const given = withHold(budget("9.00"), dollars("5.00"), day)
    const again = endAllowance(ended.wallet, allowance("5.00", "closed"), given, day)
    expect([again.verdict, again.wallet, again.entries]).toEqual([{ _tag: "Ended", closed: true }, ended.wallet, []])
    // The budget that gave it has counted its end already.
    expect(again.parent).toEqual(given)
  })

  test("only when its last run ends: until then it is no longer open, and not closed", () => {
    const busy = { ...allowance("5.00", "open", dollars("4.00")), reserved: dollars("1.00") }
    const waiting = endAllowance(holding(dollars("4.00")), busy, null, day)
    expect([waiting.verdict, purseOf(waiting.budget)]).toEqual([{ _tag: "Ended", closed: false }, ["ended", zero]])
    // If another allowance gave the money, it is kept for that one.
    const nested = { ...busy, purse: { ...busy.purse, nested: true } }
    const kept = endAllowance(holding(dollars("4.00")), nested, budget("9.00"), day)
    expect([kept.entries, kept.parent]).toEqual([[], budget("9.00")])
    expect([kept.verdict, purseOf(kept.budget)]).toEqual([{ _tag: "Ended", closed: false }, ["ended", dollars("4.00")]])
  })

  test("and the budget that gave it counts what it spent, and nothing for one that never opened", () => {
    const parent = withHold(budget("9.00"), dollars("5.00"), day)
    const spent = withoutHold(allowance("5.00", "open", dollars("4.00")), zero, dollars("1.00"), day)
    const ended = endAllowance(holding(dollars("4.00")), { ...allowance("5.00", "open"), ...spent }, parent, day)
    expect([ended.parent?.reserved, ended.parent?.spent_total]).toEqual([zero, dollars("1.00")])
    const never = endAllowance(wallet, allowance("5.00", "pending"), budget("9.00"), day)
    expect([never.verdict, never.entries, never.parent]).toEqual([{ _tag: "Ended", closed: true }, [], budget("9.00")])
  })

  test("and the allowance that gave it holds the rest again", () => {
    const giving = allowance("9.00", "open", dollars("4.00"))
    const parent = withHold({ ...giving, purse: { ...giving.purse, key_id: "key_0" } }, dollars("5.00"), day)
    const one = withoutHold(allowance("5.00", "open", dollars("4.00"), true), zero, dollars("1.00"), day)
    const before = { ...holding(dollars("8.00")), balance: dollars("8.50") }
    const ended = endAllowance(before, { ...allowance("5.00", "open"), ...one }, parent, day)
    expect(moved(ended.entries)).toEqual([
      ["release", dollars("4.00"), "allowance:key_1:ended"],
      ["reserve", signed("-4.00"), "allowance:key_0:key_1"]
    ])
    expect([purseOf(ended.parent), ended.wallet.reserved]).toEqual([["open", dollars("8.00")], dollars("8.00")])
  })
})

describe("what an allowance holds", () => {
  const held = dollars("5.00")
  const run = (hold: string): WalletRun => ({
    ...{ run_id: "run_1", status: "created", hold: dollars(hold), lease_token: null }
  })

  test("pays for the runs of a batch of its key", () => {
    const batch: KeyBudget = { ...budget("3.00"), parent: allowance("5.00", "open", held) }
    const all = { ...holding(held), balance: held }
    const admitted = decide(all, run("2.00"), { _tag: "Reserve" }, day, batch)
    expect(admitted.verdict).toEqual({ _tag: "Admitted" })
    expect(allowanceOf(admitted.budget)?.purse.held).toBe(dollars("3.00"))
    expect([admitted.wallet.reserved, admitted.wallet.allowances_held]).toEqual([held, dollars("3.00")])
    expect(allowanceOf({ ...budget("3.00"), parent: budget("5.00") })).toBeNull()
  })

  test("moves by what a run holds, and no entry is made of nothing", () => {
    const before = allowance("5.00", "open", held)
    expect(drawn(before, "run_1")).toEqual({ budget: before, movements: [], freed: zero })
    const counted = drawn(withHold(before, least, day), "run_1")
    expect([purseOf(counted.budget), counted.freed]).toEqual([["open", dollars("4.999999")], least])
    expect(counted.movements).toMatchObject([{ type: "release", amount: least, reference: "allowance:key_1:run_1" }])
    expect(refilled(before, "run_1", held)).toEqual({ budget: before, movements: [] })
  })

  test("is filled again as far as the wallet's money goes, and while it is open or kept for another", () => {
    const after = (state: PurseState, nested: boolean, free: string) => {
      const { budget: one, movements } = refilled(
        allowance("5.00", state, dollars("4.00"), nested),
        "run_1",
        signed(free)
      )
      return { held: one.purse?.held, by: movements.map(({ type, amount }) => `${type} ${usd(amount)}`) }
    }
    const full = { held: dollars("5.00"), by: ["reserve -1.00"] }
    const same = { held: dollars("4.00"), by: [] }
    expect([after("open", false, "9.00"), after("open", false, "1.00"), after("ended", true, "1.00")]).toEqual([
      full,
      full,
      full
    ])
    expect(after("open", false, "0.000001")).toEqual({ held: dollars("4.000001"), by: ["reserve -0.000001"] })
    expect([after("open", false, "0.00"), after("open", false, "-2.00")]).toEqual([same, same])
    expect([after("ended", false, "9.00"), after("closed", true, "9.00")]).toEqual([same, same])
  })
})
