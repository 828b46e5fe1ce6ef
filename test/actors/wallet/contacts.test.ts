/** The contact guard during a turn: who counts as contacted, whom a run may not contact, and whose claim goes. */
import { describe, expect, test } from "bun:test"
import { contactKey } from "../../../src/layers/guards/ContactTurn.ts"
import { optOutDigest } from "../../../src/schema/guards/OptOut.ts"
import type { Contacts } from "../../../src/schema/guards/ContactGuard.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { TurnRun } from "../../../src/layers/ledger/Turn.ts"
import {
  cancel,
  newRun,
  now_micros,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  settle,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

const week = 7 * 86_400
const dayMicros = 86_400_000_000n
const toAda: Contacts = {
  within_seconds: week,
  recipients: [{ shown: "ada@example.com", identities: ["e:ada@example.com"] }]
}
const unguarded: Contacts = { ...toAda, within_seconds: null }
const none = { claimed: [], released: [] }
/** A run that sends a mail to Ada. */
const mailTo = (run_id: string, contacts: Contacts = toAda, changed: Partial<Omit<TurnRun, "plan">> = {}) =>
  newRun(run_id, { capability: "email.send", plan: { contacts }, ...changed })
const sending = { capability: "email.send" }
const contactedAt = (at: bigint, org = org_id) => ({
  days: new Map<string, number>(),
  latest: new Map([[contactKey(org, "e:ada@example.com"), { run_id: "run_before", at }]])
})

describe("a run that contacts people", () => {
  test("claims them when it is admitted, whether it asks for the guard or not", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [mailTo("run_a", unguarded)] })
    expect(effects.contacts).toEqual({ claimed: [{ org_id, run_id: "run_a", contacts: unguarded }], released: [] })
  })

  test("is refused if one of them was contacted a short time before", () => {
    const { effects } = turnOf([reserve("run_a")], {
      ...{ runs: [mailTo("run_a")], contacts: contactedAt(now_micros - dayMicros) }
    })
    expect(effects.ended).toMatchObject([{ run_id: "run_a", status: "blocked", error_code: "contact_guard" }])
    expect(effects.ended[0]?.error_message).toStartWith(
      "ada@example.com was contacted by run_before at 2026-11-24T12:00:00Z"
    )
    expect(effects.contacts).toEqual(none)
  })

  test("is refused if the run before it in the turn contacts the same person", () => {
    const runs = [mailTo("run_a", unguarded), mailTo("run_b"), mailTo("run_c", toAda, { org_id: "org_b" })]
    const { effects } = turnOf([reserve("run_a"), reserve("run_b")], {
      ...{ runs, contacts: contactedAt(now_micros - 30n * dayMicros) }
    })
    expect(effects.ended).toMatchObject([{ run_id: "run_b", error_code: "contact_guard" }])
    expect(effects.ended[0]?.error_message).toContain("by run_a at 2026-11-25T12:00:00Z")
    expect(effects.contacts.claimed.map(({ run_id }) => run_id)).toEqual(["run_a"])
  })

  test("is refused for as long as its organization says, also if it does not ask for it", () => {
    const contacts = { ...contactedAt(now_micros - 8n * dayMicros), days: new Map([[org_id, 10]]) }
    const { effects } = turnOf([reserve("run_a")], { runs: [mailTo("run_a", unguarded)], contacts })
    expect(effects.ended).toMatchObject([{ error_code: "contact_guard" }])
    expect(effects.ended[0]?.error_message).toContain("within 10 days")
  })

  test("is admitted after that time, and whomever others have contacted", () => {
    for (const contacts of [contactedAt(now_micros - 7n * dayMicros), contactedAt(now_micros, "org_b")]) {
      const { effects } = turnOf([reserve("run_a")], { runs: [mailTo("run_a")], contacts })
      expect(effects.opened.map(({ run_id }) => run_id)).toEqual(["run_a"])
    }
  })
})

describe("a claim", () => {
  const ends = [
    ["goes when the run failed", { status: "failed", error: { code: "provider_error", message: "no" } }, true],
    [
      "stays when nobody knows what the run did",
      { status: "failed", error: { code: "outcome_unknown", message: "?" } },
      false
    ],
    ["stays when the run succeeded", {}, false]
  ] as const
  test.each(ends)("%s", (_, report, goes) => {
    const { effects } = turnOf([settle("run_a", report)], { runs: [runningRun("run_a", sending)] })
    expect(effects.contacts).toEqual({ claimed: [], released: goes ? [{ org_id, run_id: "run_a" }] : [] })
  })

  test("goes when the run is cancelled in the queue", () => {
    const { effects } = turnOf([cancel("run_a")], { runs: [queuedRun("run_a", sending)] })
    expect(effects.contacts.released).toEqual([{ org_id, run_id: "run_a" }])
  })

  test("is not written for a run that is cancelled in the turn that admitted it", () => {
    const { effects } = turnOf([reserve("run_a"), cancel("run_a")], { runs: [mailTo("run_a")], slots: 0 })
    expect(effects.contacts).toEqual(none)
  })

  test("goes with one run of a turn, while another run claims", () => {
    const { effects } = turnOf([cancel("run_a"), reserve("run_b")], {
      runs: [queuedRun("run_a", sending), mailTo("run_b")]
    })
    expect(effects.contacts).toEqual({
      ...{ claimed: [{ org_id, run_id: "run_b", contacts: toAda }], released: [{ org_id, run_id: "run_a" }] }
    })
  })

  test("was never made by a run that was refused, or that contacts nobody", () => {
    const runs = [mailTo("run_a", toAda, { hold: dollars("50.00") }), queuedRun("run_b"), newRun("run_c")]
    const { effects } = turnOf([reserve("run_a"), cancel("run_b"), reserve("run_c")], { runs })
    expect(effects.ended.map(({ status }) => status)).toEqual(["failed", "cancelled"])
    expect(effects.contacts).toEqual(none)
  })

  test("is not made by a run of an older release, whose plan names nobody", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [newRun("run_a", sending)] })
    expect([effects.opened.length, effects.contacts]).toEqual([1, none])
  })
})

describe("an opt-out list", () => {
  const digest = optOutDigest("ada@example.com")
  const match = {
    opt_out_id: "opt_a",
    list: "organization",
    kind: "email",
    digest,
    since: "2026-11-24T12:00:00Z"
  } as const
  const listed = (org = org_id) => ({ version: 1n, matches: new Map([[`${org} email ${digest}`, match]]) })

  test("refuses a run to somebody who is on it, and the run keeps the entry", () => {
    const { effects } = turnOf([reserve("run_a")], { runs: [mailTo("run_a")], opt_outs: listed() })
    expect(effects.ended).toMatchObject([{ run_id: "run_a", status: "blocked", error_code: "opt_out" }])
    expect(effects.opted_out).toEqual([{ org_id, run_id: "run_a", ...match }])
    expect(effects.contacts).toEqual(none)
  })

  test("of another organization refuses no run, and reads nothing of one that contacts nobody", () => {
    const other = turnOf([reserve("run_a")], { runs: [mailTo("run_a")], opt_outs: listed("org_b") })
    const find = turnOf([reserve("run_b")], {
      runs: [newRun("run_b", { plan: { contacts: toAda } })],
      opt_outs: listed()
    })
    for (const { effects } of [other, find]) expect([effects.ended, effects.opted_out]).toEqual([[], []])
  })

  test("is no reason for a run that an earlier rule refuses, or that is cancelled", () => {
    const given = { runs: [mailTo("run_a")], opt_outs: listed() }
    const suspended = turnOf([reserve("run_a")], { ...given, wallets: [walletWith("10.00", { suspended: true })] })
    expect(suspended.effects.ended).toMatchObject([{ error_code: "wallet_suspended" }])
    const cancelled = turnOf([cancel("run_a")], given)
    expect(cancelled.effects.ended).toMatchObject([{ status: "cancelled" }])
    for (const { effects } of [suspended, cancelled]) expect(effects.opted_out).toEqual([])
  })
})
