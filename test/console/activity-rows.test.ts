/** Rows of Activity without a browser: what an event changes in a row, and which events a filtered list is about. */
import { describe, expect, test } from "bun:test"
import type { LiveEvent } from "../../src/http/console/data/live.ts"
import { after, mayMatch, runOf, type RunRow, withChanges } from "../../src/http/console/pages/activity/rows.ts"

const open: RunRow = {
  run_id: "run_1",
  name: "email.find",
  status: "queued",
  done: false,
  provider: "",
  subject: "",
  key_id: null,
  duration_ms: null,
  charged: null,
  created_at: "2026-11-22T10:00:00.000Z"
}
const event = (type: LiveEvent["type"], data: LiveEvent["data"]): LiveEvent => ({
  type,
  timestamp: "2026-11-22T10:00:01.000Z",
  data: { run_id: "run_1", capability: "email.find", endpoint: null, ...data }
})
const finished = event("run.finished", {
  status: "succeeded",
  provider: "hunter",
  charged: "0.012",
  duration_ms: 412
})

describe("rows of Activity", () => {
  test("a run that starts and ends changes its row in place", () => {
    const running = after(open, event("run.started", { provider: "leadmagic" }))
    expect([running.status, running.provider, running.done]).toEqual(["running", "leadmagic", false])
    expect(after(running, finished)).toEqual({
      ...open,
      ...{ status: "succeeded", provider: "hunter", done: true, duration_ms: 412, charged: "0.012" }
    })
  })

  test("a run that has ended stays as it is, whatever arrives late", () => {
    const ended = after(open, finished)
    expect(after(ended, event("run.started", { provider: "leadmagic" }))).toBe(ended)
    expect(after(ended, event("run.finished", { status: "failed" }))).toBe(ended)
  })

  test("events that change nothing in a row leave it the same object, so it is not drawn again", () => {
    expect(after(open, event("run.attempt", { provider: "hunter", outcome: "no_match" }))).toBe(open)
    expect(runOf(event("wallet.changed", {}))).toBe(null)
    expect(runOf(finished)).toBe("run_1")
  })

  test("the newest changes are kept, and not more than so many", () => {
    const ended = after(open, finished)
    const changes = (...rows: ReadonlyArray<RunRow>) => new Map(rows.map((row, at) => [`run_${at + 1}`, row]))
    expect([...withChanges(changes(open, open), changes(ended), 2)]).toEqual([
      ["run_2", open],
      ["run_1", ended]
    ])
    expect([...withChanges(changes(open, open), changes(ended), 1)]).toEqual([["run_1", ended]])
  })

  test("a filtered list hears of runs that it may have, and of no others", () => {
    expect(mayMatch({}, finished)).toBe(true)
    expect(mayMatch({ capability: "email.find", "metadata.campaign": "spring" }, finished)).toBe(true)
    expect(mayMatch({ capability: "email.verify" }, finished)).toBe(false)
    expect(mayMatch({ endpoint: "/v2/find" }, finished)).toBe(false)
    expect(mayMatch({ status: "failed" }, finished)).toBe(false)
    expect(mayMatch({ status: "succeeded" }, finished)).toBe(true)
  })
})
