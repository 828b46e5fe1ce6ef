/** What a turn decides about runs that need a member's yes, each command on what those before it left. */
import { describe, expect, test } from "bun:test"
import { type ApprovalView, rulingKey } from "../../../src/layers/guards/ApprovalTurn.ts"
import type { TurnCommand } from "../../../src/layers/ledger/Turn.ts"
import type { ApprovalRule } from "../../../src/schema/guards/Approval.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import {
  booked,
  cancel,
  newRun,
  now_micros,
  org_id,
  queuedRun,
  reserve,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

const rule: ApprovalRule = {
  ...{ id: "apr_a", name: "large", role: "admin", self_approval: false, expires_after: 60 },
  conditions: { min_hold: dollars("1.00") }
}
const waiting = queuedRun("run_a", { waits: true })
const approval = {
  ...({ state: "pending", rule_name: "large", role: "admin" } as const),
  ...{ self_approval: false, started_by: null, digest: "d", expires_micros: now_micros + 1n }
}
/** What the turn's statement reads: the approval with the role of each who decides. */
const view: ApprovalView = new Map([
  [rulingKey("run_a", "usr_admin"), { ...approval, decider_role: "admin" }],
  [rulingKey("run_a", "usr_member"), { ...approval, decider_role: "member" }],
  [rulingKey("run_a", "usr_nobody"), { ...approval, decider_role: null }],
  [rulingKey("run_a", null), { ...approval, decider_role: null }]
])
const say = (act: string, by: string | null = "usr_admin", command_id: string = act): TurnCommand => ({
  ...{ id: 1n, command_id, org_id, run_id: "run_a", tag: "Approval", report: null, result: null },
  payload: { act, by, via: "session", digest: null }
})
const decidedOf = ({ effects }: ReturnType<typeof turnOf>) =>
  effects.approvals.decided.map(({ state, starts }) => [state, starts])

describe("a new run that matches a rule", () => {
  const wallets = [walletWith("10.00", { approval_rules: [rule] })]
  test("holds its money and takes no slot, and its client is signalled", () => {
    const small = newRun("run_b", { hold: dollars("0.99") })
    const { effects, answer, claimants } = turnOf([reserve("run_a"), reserve("run_b")], {
      runs: [newRun("run_a"), small],
      wallets
    })
    expect(booked(effects)).toEqual(["reserve -1.00", "reserve -0.99"])
    expect(effects.opened).toMatchObject([
      { run_id: "run_a", state: "waiting", lease_token: null, attempts: "[]" },
      { run_id: "run_b", state: "running" }
    ])
    expect(effects.approvals).toMatchObject({ waiting: [{ run_id: "run_a", started_by: null, rule }], decided: [] })
    expect([answer.queued, answer.signals]).toEqual([[], ["run_a"]])
    expect(claimants.map(({ run_id }) => run_id)).toEqual(["run_b"])
  })
  test("leaves no approval if it is cancelled in the turn that admits it", () => {
    const turn = turnOf([reserve("run_a"), cancel("run_a")], { runs: [newRun("run_a")], wallets })
    expect(turn.effects.approvals).toEqual({ waiting: [], decided: [] })
    expect(turn.effects.opened).toEqual([])
  })
})

describe("a run that waits", () => {
  const turn = (...commands: ReadonlyArray<TurnCommand>) => turnOf(commands, { runs: [waiting], approvals: view })
  test("goes into the queue once it is approved, and keeps its hold", () => {
    const decided = turn(say("approve"), say("approve", "usr_admin", "again"))
    expect(decidedOf(decided)).toEqual([["approved", true]])
    expect([booked(decided.effects), decided.effects.closed, decided.answer.queued]).toEqual([[], [], [org_id]])
    expect(decided.replyTo("approve")).toEqual({ verdict: "Decided", status: "approved" })
    expect(decided.replyTo("again")).toEqual({ verdict: "Refused", status: "decided" })
  })
  test("returns its hold when it is denied, and nothing after that counts", () => {
    const decided = turn(say("deny"), say("approve"), say("expire", null), cancel("run_a", { command_id: "cancel" }))
    expect(decidedOf(decided)).toEqual([["denied", false]])
    expect(booked(decided.effects)).toEqual(["release 1.00"])
    expect(decided.effects.ended).toMatchObject([
      { status: "cancelled", error_code: "approval_denied", control: "approval_rule" }
    ])
    expect(decided.effects.closed).toHaveLength(1)
    expect(decided.replyTo("approve")).toEqual({ verdict: "Refused", status: "decided" })
    expect(decided.replyTo("cancel")).toMatchObject({ verdict: "Stale", status: "cancelled" })
  })
  test("takes its approval with it when it is cancelled, before a yes and after it", () => {
    const first = turn(cancel("run_a"), say("approve"))
    expect(decidedOf(first)).toEqual([["cancelled", false]])
    expect(first.answer.queued).toEqual([])
    const second = turn(say("approve"), cancel("run_a"))
    expect(decidedOf(second)).toEqual([["approved", false]])
    expect(booked(second.effects)).toEqual(["release 1.00"])
  })
  test("is decided only by who may, and expires only when its time is over", () => {
    const early = turn(say("approve", "usr_member"), say("deny", "usr_nobody"), say("expire", null))
    expect(decidedOf(early)).toEqual([])
    expect(["approve", "deny", "expire"].map(early.replyTo)).toEqual(
      ["role", "role", "not_due"].map((status) => ({ verdict: "Refused", status }))
    )
    const late = turnOf([say("approve")], { runs: [waiting], approvals: view, now_micros: now_micros + 1n })
    expect(decidedOf(late)).toEqual([["expired", false]])
    expect(late.effects.ended).toMatchObject([{ status: "cancelled", error_code: "approval_expired" }])
  })
})
