/** Reuse during a turn: one run of an input buys, and the others take its result, wait for it, or buy none. */
import { describe, expect, test } from "bun:test"
import { inputKey, noReuse, type ReuseView } from "../../../src/layers/guards/ReuseTurn.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { joinsMax, type Reusable, type Reuse } from "../../../src/schema/guards/Reuse.ts"
import {
  booked,
  cancel,
  newRun,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  settle,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

const input_hash = "hash_a"
const key = inputKey({ org_id, input_hash })
/** A run that asks for reuse of one input. */
const asking = (run_id: string, reuse: Partial<Reuse> = {}, changed: Parameters<typeof newRun>[1] = {}) =>
  newRun(run_id, {
    input_hash,
    reuses: true,
    plan: { reuse: { mode: "prefer", max_age_seconds: 60, ...reuse } },
    ...changed
  })
const earlier: Reusable = { run_id: "run_old", provider: "apollo", charged: dollars("0.25"), bytes: 100 }
const buying = (run_id: string, joins = 0) => ({ buyers: new Map([[key, { run_id, joins }]]) })
const reuseOf = (view: Partial<ReuseView>) => ({ reuse: { ...noReuse, ...view } })
const none = { claimed: [], joined: [], unclaimed: [], parted: [], again: [], results: [] }
const claim = (run_id: string) => ({ org_id, run_id, input_hash })

describe("a run whose input was bought before", () => {
  test("takes that result, costs nothing and calls nobody", () => {
    const { effects, answer, claimants } = turnOf([reserve("run_a", { command_id: "cmd_a" })], {
      ...{ runs: [asking("run_a")], ...reuseOf({ results: new Map([["run_a", earlier]]) }) }
    })
    expect(effects.ended).toEqual([
      {
        ...{ org_id, run_id: "run_a", capability: "email.find", lease_token: null, status: "succeeded" },
        ...{ charged: 0n, provider_cost: null, provider: "apollo", attempts: "[]", hints: null, control: null },
        ...{ error_code: null, error_message: null, result_of: null, result: null },
        reuse: { reused_from: "run_old", copies: "run_old", shares: null, saved: dollars("0.25") }
      }
    ])
    expect([effects.opened, effects.closed, effects.entries, claimants]).toEqual([[], [], [], []])
    // Written, so that the turn is undone if another one has changed the wallet meanwhile.
    expect(effects.wallets).toEqual([walletWith("10.00")])
    expect([answer.signals, effects.replies]).toEqual([["run_a"], []])
  })

  const found = { run_id: "run_raw", provider: "hunter", charged: "40000", result: '{"email":"a@b.test"}' }
  test("as a raw result takes what its adapter read", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [asking("run_a", { found })] })
    expect(effects.ended).toMatchObject([
      {
        ...{ provider: "hunter", result: '{"email":"a@b.test"}', charged: 0n },
        reuse: { reused_from: "run_raw", copies: null, saved: dollars("0.04") }
      }
    ])
  })

  test("takes the result of the same input before a raw one", () => {
    const results = new Map([["run_a", earlier]])
    const { effects } = turnOf([reserve("run_a")], { runs: [asking("run_a", { found })], ...reuseOf({ results }) })
    expect(effects.ended).toMatchObject([{ reuse: { reused_from: "run_old" } }])
  })

  test("takes it even if its wallet is empty, but not if the wallet is suspended", () => {
    const given = { runs: [asking("run_a")], ...reuseOf({ results: new Map([["run_a", earlier]]) }) }
    const empty = turnOf([reserve("run_a")], { ...given, wallets: [walletWith("0.00")] })
    expect(empty.effects.ended).toMatchObject([{ status: "succeeded" }])
    const suspended = turnOf([reserve("run_a")], { ...given, wallets: [walletWith("9.00", { suspended: true })] })
    expect(suspended.effects.ended).toMatchObject([{ status: "blocked", error_code: "wallet_suspended" }])
  })

  test("is not decided again once it was admitted, has ended, or is cancelled", () => {
    const results = new Map([["run_a", earlier]])
    const reuses = { reuses: true, input_hash, plan: asking("run_a").plan }
    for (const run of [runningRun("run_a", reuses), { ...queuedRun("run_a", reuses), status: "succeeded" as const }]) {
      const { effects, replyTo } = turnOf([reserve("run_a", { command_id: "cmd_a" })], {
        ...{ runs: [run], ...reuseOf({ results }) }
      })
      expect([effects.ended, effects.reuse]).toEqual([[], none])
      expect(replyTo("cmd_a")).toEqual({ verdict: "Stale", status: run.status })
    }
    const { effects } = turnOf([cancel("run_a")], { runs: [asking("run_a")], ...reuseOf({ results }) })
    expect(effects.ended).toMatchObject([{ status: "cancelled" }])
  })
})

describe("a run whose input nobody has bought", () => {
  test("buys it, and others may wait for it from then on", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [asking("run_a")] })
    expect(booked(effects)).toEqual(["reserve -1.00"])
    expect(effects.reuse).toEqual({ ...none, claimed: [claim("run_a")] })
  })

  test("ends without a purchase if it may only reuse", () => {
    const { effects, claimants } = turnOf([reserve("run_a")], { runs: [asking("run_a", { mode: "only" })] })
    expect(effects.ended).toMatchObject([
      { run_id: "run_a", status: "no_match", error_code: "no_match", charged: null, attempts: null }
    ])
    expect(effects.ended[0]?.error_message).toContain("a run with reuse.mode prefer buys one")
    expect([effects.opened, effects.entries, claimants]).toEqual([[], [], []])
    expect(effects.reuse).toEqual({ ...none, parted: ["run_a"] })
  })

  test("is bought by each run that does not ask for reuse, and nobody waits for those", () => {
    const runs = [newRun("run_a", { input_hash }), newRun("run_b", { input_hash }), asking("run_c")]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b"), reserve("run_c")], { runs })
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_a", "run_b", "run_c"])
    expect(effects.reuse).toEqual({ ...none, claimed: [claim("run_c")] })
  })

  test("claims nothing if it is not known what its input is", () => {
    const unknown = { input_hash: null }
    const runs = [asking("run_a", {}, unknown), asking("run_b", {}, unknown)]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b")], { runs })
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_a", "run_b"])
    expect(effects.reuse).toEqual(none)
  })

  test("that is refused or cancelled waits for nobody any longer", () => {
    const runs = [
      asking("run_a", {}, { hold: dollars("50.00") }),
      newRun("run_b", { hold: dollars("50.00") }),
      newRun("run_c")
    ]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b"), cancel("run_c")], { runs })
    expect(effects.ended.map(({ status }) => status)).toEqual(["failed", "failed", "cancelled"])
    // A cancellation does not read whether the run waits. A run that never asked for reuse does not.
    expect(effects.reuse).toEqual({ ...none, parted: ["run_a", "run_c"] })
  })
})

describe("a run whose input another one is buying", () => {
  test("waits for that one, without a hold", () => {
    const { effects, replyTo } = turnOf([reserve("run_b", { command_id: "cmd_a" })], {
      ...{ runs: [asking("run_b")], ...reuseOf(buying("run_a")) }
    })
    expect(effects.reuse).toEqual({ ...none, joined: [{ org_id, run_id: "run_b", joined: "run_a" }] })
    expect([effects.ended, effects.opened, effects.entries]).toEqual([[], [], []])
    expect(effects.wallets).toEqual([walletWith("10.00")])
    expect(replyTo("cmd_a")).toBeUndefined()
  })

  test("waits for the one that was admitted before it in the turn, also if it may only reuse", () => {
    const runs = [asking("run_a"), asking("run_b", { mode: "only" }), asking("run_c", {}, { input_hash: "hash_c" })]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b"), reserve("run_c")], { runs })
    expect(effects.reuse).toEqual({
      ...none,
      claimed: [claim("run_a"), { ...claim("run_c"), input_hash: "hash_c" }],
      joined: [{ org_id, run_id: "run_b", joined: "run_a" }]
    })
  })

  test("takes an earlier result if there is one", () => {
    const view = { results: new Map([["run_b", earlier]]), ...buying("run_a") }
    const { effects } = turnOf([reserve("run_b")], { runs: [asking("run_b")], ...reuseOf(view) })
    expect(effects.ended).toMatchObject([{ reuse: { reused_from: "run_old" } }])
  })

  test("buys for itself if a thousand wait already, and nobody waits for it", () => {
    const mail = [reserve("run_b"), reserve("run_c")]
    const { effects } = turnOf(mail, {
      ...{ runs: [asking("run_b"), asking("run_c")], ...reuseOf(buying("run_a", joinsMax - 1)) }
    })
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_c"])
    expect(effects.reuse).toEqual({ ...none, joined: [{ org_id, run_id: "run_b", joined: "run_a" }] })
  })

  test("counts the thousand of its own turn too", () => {
    const runs = Array.from({ length: joinsMax + 3 }, (_, at) => asking(`run_${at}`))
    const { effects } = turnOf(
      runs.map(({ run_id }) => reserve(run_id)),
      { runs }
    )
    expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_0", "run_1001", "run_1002"])
    expect(effects.reuse.joined).toHaveLength(joinsMax)
    expect(effects.reuse.claimed).toEqual([claim("run_0")])
  })

  test("leaves when it is cancelled in the turn in which it came", () => {
    const { effects } = turnOf([reserve("run_b"), cancel("run_b")], {
      ...{ runs: [asking("run_b")], ...reuseOf(buying("run_a")) }
    })
    expect(effects.reuse).toEqual(none)
    expect(effects.ended).toMatchObject([{ run_id: "run_b", status: "cancelled" }])
  })
})

describe("the result of a run", () => {
  test("can be reused if the run succeeded and others might have waited for it", () => {
    const runs = [runningRun("run_a", { input_hash, buys: true }), runningRun("run_b", { input_hash: "hash_b" })]
    const { effects } = turnOf([settle("run_a"), settle("run_b")], { runs })
    expect(effects.reuse).toEqual({ ...none, unclaimed: ["run_a"], results: [claim("run_a")] })
  })

  test("can't be reused if the run failed, and then another run buys", () => {
    const runs = [runningRun("run_a", { input_hash, buys: true })]
    const { effects } = turnOf([settle("run_a", { status: "failed" })], { runs })
    expect(effects.reuse).toEqual({ ...none, unclaimed: ["run_a"] })
  })
})

describe("after the run that buys an input has ended in a turn", () => {
  const bought = runningRun("run_a", { input_hash, buys: true })

  test("another one asks again in the next turn, which reads its result", () => {
    const { effects, answer } = turnOf([settle("run_a"), reserve("run_b")], {
      ...{ runs: [bought, asking("run_b")], ...reuseOf(buying("run_a")) }
    })
    expect(effects.reuse.again).toEqual([{ org_id, run_id: "run_b" }])
    expect([effects.reuse.joined, effects.opened, effects.ended.length]).toEqual([[], [], 1])
    expect(answer.requeued).toBe(true)
  })

  test("another one that knows an older result takes that", () => {
    const view = { ...buying("run_a"), results: new Map([["run_b", earlier]]) }
    const { effects, answer } = turnOf([settle("run_a"), reserve("run_b")], {
      ...{ runs: [bought, asking("run_b")], ...reuseOf(view) }
    })
    expect(effects.ended[1]).toMatchObject({ run_id: "run_b", reuse: { reused_from: "run_old" } })
    expect(answer.requeued).toBe(false)
  })

  test("one that came and went in the turn leaves nothing but the question of the next one", () => {
    const mail = [reserve("run_a"), cancel("run_a"), reserve("run_b")]
    const { effects, answer } = turnOf(mail, { runs: [asking("run_a"), asking("run_b")], slots: 0 })
    expect(effects.reuse).toEqual({ ...none, parted: ["run_b"], again: [{ org_id, run_id: "run_b" }] })
    expect(answer.requeued).toBe(true)
  })
})
