/** The limits of a wallet's decisions, each at the amount that still fits and a microdollar above. */
import { describe, expect, test } from "bun:test"
import { dollars, MicroUsd, negate, plus, signed, zero } from "../../src/schema/money/Money.ts"
import type { KeyBudget } from "../../src/schema/wallet/KeyBudget.ts"
import {
  changedLimits,
  type Command,
  decide,
  type LimitsChange,
  type Wallet,
  type WalletLimits,
  type WalletRun
} from "../../src/schema/wallet/Wallet.ts"

const day = "2026-11-21"
const wallet: Wallet = {
  ...{ org_id: "org_1", balance: dollars("10.00"), reserved: dollars("1.00"), allowances_held: zero, entry_seq: 2n },
  ...{ per_run_limit: null, daily_limit: null, spent_day: day, spent: dollars("2.00") }
}
const created = (hold: MicroUsd): WalletRun => ({ run_id: "run_1", status: "created", hold, lease_token: null })
const running: WalletRun = { run_id: "run_1", status: "running", hold: dollars("1.00"), lease_token: "lease" }
const reserve = (hold: MicroUsd, changed: Partial<Wallet> = {}, more: Partial<WalletRun> = {}, on = day) =>
  decide({ ...wallet, ...changed }, { ...created(hold), ...more }, { _tag: "Reserve" }, on)

/** Asserts that `most` is admitted, and that a microdollar more is refused. Returns the refusal. */
const refusalAbove = (most: string, ...more: [changed?: Partial<Wallet>, more?: Partial<WalletRun>, on?: string]) => {
  const hold = dollars(most)
  const admitted = reserve(hold, ...more)
  expect(admitted.verdict).toEqual({ _tag: "Admitted" })
  expect(admitted.entries.map(({ type, amount }) => [type, amount])).toEqual([["reserve", negate(hold)]])
  const refused = reserve(plus(hold, MicroUsd(1n)), ...more)
  expect(refused.entries).toEqual([])
  return refused.verdict._tag === "Refused" ? refused.verdict : expect.unreachable(refused.verdict._tag)
}

describe("a run is admitted", () => {
  test("up to what is available", () => {
    const refused = refusalAbove("9.00")
    expect(refused.code).toBe("insufficient_balance")
    const { entries, wallet: after } = reserve(dollars("9.00"))
    expect(entries).toMatchObject([{ seq: 3n, balance_after: dollars("10.00"), reserved_after: dollars("10.00") }])
    expect(after).toEqual({ ...wallet, reserved: dollars("10.00"), entry_seq: 3n })
    expect(refused.message).toContain("and $9.00 is available;")
    const messageAt = (balance: string) => reserve(dollars("0.01"), { balance: signed(balance) }).verdict
    expect(messageAt("1.00")).toMatchObject({ message: expect.stringContaining("and $0.00 is available;") })
    expect(messageAt("0.99")).toMatchObject({ message: expect.stringContaining("and $0.01 is owed after a refund") })
  })

  test("unless a guard refuses it, also if it is free", () => {
    for (const hold of [zero, dollars("0.01")]) {
      const refused = reserve(hold, {}, { guarded: { code: "repeat_guard", message: "five failures" } })
      expect(refused.verdict).toMatchObject({ _tag: "Refused", code: "repeat_guard", message: "five failures" })
    }
  })

  test("once", () => {
    for (const status of ["queued", "running", "succeeded"] as const) {
      const again = reserve(dollars("0.01"), {}, { status })
      expect([again.verdict, again.entries]).toEqual([{ _tag: "Stale", status }, []])
    }
  })

  test("if it is free, also without money", () => {
    const free = reserve(zero, { balance: signed("-5.00"), daily_limit: zero, per_run_limit: zero })
    expect([free.verdict, free.entries]).toEqual([{ _tag: "Admitted" }, []])
  })

  test("up to the per-run limit, and to its own max_total", () => {
    expect(refusalAbove("0.50", { per_run_limit: dollars("0.50") }).code).toBe("cost_limit_exceeded")
    const refused = refusalAbove("0.40", {}, { hold_max: dollars("0.40") })
    expect(refused.message).toContain("would hold $0.400001, above its routing.max_total of $0.40;")
  })

  test("up to the daily limit, which counts what was spent today and what runs hold, and not what allowances hold", () => {
    const daily_limit = dollars("5.00")
    expect(refusalAbove("2.00", { daily_limit })).toMatchObject({ code: "budget_exceeded", control: null })
    expect(refusalAbove("2.60", { daily_limit, allowances_held: dollars("0.60") }).message).toContain(
      "with $2.40 spent"
    )
    expect(refusalAbove("4.00", { daily_limit }, {}, "2026-11-22").message).toContain("with $1.00 spent or held today")
  })

  test("up to the budget of its key, of its batch and of its allowance, and not in an allowance that has ended", () => {
    const key: KeyBudget = {
      ...{ budget_id: "bud_1", limit: dollars("3.00"), period: "day", reserved: dollars("0.50"), counted_on: day },
      ...{ spent_day: dollars("1.00"), spent_week: zero, spent_month: zero, spent_total: zero }
    }
    const batch = { ...key, budget_id: `bat_${"0".repeat(26)}` }
    const purse = { key_id: "key_1", state: "open", held: zero, nested: false } as const
    const at = (hold: string, budget: KeyBudget) => {
      const { verdict } = decide(wallet, created(dollars(hold)), { _tag: "Reserve" }, day, budget)
      return verdict._tag === "Refused" ? [verdict.control, verdict.message] : [verdict._tag]
    }
    for (const budget of [key, batch, { ...key, purse }, { ...batch, limit: dollars("9.00"), parent: key }])
      expect(at("1.50", budget)).toEqual(["Admitted"])
    const saying = (text: string) => expect.stringContaining(text)
    const counted = "this run holds up to $1.500001; with $1.50 spent or held it would exceed"
    expect(at("1.500001", key)).toEqual(["key_budget", saying(`${counted} the budget of this API key, $3.00 per day;`)])
    expect(at("1.500001", { ...key, period: "total", spent_total: dollars("1.00") })[1]).toContain("$3.00 in total;")
    expect(at("1.500001", batch)).toEqual(["batch_max_total", saying(`${counted} what its batch may spend, $3.00;`)])
    expect(at("1.500001", { ...key, purse })).toEqual([
      "key_budget",
      saying(`${counted} the allowance of this API key, $3.00 in total;`)
    ])
    expect(at("1.500001", { ...batch, limit: dollars("9.00"), parent: key })[0]).toBe("key_budget")
    for (const state of ["pending", "ended", "closed"] as const)
      expect(at("0.01", { ...key, purse: { ...purse, state } })).toEqual(["key_budget", saying("has ended")])
  })
})

describe("the end of a run", () => {
  const settle = (charge: string, more: Partial<Extract<Command, { _tag: "Settle" }>> = {}, run = running) =>
    decide(
      wallet,
      run,
      { _tag: "Settle", lease_token: "lease", status: "succeeded", charge: signed(charge), ...more },
      day
    )
  const posted = ({ entries }: ReturnType<typeof decide>): ReadonlyArray<readonly [string, MicroUsd]> =>
    entries.map(({ type, amount }) => [type, amount])

  test.each([
    ["0.40", "0.40", "0.60"],
    ["0.000001", "0.000001", "0.999999"],
    ["1.00", "1.00", null],
    ["1.000001", "1.00", null],
    ["0.999999", "0.999999", "0.000001"],
    ["0.00", null, "1.00"],
    ["-0.50", null, "1.00"]
  ])("reported with a cost of %s charges %s and gives back %s", (reported, charged, back) => {
    const settled = settle(reported)
    expect(settled.verdict).toEqual({ _tag: "Settled", charge: dollars(charged ?? "0") })
    expect(posted(settled)).toEqual([
      ...(charged === null ? [] : [["settle", signed(`-${charged}`)] as const]),
      ...(back === null ? [] : [["release", dollars(back)] as const])
    ])
    expect(settled.wallet).toMatchObject({
      ...{ reserved: zero, spent: plus(wallet.spent, dollars(charged ?? "0")), spent_day: day }
    })
  })

  test("without a result is free, and only the worker with its lease can end it", () => {
    expect(settle("0.40", { status: "no_match" }).verdict).toEqual({ _tag: "Settled", charge: dollars("0.40") })
    for (const status of ["failed", "timed_out"] as const)
      expect(settle("0.40", { status }).verdict).toEqual({ _tag: "Settled", charge: zero })
    expect(settle("0.40", { lease_token: "other" }).verdict).toEqual({ _tag: "Stale", status: "running" })
    expect(settle("0.40", { status: "running" }).verdict).toEqual({ _tag: "Stale", status: "running" })
    expect(settle("0.40", {}, { ...running, status: "queued" }).verdict).toEqual({ _tag: "Stale", status: "queued" })
  })

  test("by cancellation gives back what it holds, which is nothing before it was admitted", () => {
    const cancel = (status: WalletRun["status"]) => decide(wallet, { ...running, status }, { _tag: "Cancel" }, day)
    expect(posted(cancel("queued"))).toEqual([["release", dollars("1.00")]])
    expect([cancel("created").verdict, posted(cancel("created"))]).toEqual([{ _tag: "Cancelled" }, []])
    expect(cancel("succeeded").verdict).toEqual({ _tag: "Stale", status: "succeeded" })
  })
})

test("a credit changes the balance and nothing else, and a command about a run that does not exist nothing", () => {
  const reference = "ref_1:share:1"
  const command = { _tag: "Credit", type: "bonus", amount: dollars("0.01"), reference, note: "share" } as const
  const credited = decide(wallet, null, command, day)
  expect(credited.verdict).toEqual({ _tag: "Credited", seq: 3n })
  expect(credited.wallet).toEqual({ ...wallet, balance: dollars("10.01"), entry_seq: 3n })
  for (const _tag of ["Reserve", "Cancel"] as const) {
    const stale = decide(wallet, null, { _tag }, day)
    expect([stale.verdict, stale.wallet, stale.entries]).toEqual([{ _tag: "Stale", status: null }, wallet, []])
  }
})

describe("a caller that may not loosen limits", () => {
  const limits = { per_run_limit: dollars("1.00"), daily_limit: dollars("5.00") }
  const change = (wanted: LimitsChange, before: WalletLimits = limits) => {
    const changed = changedLimits(before, { may_loosen: false, ...wanted }, day, 0n)
    return typeof changed === "string" ? expect.unreachable(changed) : changed
  }

  test("sets the same, a lower or a first limit, and keeps the one that it does not name", () => {
    expect(change({ per_run_limit: dollars("1.00"), daily_limit: dollars("4.99") }).daily_limit).toBe(dollars("4.99"))
    expect(change({ per_run_limit: dollars("0.10") })).toEqual({ ...limits, per_run_limit: dollars("0.10") })
    const none = { per_run_limit: null, daily_limit: null }
    expect(change({ daily_limit: dollars("9.00") }, none).daily_limit).toBe(dollars("9.00"))
  })

  test("raises and removes none", () => {
    for (const command of [
      { per_run_limit: dollars("1.000001") },
      { daily_limit: dollars("5.000001") },
      { per_run_limit: null },
      { daily_limit: null }
    ]) {
      expect(changedLimits(limits, { ...command, may_loosen: false }, day, 0n)).toBe("LooseningRefused")
      expect(change({ ...command, may_loosen: true })).toMatchObject(command)
      expect(changedLimits(limits, command, day, 0n)).toMatchObject(command)
    }
  })
})
