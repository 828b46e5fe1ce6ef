/** Allowances during a turn: what opening and ending one moves, and in which budgets it counts. */
import { describe, expect, test } from "bun:test"
import type { ReadBudget } from "../../../src/layers/ledger/BudgetTurn.ts"
import { dollars, zero } from "../../../src/schema/money/Money.ts"
import type { KeyBudget, Purse } from "../../../src/schema/wallet/KeyBudget.ts"
import { allowance, booked, day, org_id, turnOf, walletWith } from "../../kit/turn-view.ts"

const read = (budget: KeyBudget, held_in: string | null = null): readonly [string, ReadBudget] => [
  budget.budget_id,
  { budget, version: 1n, parent_id: null, held_in, org_id, key_id: "key_a", lastAlert: null }
]
const budgetOf = (budget_id: string, limit: string, changed: Partial<KeyBudget> = {}): KeyBudget => ({
  ...{ budget_id, limit: dollars(limit), period: "total", reserved: zero, counted_on: day },
  ...{ spent_day: zero, spent_week: zero, spent_month: zero, spent_total: zero },
  ...changed
})
/** An allowance of $3.00. */
const allowanceOf = (purse: Partial<Purse> = {}, changed: Partial<KeyBudget> = {}): KeyBudget =>
  budgetOf("kbu_a", "3.00", {
    purse: { key_id: "key_a", state: "pending", held: zero, nested: false, ...purse },
    ...changed
  })
const opened = { state: "open", held: dollars("3.00") } as const
const reply = { command_id: "cmd_a" }
const open = allowance("open", "kbu_a", null, reply)
const end = allowance("end", "kbu_a", null, reply)
const holding = walletWith("10.00", { reserved: dollars("3.00"), allowances_held: dollars("3.00") })

describe("opening an allowance", () => {
  test("holds its amount in the wallet", () => {
    const { effects, replyTo } = turnOf([open], { budgets: new Map([read(allowanceOf())]) })
    expect(booked(effects)).toEqual(["reserve -3.00"])
    expect(effects.wallets).toEqual([{ ...holding, entry_seq: 1n }])
    expect(effects.budgets).toEqual([allowanceOf(opened)])
    expect(replyTo("cmd_a")).toEqual({ verdict: "Opened", transaction_id: "txn_1" })
  })

  test("is refused without the money, and says why", () => {
    const { effects, replyTo } = turnOf([open], {
      ...{ budgets: new Map([read(allowanceOf())]), wallets: [walletWith("2.00")] }
    })
    expect(replyTo("cmd_a")).toEqual({
      ...{ verdict: "Refused", status: "insufficient_balance", transaction_id: null },
      message: expect.stringContaining("this allowance would hold $3.00 and $2.00 is available")
    })
    expect(effects.budgets).toEqual([allowanceOf({ state: "closed" })])
    expect([effects.entries, effects.wallets]).toEqual([[], [walletWith("2.00")]])
  })

  test("counts in the budget of the key that gives it", () => {
    const budgets = new Map([read(allowanceOf({ nested: true }), "kbu_p"), read(budgetOf("kbu_p", "5.00"))])
    const { effects } = turnOf([allowance("open", "kbu_a", "kbu_p")], { budgets })
    expect(effects.budgets).toEqual([
      allowanceOf({ ...opened, nested: true }),
      budgetOf("kbu_p", "5.00", { reserved: dollars("3.00") })
    ])
  })

  test("is refused if that budget has too little, which two of one turn share", () => {
    const second = { ...allowanceOf({ nested: true, key_id: "key_b" }), budget_id: "kbu_b" }
    const budgets = new Map([
      ...[read(allowanceOf({ nested: true }), "kbu_p"), read(second, "kbu_p"), read(budgetOf("kbu_p", "5.00"))]
    ])
    const mail = [allowance("open", "kbu_a", "kbu_p"), allowance("open", "kbu_b", "kbu_p", reply)]
    const { effects, replyTo } = turnOf(mail, { budgets })
    expect(booked(effects)).toEqual(["reserve -3.00"])
    expect(replyTo("cmd_a")).toMatchObject({ verdict: "Refused", status: "over_budget" })
  })

  test("a second time changes nothing", () => {
    const { effects, replyTo } = turnOf([open], { budgets: new Map([read(allowanceOf(opened))]), wallets: [holding] })
    expect(replyTo("cmd_a")).toEqual({ verdict: "Stale", transaction_id: null })
    expect([effects.budgets, effects.entries, effects.wallets]).toEqual([[], [], [holding]])
  })
})

describe("ending an allowance", () => {
  test("returns what it holds", () => {
    const { effects, replyTo } = turnOf([end], { budgets: new Map([read(allowanceOf(opened))]), wallets: [holding] })
    expect(booked(effects)).toEqual(["release 3.00"])
    expect(effects.wallets).toEqual([walletWith("10.00", { entry_seq: 1n })])
    expect(effects.budgets).toEqual([allowanceOf({ state: "closed" })])
    expect(replyTo("cmd_a")).toEqual({ verdict: "Closed", transaction_id: "txn_1" })
  })

  test("leaves it open for its runs until they have ended", () => {
    const used = { held: dollars("2.00"), state: "open" } as const
    const wallets = [walletWith("10.00", { reserved: dollars("3.00"), allowances_held: dollars("2.00") })]
    const { effects, replyTo } = turnOf([end], {
      ...{ budgets: new Map([read(allowanceOf(used, { reserved: dollars("1.00") }))]), wallets }
    })
    expect(booked(effects)).toEqual(["release 2.00"])
    expect(effects.budgets).toMatchObject([{ purse: { state: "ended", held: 0n }, reserved: dollars("1.00") }])
    expect(replyTo("cmd_a")).toEqual({ verdict: "Ended", transaction_id: "txn_1" })
  })

  test("in the turn that opened it returns everything, and a second time nothing", () => {
    const mail = [allowance("open", "kbu_a"), allowance("end", "kbu_a"), end]
    const { effects, replyTo } = turnOf(mail, { budgets: new Map([read(allowanceOf())]) })
    expect(booked(effects)).toEqual(["reserve -3.00", "release 3.00"])
    expect(replyTo("cmd_a")).toEqual({ verdict: "Closed", transaction_id: null })
    expect(effects.budgets).toEqual([allowanceOf({ state: "closed" })])
  })

  test("gives the budget of the key that gave it the amount back", () => {
    const parent = budgetOf("kbu_p", "5.00", { reserved: dollars("3.00") })
    const budgets = new Map([read(allowanceOf({ ...opened, nested: true }), "kbu_p"), read(parent)])
    const { effects } = turnOf([allowance("end", "kbu_a", "kbu_p")], { budgets, wallets: [holding] })
    expect(effects.budgets.map(({ budget_id, reserved }) => [budget_id, reserved])).toEqual([
      ["kbu_a", zero],
      ["kbu_p", zero]
    ])
  })
})

const missing: ReadonlyArray<readonly [string, ReadonlyArray<KeyBudget>]> = [
  ["that does not exist", []],
  ["which is a budget without an allowance", [budgetOf("kbu_a", "3.00")]]
]
test.each(missing)("a command about an allowance %s changes nothing", (_, budgets) => {
  for (const command of [open, end]) {
    const { effects, replyTo } = turnOf([command], { budgets: new Map(budgets.map((one) => read(one))) })
    expect(replyTo("cmd_a")).toEqual({ verdict: "Unknown", transaction_id: null })
    expect([effects.entries, effects.budgets, effects.wallets]).toEqual([[], [], [walletWith("10.00")]])
  }
})
