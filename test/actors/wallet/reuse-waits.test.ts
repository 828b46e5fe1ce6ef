/** What becomes of runs that wait for another one when that one ends. */
import { describe, expect, test } from "bun:test"
import { inputKey, type JoinedRun, noReuse } from "../../../src/layers/guards/ReuseTurn.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { Reuse } from "../../../src/schema/guards/Reuse.ts"
import {
  booked,
  cancel,
  newRun,
  org_id,
  queuedRun,
  reportOf,
  reserve,
  runningRun,
  settle,
  turnOf
} from "../../kit/turn-view.ts"

const input_hash = "hash_a"
const none = { claimed: [], joined: [], unclaimed: [], parted: [], again: [], results: [] }
/** Others wait for it. */
const buyer = runningRun("run_a", { input_hash, buys: true })
/** A run that has waited for it since an earlier turn. */
const waiting = (run_id: string, changed: Partial<JoinedRun> = {}): JoinedRun => ({
  ...{ org_id, run_id, joined: "run_a", hold: dollars("1.00"), key_id: null, input_hash, capability: "email.find" },
  ...{ endpoint: null, budget_id: null, providers: null, same_providers: true },
  ...changed
})
const waited = (...runs: ReadonlyArray<JoinedRun>) => ({
  reuse: { ...noReuse, joined: Map.groupBy(runs, ({ joined }) => joined) }
})
const asking = (run_id: string, reuse: Partial<Reuse> = {}) =>
  newRun(run_id, { input_hash, reuses: true, plan: { reuse: { mode: "prefer", max_age_seconds: 60, ...reuse } } })
const failure = { status: "failed", error: { code: "provider_error", message: "no" } } as const
const again = (...run_ids: ReadonlyArray<string>) => run_ids.map((run_id) => ({ org_id, run_id }))

describe("a run that has waited for one that succeeds", () => {
  test("ends with the same result, and costs nothing", () => {
    const report = { provider_cost: dollars("0.10"), hints: ["a hint"] }
    const { effects, answer } = turnOf([settle("run_a", report, { id: 7n })], {
      runs: [buyer],
      ...waited(waiting("run_b"))
    })
    expect(booked(effects)).toEqual(["settle -0.25", "release 0.75"])
    expect(effects.ended[1]).toEqual({
      ...{ org_id, run_id: "run_b", capability: "email.find", lease_token: null, status: "succeeded" },
      ...{ charged: 0n, provider_cost: null, provider: "hunter", attempts: "[]", hints: '["a hint"]' },
      ...{ error_code: null, error_message: null, control: null, result_of: 7n, result: null },
      reuse: { reused_from: "run_a", copies: null, shares: null, saved: dollars("0.25") }
    })
    expect(effects.closed.map(({ run_id }) => run_id)).toEqual(["run_a"])
    expect(effects.reuse).toEqual({
      ...{ ...none, unclaimed: ["run_a"], parted: ["run_b"], results: [{ org_id, run_id: "run_a", input_hash }] }
    })
    expect(answer.signals).toEqual(["run_a", "run_b"])
  })

  test("shares the result that a direct command brought", () => {
    const direct = settle("run_a", {}, { id: null, report: reportOf("run_a"), result: "{}" })
    const { effects } = turnOf([direct], { runs: [buyer], ...waited(waiting("run_b")) })
    expect(effects.ended[1]).toMatchObject({ result: null, reuse: { shares: "run_a", copies: null } })
  })

  test("saves nothing if the other one was not charged", () => {
    const report = { status: "no_match", billed: false, charge: dollars("0.00") } as const
    const { effects } = turnOf([settle("run_a", report)], { runs: [buyer], ...waited(waiting("run_b")) })
    expect(effects.ended[1]).toMatchObject({
      ...{ run_id: "run_b", status: "no_match", charged: null },
      reuse: { reused_from: null, shares: null, saved: 0n }
    })
  })

  const providers = [
    ["may see results of all providers", null, true],
    ["may see those of the one that delivered", ["apollo", "hunter"], true],
    ["may see those of other providers only", ["apollo"], false],
    ["may see none", [], false]
  ] as const
  test.each(providers)("takes the result if its API key %s, and otherwise asks again", (_, allowed, ends) => {
    const mine = { providers: allowed === null ? null : [...allowed] }
    const before = turnOf([settle("run_a")], {
      runs: [buyer],
      ...waited(waiting("run_b", { ...mine, same_providers: !ends }))
    })
    expect(before.effects.ended.map(({ run_id }) => run_id)).toEqual(ends ? ["run_a", "run_b"] : ["run_a"])
    expect(before.effects.reuse.again).toEqual(ends ? [] : again("run_b"))
    expect(before.effects.reuse.parted).toEqual(["run_b"])
    // The same for one that came in this turn.
    const { effects } = turnOf([reserve("run_b"), settle("run_a")], {
      runs: [buyer, asking("run_b", allowed === null ? {} : { providers: [...allowed] })],
      reuse: { ...noReuse, buyers: new Map([[inputKey({ org_id, input_hash }), { run_id: "run_a", joins: 0 }]]) }
    })
    expect(effects.ended.map(({ run_id }) => run_id)).toEqual(ends ? ["run_a", "run_b"] : ["run_a"])
    expect(effects.reuse).toMatchObject({ joined: [], parted: [], again: ends ? [] : again("run_b") })
  })

  test("ends with each other run that waits for it", () => {
    const runs = [buyer, asking("run_c"), asking("run_d")]
    const { effects } = turnOf([reserve("run_c"), reserve("run_d"), settle("run_a")], {
      runs,
      reuse: {
        ...waited(waiting("run_b"), waiting("run_x", { joined: "run_y" })).reuse,
        buyers: new Map([[inputKey({ org_id, input_hash }), { run_id: "run_a", joins: 1 }]])
      }
    })
    expect(effects.ended.map(({ run_id }) => run_id)).toEqual(["run_a", "run_b", "run_c", "run_d"])
    expect(effects.ended.slice(1).map(({ reuse }) => reuse?.reused_from)).toEqual(["run_a", "run_a", "run_a"])
  })

  test("does not end again if it was cancelled before", () => {
    const { effects } = turnOf([cancel("run_b"), settle("run_a")], {
      runs: [buyer, newRun("run_b", { input_hash })],
      ...waited(waiting("run_b"))
    })
    expect(effects.ended.map(({ run_id, status }) => [run_id, status])).toEqual([
      ["run_b", "cancelled"],
      ["run_a", "succeeded"]
    ])
    expect(effects.reuse).toMatchObject({ parted: ["run_b"], again: [] })
  })
})

describe("a run that has waited for one that fails", () => {
  test("fails with it if it would call the same providers, and otherwise asks again", () => {
    const { effects, answer } = turnOf([settle("run_a", failure)], {
      ...{ runs: [buyer], ...waited(waiting("run_b"), waiting("run_c", { same_providers: false })) }
    })
    expect(effects.ended[1]).toMatchObject({
      ...{ run_id: "run_b", status: "failed", error_code: "provider_error", error_message: "no", charged: null },
      reuse: { reused_from: null, saved: 0n }
    })
    expect(effects.ended).toHaveLength(2)
    expect(effects.reuse).toEqual({ ...none, unclaimed: ["run_a"], parted: ["run_b", "run_c"], again: again("run_c") })
    expect(answer.requeued).toBe(true)
  })

  test("asks again if it came in this turn", () => {
    const { effects } = turnOf([reserve("run_b"), settle("run_a", failure)], {
      runs: [buyer, asking("run_b")],
      reuse: { ...noReuse, buyers: new Map([[inputKey({ org_id, input_hash }), { run_id: "run_a", joins: 0 }]]) }
    })
    expect(effects.ended.map(({ run_id }) => run_id)).toEqual(["run_a"])
    expect(effects.reuse).toEqual({ ...none, unclaimed: ["run_a"], again: again("run_b") })
  })
})

describe("a run that has waited for one that is cancelled", () => {
  test("asks again, because that one never ran", () => {
    const queued = queuedRun("run_a", { input_hash, buys: true })
    const { effects, answer } = turnOf([cancel("run_a")], { runs: [queued], ...waited(waiting("run_b")) })
    expect(effects.ended.map(({ run_id }) => run_id)).toEqual(["run_a"])
    expect(effects.reuse).toEqual({ ...none, unclaimed: ["run_a"], parted: ["run_b"], again: again("run_b") })
    expect(answer.requeued).toBe(true)
  })

  test("asks again if both came in this turn, and nothing is written of the other one", () => {
    const mail = [reserve("run_a"), reserve("run_b"), cancel("run_a")]
    const { effects } = turnOf(mail, { runs: [asking("run_a"), asking("run_b")], slots: 0 })
    expect(effects.reuse).toEqual({ ...none, again: again("run_b") })
    expect(booked(effects)).toEqual(["reserve -1.00", "release 1.00"])
  })
})

test("a run that waits for another one ends alone, and a run that nobody waits for too", () => {
  const { effects } = turnOf([cancel("run_b"), settle("run_c")], {
    runs: [newRun("run_b", { input_hash }), runningRun("run_c", { input_hash })],
    ...waited(waiting("run_x", { joined: "run_b" }), waiting("run_y", { joined: "run_c" }))
  })
  expect(effects.ended.map(({ run_id }) => run_id)).toEqual(["run_b", "run_c"])
  expect(effects.reuse).toEqual({ ...none, parted: ["run_b"] })
})

test("one run claims its input while another one gives up its own, waits, or stops waiting", () => {
  const other = runningRun("run_a", { input_hash: "hash_b", buys: true })
  const claimed = [{ org_id, run_id: "run_c", input_hash }]
  const gaveUp = turnOf([settle("run_a", failure), reserve("run_c")], { runs: [other, asking("run_c")] })
  expect(gaveUp.effects.reuse).toEqual({ ...none, claimed, unclaimed: ["run_a"] })
  const left = turnOf([cancel("run_b"), reserve("run_c")], { runs: [newRun("run_b"), asking("run_c")] })
  expect(left.effects.reuse).toEqual({ ...none, claimed, parted: ["run_b"] })
  const joins = turnOf([reserve("run_c"), reserve("run_d")], { runs: [asking("run_c"), asking("run_d")] })
  expect(joins.effects.reuse).toEqual({ ...none, claimed, joined: [{ org_id, run_id: "run_d", joined: "run_c" }] })
})
