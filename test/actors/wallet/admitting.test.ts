/** What a turn decides about a run that asks to be admitted: its hold, its slot, or the reason why it is refused. */
import { describe, expect, test } from "bun:test"
import { dollars, usd, zero } from "../../../src/schema/money/Money.ts"
import {
  booked,
  cancel,
  newRun,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

describe("a run that is admitted", () => {
  test("holds its amount, and starts at once if this process has a free slot", () => {
    const run = newRun("run_a", { key_id: "key_a", budget_id: null, input: '{"domain":"a.test"}' })
    const { effects, answer, claimants } = turnOf([reserve("run_a")], { runs: [run] })
    const attempts = [{ provider: "hunter", outcome: "started", duration_ms: 0, detail: null }]
    expect(booked(effects)).toEqual(["reserve -1.00"])
    expect(effects.wallets).toMatchObject([{ balance: dollars("10.00"), reserved: dollars("1.00") }])
    expect(effects.opened).toEqual([
      {
        ...{ run_id: "run_a", org_id, hold: dollars("1.00"), state: "running", provider: "hunter", side_effect: false },
        ...{
          worker_id: "worker_a",
          lease_token: "lease_1",
          attempts: JSON.stringify(attempts),
          free_bytes: null,
          label_budgets: []
        }
      }
    ])
    expect(answer.started).toMatchObject([
      {
        ...{ org_id, run_id: "run_a", capability: "email.find", endpoint: null, budget_id: null, key_id: "key_a" },
        ...{ input_hash: "hash of run_a", hold: dollars("1.00"), input: '{"domain":"a.test"}' },
        ...{ lease_token: "lease_1", attempts, job: null, plan: { providers: ["hunter"] } }
      }
    ])
    expect(answer.queued).toEqual([])
    expect(claimants).toEqual([{ run_id: "run_a", org_id, provider: "hunter", free: false }])
    expect({ ended: effects.ended, closed: effects.closed, signals: answer.signals }).toEqual({
      ...{ ended: [], closed: [], signals: [] }
    })
  })

  test("waits in the queue without a lease if there is no free slot", () => {
    const { effects, answer } = turnOf([reserve("run_a"), reserve("run_b")], {
      runs: [newRun("run_a"), newRun("run_b")],
      slots: 1
    })
    expect(effects.opened.map(({ run_id, state }) => [run_id, state])).toEqual([
      ["run_a", "running"],
      ["run_b", "queued"]
    ])
    expect(effects.opened[1]).toMatchObject({ worker_id: null, lease_token: null, attempts: "[]", provider: "hunter" })
    expect(answer.started.map(({ run_id }) => run_id)).toEqual(["run_a"])
    expect(answer.queued).toEqual([org_id])
    expect(booked(effects)).toEqual(["reserve -1.00", "reserve -1.00"])
  })

  test("asks for a slot as a free run only if it holds no money", () => {
    const cent = newRun("run_b", { hold: dollars("0.000001") })
    const { claimants, effects } = turnOf([reserve("run_a"), reserve("run_b")], {
      runs: [newRun("run_a", { hold: zero }), cent],
      wallets: [walletWith("0.000001")]
    })
    expect(claimants.map(({ free }) => free)).toEqual([true, false])
    expect(effects.opened).toHaveLength(2)
  })

  test("takes no share of a provider that it calls through the organization's own account", () => {
    const own = [{ provider: "hunter", fee: "0.00", fallback: false }]
    const { claimants, effects } = turnOf([reserve("run_a")], { runs: [newRun("run_a", { plan: { own } })] })
    expect(claimants).toMatchObject([{ provider: "" }])
    expect(effects.opened).toMatchObject([{ provider: "hunter" }])
    expect(JSON.parse(effects.opened[0]?.attempts ?? "")).toMatchObject([{ provider: "hunter", account: "own" }])
  })

  test("is admitted without a provider if its plan names none", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [newRun("run_a", { plan: { providers: [] } })] })
    expect(effects.opened).toMatchObject([{ provider: "" }])
    expect(JSON.parse(effects.opened[0]?.attempts ?? "")).toEqual([
      { provider: "", outcome: "started", duration_ms: 0, detail: null }
    ])
  })

  test("says whether it changes something outside", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [newRun("run_a", { plan: { side_effect: true } })] })
    expect(effects.opened).toMatchObject([{ side_effect: true }])
  })
})

describe("a run that is refused", () => {
  const refusals = [
    ["money", { wallets: [walletWith("0.99")] }, "failed", "insufficient_balance"],
    [
      "room in the per-run limit",
      { wallets: [walletWith("9.00", { per_run_limit: dollars("0.50") })] },
      "blocked",
      "cost_limit_exceeded"
    ],
    [
      "room in the daily limit",
      { wallets: [walletWith("9.00", { daily_limit: dollars("0.50") })] },
      "blocked",
      "budget_exceeded"
    ],
    [
      "a wallet that is not suspended",
      { wallets: [walletWith("9.00", { suspended: true })] },
      "blocked",
      "wallet_suspended"
    ]
  ] as const
  test.each(refusals)("ends without %s, holds nothing and takes no slot", (_, given, status, error_code) => {
    const { effects, answer, claimants } = turnOf([reserve("run_a")], { ...given, runs: [newRun("run_a")] })
    expect(effects.ended).toMatchObject([
      {
        ...{ org_id, run_id: "run_a", capability: "email.find", lease_token: null, status, error_code },
        ...{ charged: null, provider_cost: null, provider: null, attempts: null, hints: null, control: null },
        ...{ result_of: null, result: null }
      }
    ])
    expect(effects.ended[0]?.error_message).toContain(error_code === "wallet_suspended" ? "books" : "$")
    expect([effects.opened, effects.closed, effects.entries, answer.started, claimants]).toEqual([[], [], [], [], []])
    expect(answer.signals).toEqual(["run_a"])
    // Written, so that the turn is undone if another one has changed the wallet meanwhile.
    expect(effects.wallets).toEqual(given.wallets)
  })

  test("says what its organization may spend after the turn", () => {
    const wallets = [walletWith("0.75"), walletWith("3.00", { org_id: "org_b" })]
    const runs = [newRun("run_a"), newRun("run_b", { org_id: "org_b" })]
    const { answer } = turnOf([reserve("run_a"), reserve("run_b", { org_id: "org_b" })], { runs, wallets })
    expect(Array.from(answer.available, ([org, amount]) => [org, usd(amount)])).toEqual([[org_id, "0.75"]])
  })

  test("does not hinder the next run, which fits", () => {
    const runs = [newRun("run_a"), newRun("run_b", { hold: dollars("2.00") }), newRun("run_c")]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b"), reserve("run_c")], {
      runs,
      wallets: [walletWith("2.00")]
    })
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_a", "run_c"])
    expect(effects.ended).toMatchObject([{ run_id: "run_b", error_code: "insufficient_balance" }])
  })
})

test("a run is admitted once, however often the command is stored", () => {
  const again = [reserve("run_a"), reserve("run_a", { command_id: "cmd_a" })]
  const twice = turnOf(again, { runs: [newRun("run_a")] })
  expect(booked(twice.effects)).toEqual(["reserve -1.00"])
  expect(twice.replyTo("cmd_a")).toEqual({ verdict: "Stale", status: "running" })
  expect(twice.claimants).toHaveLength(1)
  const later = turnOf([reserve("run_a"), reserve("run_b")], { runs: [runningRun("run_a"), queuedRun("run_b")] })
  expect([later.effects.opened, later.effects.entries, later.effects.ended]).toEqual([[], [], []])
})

test("a run that does not exist is not admitted", () => {
  const { effects, replyTo } = turnOf([reserve("run_x", { command_id: "cmd_a" })])
  expect(replyTo("cmd_a")).toEqual({ verdict: "Stale", status: null })
  expect([effects.opened, effects.ended, effects.entries]).toEqual([[], [], []])
})

test("a run that is refused or cancelled counts what it keeps, and one that is admitted does not", () => {
  const asked = (run_id: string, bytes: number) => newRun(run_id, { request_bytes: () => bytes })
  const runs = [asked("run_a", 100), asked("run_b", 30), queuedRun("run_c", { request_bytes: () => 5 })]
  const turn = (balance: string) =>
    turnOf([reserve("run_a"), reserve("run_b"), cancel("run_c")], { runs, wallets: [walletWith(balance)] }).effects.free
      .stored
  expect(turn("0.00")).toEqual(new Map([[org_id, 3n * 1_024n + 135n]]))
  expect(turn("5.00")).toEqual(new Map([[org_id, 1_024n + 5n]]))
})
