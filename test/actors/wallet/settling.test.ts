/** What a turn decides about a run that ends: its charge, what becomes of its row, and the end of its hold and lease. */
import { describe, expect, test } from "bun:test"
import { dollars, usd, zero } from "../../../src/schema/money/Money.ts"
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

describe("a run that its worker settles", () => {
  test("charges its price, releases the rest, and ends under its lease", () => {
    const attempts = [{ provider: "hunter", outcome: "succeeded", duration_ms: 40, detail: null }]
    const report = { attempts, hints: ["a hint"], provider_cost: dollars("0.10") }
    const { effects, answer } = turnOf([settle("run_a", report, { id: 7n })], { runs: [runningRun("run_a")] })
    expect(booked(effects)).toEqual(["settle -0.25", "release 0.75"])
    expect(effects.wallets).toMatchObject([{ balance: dollars("9.75"), reserved: 0n, spent: dollars("0.25") }])
    expect(effects.ended).toEqual([
      {
        ...{ org_id, run_id: "run_a", capability: "email.find", lease_token: "lease of run_a", status: "succeeded" },
        ...{ charged: dollars("0.25"), provider_cost: dollars("0.10"), provider: "hunter" },
        ...{ attempts: JSON.stringify(attempts), hints: '["a hint"]', error_code: null, error_message: null },
        ...{ control: null, result_of: 7n, result: null }
      }
    ])
    expect(effects.closed).toEqual([{ org_id, run_id: "run_a", lease_token: "lease of run_a" }])
    expect(answer.signals).toEqual(["run_a"])
    expect(answer.ended).toEqual(effects.ended)
    expect(Array.from(answer.available, ([org, amount]) => [org, usd(amount)])).toEqual([[org_id, "9.75"]])
  })

  test("keeps the result that a direct command brings", () => {
    const direct = { id: null, report: reportOf("run_a"), payload: null, result: '{"email":"a@b.test"}' }
    const { effects, answer } = turnOf([settle("run_a", {}, direct)], { runs: [runningRun("run_a")] })
    expect(effects.ended).toMatchObject([{ result_of: null, result: '{"email":"a@b.test"}', provider_cost: null }])
    expect(answer.taken).toBe(0)
  })

  const charges = [
    ["a result", { status: "succeeded", billed: false }, dollars("0.25")],
    ["a no-match that the capability bills", { status: "no_match", billed: true }, dollars("0.25")],
    ["nothing for a no-match otherwise", { status: "no_match", billed: false, charge: zero }, null],
    ["nothing for a failure", { status: "failed", billed: true }, null],
    ["nothing for a run that ran out of time", { status: "timed_out", billed: false }, null]
  ] as const
  test.each(charges)("says that it charged %s", (_, report, charged) => {
    const { effects } = turnOf([settle("run_a", report)], { runs: [runningRun("run_a")] })
    expect(effects.ended).toMatchObject([{ run_id: "run_a", status: report.status, charged }])
  })

  test("says why it failed, in text that can be stored", () => {
    const detail = "no\0thing"
    const error = { code: "provider_error", message: "the provider said no\0thing" }
    const attempts = [{ provider: "hunter", outcome: "provider_error", duration_ms: 1, detail }]
    const report = { status: "failed", error, attempts, hints: ["\ud800"] } as const
    const { effects } = turnOf([settle("run_a", {}, { report: reportOf("run_a", report) })], {
      runs: [runningRun("run_a")]
    })
    expect(effects.ended).toMatchObject([
      {
        ...{ error_code: "provider_error", error_message: "the provider said no\ufffdthing" },
        ...{ attempts: JSON.stringify([{ ...attempts[0], detail: "no\ufffdthing" }]).replace("\ufffd", "\\ufffd") },
        ...{ hints: '["\\ufffd"]' }
      }
    ])
  })

  test("does not end under a lease that another worker has meanwhile", () => {
    const late = settle("run_a", { lease_token: "an older lease" }, { command_id: "cmd_a" })
    const { effects, replyTo, answer } = turnOf([late], { runs: [runningRun("run_a")] })
    expect([effects.ended, effects.closed, effects.entries]).toEqual([[], [], []])
    expect(replyTo("cmd_a")).toEqual({ verdict: "Stale", status: "running" })
    expect(answer.signals).toEqual(["cmd_a"])
  })

  test("ends once, however often its report is stored", () => {
    const again = settle("run_a", {}, { command_id: "cmd_b" })
    const { effects, replyTo } = turnOf([settle("run_a"), again], { runs: [runningRun("run_a")] })
    expect(booked(effects)).toEqual(["settle -0.25", "release 0.75"])
    expect(effects.ended).toHaveLength(1)
    expect(replyTo("cmd_b")).toEqual({ verdict: "Stale", status: "succeeded" })
  })
})

describe("a run that is cancelled", () => {
  const cancelled = {
    ...{ status: "cancelled", error_code: "cancelled", charged: null },
    error_message: "the run was cancelled before it started"
  }

  test("in the queue releases its hold and leaves the queue", () => {
    const { effects, answer } = turnOf([cancel("run_a")], { runs: [queuedRun("run_a")] })
    expect(effects.ended).toMatchObject([{ run_id: "run_a", ...cancelled, lease_token: null }])
    expect(effects.closed).toEqual([{ org_id, run_id: "run_a", lease_token: null }])
    expect(booked(effects)).toEqual(["release 1.00"])
    expect(answer.signals).toEqual(["run_a"])
  })

  test("before it was admitted has no hold, and nothing to close", () => {
    const { effects } = turnOf([cancel("run_a"), reserve("run_a")], { runs: [newRun("run_a")] })
    expect(effects.ended).toMatchObject([cancelled])
    expect([effects.closed, effects.opened, effects.entries]).toEqual([[], [], []])
  })

  test("in the turn that admitted it never enters the queue", () => {
    const { effects } = turnOf([reserve("run_a"), cancel("run_a")], { runs: [newRun("run_a")], slots: 0 })
    expect(effects.ended).toMatchObject([cancelled])
    expect([effects.closed, effects.opened]).toEqual([[], []])
    expect(booked(effects)).toEqual(["reserve -1.00", "release 1.00"])
    expect(effects.wallets).toMatchObject([{ reserved: 0n }])
  })

  test("is not stopped once it runs, and ends once", () => {
    const mail = [cancel("run_a", { command_id: "cmd_a" }), cancel("run_b"), cancel("run_b", { command_id: "cmd_b" })]
    const { effects, replyTo } = turnOf(mail, { runs: [runningRun("run_a"), queuedRun("run_b")] })
    expect(replyTo("cmd_a")).toEqual({ verdict: "Stale", status: "running" })
    expect(replyTo("cmd_b")).toEqual({ verdict: "Stale", status: "cancelled" })
    expect(effects.ended.map(({ run_id }) => run_id)).toEqual(["run_b"])
  })
})

test("a run that ends in the turn that started it is not started, and leaves nothing open", () => {
  const mail = [reserve("run_a"), settle("run_a", { lease_token: "lease_1" })]
  const { effects, answer } = turnOf(mail, { runs: [newRun("run_a")] })
  expect(effects.ended).toMatchObject([{ run_id: "run_a", status: "succeeded", lease_token: "lease_1" }])
  expect([effects.opened, effects.closed, answer.started]).toEqual([[], [], []])
})
