/** The budgets of API keys and batches during a turn: what counts in them, what they refuse, and when that is told. */
import { describe, expect, test } from "bun:test"
import type { ReadBudget } from "../../../src/layers/ledger/BudgetTurn.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { dollars, zero } from "../../../src/schema/money/Money.ts"
import type { KeyBudget } from "../../../src/schema/wallet/KeyBudget.ts"
import { newValueBudget, valueBudgetId } from "../../../src/schema/wallet/LabelBudget.ts"
import {
  cancel,
  credit,
  day,
  newRun,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  settle,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

type Changed = Partial<Omit<ReadBudget, "budget">> & Partial<KeyBudget>

/** A budget of $2.00 a day, as the turn read it. */
const budgetOf = (budget_id: string, changed: Changed = {}): readonly [string, ReadBudget] => {
  const { parent_id = null, lastAlert: told = null, ...budget } = changed
  return [
    budget_id,
    {
      ...{ version: 1n, parent_id, held_in: null, org_id, key_id: "key_a", lastAlert: told },
      budget: {
        ...{ budget_id, limit: dollars("2.00"), period: "day", reserved: zero, counted_on: day },
        ...{ spent_day: zero, spent_week: zero, spent_month: zero, spent_total: zero },
        ...budget
      }
    }
  ]
}
const spent = (amount: string): Changed => {
  const micros = dollars(amount)
  return { spent_day: micros, spent_week: micros, spent_month: micros, spent_total: micros }
}
const counted = ({ effects }: ReturnType<typeof turnOf>) =>
  effects.budgets.map(({ budget_id, reserved, spent_day }) => [budget_id, reserved, spent_day])
const told = ({ effects }: ReturnType<typeof turnOf>) =>
  effects.budget_alerts.map((alert) => [alert.budget_id, alert.lastAlert.reached])
const ofKey = { budget_id: "kbu_a", key_id: "key_a" }
const batch = newId("bat")

describe("a run of a key with a budget", () => {
  test("counts with its hold, and then with its charge", () => {
    const mail = [reserve("run_a"), settle("run_b", { charge: dollars("0.10") })]
    const turn = turnOf(mail, {
      ...{ runs: [newRun("run_a", ofKey), runningRun("run_b", ofKey)] },
      budgets: new Map([budgetOf("kbu_a", { reserved: dollars("1.00") })])
    })
    expect(counted(turn)).toEqual([["kbu_a", dollars("1.00"), dollars("0.10")]])
    expect(turn.effects.budgets[0]).not.toHaveProperty("parent")
  })

  test("is refused together with others of the turn that use up the budget", () => {
    const { effects } = turnOf([reserve("run_a"), reserve("run_b"), reserve("run_c")], {
      ...{ runs: ["run_a", "run_b", "run_c"].map((run_id) => newRun(run_id, ofKey)) },
      budgets: new Map([budgetOf("kbu_a")])
    })
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_a", "run_b"])
    expect(effects.ended).toMatchObject([
      { run_id: "run_c", status: "blocked", error_code: "budget_exceeded", control: "key_budget" }
    ])
  })

  test("changes no other budget, and a command without an effect changes none", () => {
    const budgets = new Map([budgetOf("kbu_a"), budgetOf("kbu_b")])
    const turn = turnOf([cancel("run_a"), reserve("run_b"), credit("1.00")], {
      ...{ runs: [runningRun("run_a", ofKey), newRun("run_b", { ...ofKey, budget_id: "kbu_b" })], budgets }
    })
    expect(counted(turn)).toEqual([["kbu_b", dollars("1.00"), zero]])
    expect(told(turn)).toEqual([])
  })

  test("fails the turn if its budget was not read", () => {
    expect(() => turnOf([reserve("run_a")], { runs: [newRun("run_a", ofKey)] })).toThrow(
      "run_a counts against kbu_a, which was not read."
    )
  })
})

describe("a run of a batch", () => {
  const run = (run_id: string) => newRun(run_id, { budget_id: batch, key_id: "key_a" })
  const budgetsOf = (ofBatch: Changed, ofItsKey: Changed) =>
    new Map([budgetOf(batch, { parent_id: "kbu_a", ...ofBatch }), budgetOf("kbu_a", ofItsKey)])

  test("counts in the batch's budget and in that of its key", () => {
    const mail = [reserve("run_a"), reserve("run_b"), cancel("run_b")]
    const turn = turnOf(mail, { runs: [run("run_a"), run("run_b")], slots: 1, budgets: budgetsOf({}, {}) })
    expect(counted(turn)).toEqual([
      [batch, dollars("1.00"), zero],
      ["kbu_a", dollars("1.00"), zero]
    ])
    expect(turn.effects.budgets.map((one) => "parent" in one)).toEqual([false, false])
  })

  test("counts beside a run of the key itself, so that together they keep to the key's budget", () => {
    const turn = turnOf([reserve("run_a"), reserve("run_b"), reserve("run_c")], {
      ...{ runs: [run("run_a"), newRun("run_b", ofKey), run("run_c")], budgets: budgetsOf({}, {}) }
    })
    expect(turn.effects.ended).toMatchObject([{ run_id: "run_c", control: "key_budget" }])
    expect(counted(turn)).toEqual([
      [batch, dollars("1.00"), zero],
      ["kbu_a", dollars("2.00"), zero]
    ])
  })

  test("that its key's budget refuses tells the key's owner, and only that", () => {
    const turn = turnOf([reserve("run_a")], { runs: [run("run_a")], budgets: budgetsOf({}, spent("1.50")) })
    expect(turn.effects.ended).toMatchObject([{ control: "key_budget" }])
    expect(told(turn)).toEqual([["kbu_a", 100]])
  })

  test("that its batch refuses tells nothing, whatever the batch has spent", () => {
    const budgets = budgetsOf({ limit: dollars("0.50") }, spent("0.50"))
    const turn = turnOf([reserve("run_a")], { runs: [run("run_a")], budgets })
    expect(turn.effects.ended).toMatchObject([{ control: "batch_max_total" }])
    expect(told(turn)).toEqual([])
    const charged = turnOf([settle("run_a", { charge: dollars("0.90") })], {
      runs: [runningRun("run_a", { budget_id: batch })],
      budgets: new Map([budgetOf(batch, { limit: dollars("1.00"), reserved: dollars("1.00") })])
    })
    expect([counted(charged), told(charged)]).toEqual([[[batch, zero, dollars("0.90")]], []])
  })
})

describe("the owner of a budget", () => {
  test("hears which parts of it were reached, with what was spent", () => {
    const turn = turnOf([settle("run_a", { charge: dollars("0.70") })], {
      runs: [runningRun("run_a", ofKey)],
      budgets: new Map([budgetOf("kbu_a", { reserved: dollars("1.00"), ...spent("0.90") })])
    })
    expect(turn.effects.budget_alerts).toEqual([
      {
        ...{ budget_id: "kbu_a", org_id, key_id: "key_a" },
        lastAlert: { reached: 80, limit: dollars("2.00"), period: "day", starts_on: day },
        events: [50, 80].map((percent) =>
          expect.objectContaining({ control: "key_budget", key_id: "key_a", percent, spent: "1.60", limit: "2.00" })
        )
      }
    ])
  })

  test("hears each part once", () => {
    const before = { reached: 50, limit: dollars("2.00"), period: "day", starts_on: day } as const
    const turn = turnOf([settle("run_a", { charge: dollars("0.10") })], {
      runs: [runningRun("run_a", ofKey)],
      budgets: new Map([budgetOf("kbu_a", { reserved: dollars("1.00"), ...spent("1.00"), lastAlert: before })])
    })
    expect(told(turn)).toEqual([])
    expect(counted(turn)).toEqual([["kbu_a", zero, dollars("1.10")]])
  })

  test("hears that it is used up when it refuses a run, and the budget is written with that", () => {
    const turn = turnOf([reserve("run_a")], {
      ...{ runs: [newRun("run_a", ofKey)], budgets: new Map([budgetOf("kbu_a", spent("1.50"))]) }
    })
    expect(told(turn)).toEqual([["kbu_a", 100]])
    expect(counted(turn)).toEqual([["kbu_a", zero, dollars("1.50")]])
  })

  test("hears nothing when another control refuses a run", () => {
    const turn = turnOf([reserve("run_a")], {
      ...{ runs: [newRun("run_a", { ...ofKey, hold_max: dollars("0.60") })] },
      budgets: new Map([budgetOf("kbu_a", spent("1.50"))])
    })
    expect(turn.effects.ended).toMatchObject([{ error_code: "cost_limit_exceeded", control: null }])
    expect(told(turn)).toEqual([])
    expect(counted(turn)).toEqual([])
  })

  const refusals = [
    ["of the whole limit, if something was spent", ["2.00"], [["kbu_a", 100]]],
    ["above the limit does not, because it fits no such budget", ["2.01"], []],
    ["above the limit does not hide one that does", ["1.30", "5.00"], [["kbu_a", 100]]],
    ["of a smaller run does not hide a larger one", ["1.30", "0.90"], [["kbu_a", 100]]],
    ["of a larger run counts after a smaller one", ["0.90", "1.30"], [["kbu_a", 100]]],
    ["because of open runs does not", ["0.90"], []]
  ] as const
  test.each(refusals)("hears that it is used up by a refusal: one %s", (_, holds, alerts) => {
    const runs = holds.map((hold, at) => newRun(`run_${at}`, { ...ofKey, hold: dollars(hold) }))
    const reached = { reached: 50, limit: dollars("2.00"), period: "day", starts_on: day } as const
    const turn = turnOf(
      runs.map(({ run_id }) => reserve(run_id)),
      {
        runs: [...runs, queuedRun("run_open", { ...ofKey, hold: dollars("0.50") })],
        budgets: new Map([budgetOf("kbu_a", { reserved: dollars("0.50"), ...spent("1.00"), lastAlert: reached })])
      }
    )
    expect(turn.effects.ended).toMatchObject(runs.map(({ run_id }) => ({ run_id, control: "key_budget" })))
    expect(told(turn)).toEqual(alerts.map((one) => [...one]))
  })
})

describe("a value of a label in which no run was counted", () => {
  const ask = { budget_id: valueBudgetId(org_id, "customer", "new"), org_id, label: "customer", value: "new" }
  const labelled = (run_id: string) => newRun(run_id, { metadata: '{"customer":"new"}' })
  const given = (balance: string, limit: string) => ({
    ...{
      runs: ["run_a", "run_b", "run_c"].map(labelled),
      wallets: [walletWith(balance, { budget_labels: ["customer"] })]
    },
    budgets: new Map([
      budgetOf(ask.budget_id, { ...newValueBudget(ask, dollars(limit), "total"), key_id: ask.budget_id, version: null })
    ])
  })
  const both = [reserve("run_a"), reserve("run_b")]

  test("counts the runs of one turn together", () => {
    const turn = turnOf(both, given("10.00", "1.50"))
    expect(turn.effects.opened).toMatchObject([{ run_id: "run_a", label_budgets: [ask.budget_id] }])
    expect(turn.effects.ended).toMatchObject([{ run_id: "run_b", control: "label_budget" }])
    expect(turn.effects.budgets).toMatchObject([{ budget_id: ask.budget_id, reserved: dollars("1.00") }])
  })

  test("is not stored when its runs are refused", () => {
    for (const [balance, limit] of [
      ["0.00", "5.00"],
      ["10.00", "0.50"]
    ] as const)
      expect(turnOf(both, given(balance, limit)).effects).toMatchObject({ opened: [], budgets: [], budget_alerts: [] })
  })

  test("limits a run that a payment earlier in the turn made possible", () => {
    const turn = turnOf([reserve("run_a"), credit("5.00"), reserve("run_b"), reserve("run_c")], given("0.00", "1.50"))
    expect(turn.effects.opened).toMatchObject([{ run_id: "run_b" }])
    expect(turn.effects.ended).toMatchObject([
      { run_id: "run_a", error_code: "insufficient_balance" },
      { run_id: "run_c", control: "label_budget" }
    ])
    expect(turn.effects.budgets).toMatchObject([{ reserved: dollars("1.00") }])
  })
})
