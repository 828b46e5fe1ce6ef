/** What a turn tells the operator of ended runs: the health of providers, losses, and calls with an unknown outcome. */
import { describe, expect, test } from "bun:test"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { Attempt } from "../../../src/schema/runs/Run.ts"
import { latencyBucket } from "../../../src/schema/runs/Health.ts"
import { org_id, runningRun, settle, turnOf } from "../../kit/turn-view.ts"

const attempt = (outcome: string, changed: Partial<Attempt> = {}): Attempt => ({
  ...{ provider: "hunter", outcome, duration_ms: 100, detail: null },
  ...changed
})
type Report = NonNullable<Parameters<typeof settle>[1]>
const settled = (report: Report, run: Parameters<typeof runningRun>[1] = {}) =>
  turnOf([settle("run_a", report)], { runs: [runningRun("run_a", run)] }).effects

describe("the health of a provider", () => {
  test("counts each attempt: successes by their latency, and failures", () => {
    const attempts = [
      ...[attempt("succeeded"), attempt("no_match"), attempt("succeeded", { duration_ms: 4_000 })],
      ...[attempt("provider_error"), attempt("provider_timeout", { duration_ms: 9_000 })],
      attempt("succeeded", { provider: "apollo" })
    ]
    const fast = latencyBucket(100)
    expect(settled({ attempts }).attempts).toEqual([
      { subject: "email.find hunter", ok: true, latency_bucket: fast, count: 2 },
      { subject: "email.find hunter", ok: true, latency_bucket: latencyBucket(4_000), count: 1 },
      { subject: "email.find hunter", ok: false, latency_bucket: 0, count: 2 },
      { subject: "email.find apollo", ok: true, latency_bucket: fast, count: 1 }
    ])
  })

  test("counts the attempts of all runs of a turn together", () => {
    const report = { attempts: [attempt("succeeded")] }
    const runs = [runningRun("run_a"), runningRun("run_b")]
    expect(turnOf([settle("run_a", report), settle("run_b", report)], { runs }).effects.attempts).toMatchObject([
      { ok: true, count: 2 }
    ])
  })

  const endpoints = [
    ["an endpoint and its method", { endpoint: "/v2/find", method: "POST" }, "endpoint hunter POST /v2/find"],
    ["an endpoint whose method is not known", { endpoint: "/v2/find", method: null }, "endpoint hunter - /v2/find"],
    ["a raw run whose endpoint is not known", { endpoint: null, method: "GET" }, "endpoint hunter GET "]
  ] as const
  test.each(endpoints)("counts %s by itself", (_, run, subject) => {
    const { attempts } = settled({ attempts: [attempt("succeeded")] }, { capability: null, ...run })
    expect(attempts).toMatchObject([{ subject, count: 1 }])
  })

  const silent: ReadonlyArray<readonly [string, Report]> = [
    ["a call that says nothing about its provider", { attempts: [attempt("invalid_request")] }],
    ["a call through the customer's own account", { attempts: [attempt("succeeded", { account: "own" })] }],
    ["a rehearsed run", { attempts: [attempt("succeeded")], rehearsed: true }]
  ]
  test.each(silent)("does not count %s", (_, report) => expect(settled(report).attempts).toEqual([]))

  const attempts = [attempt("provider_error", { provider: "apollo" }), attempt("outcome_unknown")]
  const error = { code: "outcome_unknown", message: "?" }
  test("counts a call without an answer as failed", () => {
    const unknown = { why: "no_answer", provider_state: null } as const
    expect(settled({ status: "failed", attempts, error, unknown }).attempts.map((one) => one.subject)).toEqual([
      ...["email.find apollo", "email.find hunter"]
    ])
  })

  test("does not count the call during which the worker died, and counts those before it", () => {
    const unknown = { why: "worker_lost", provider_state: null } as const
    expect(settled({ status: "failed", attempts, error, unknown }).attempts).toEqual([
      { subject: "email.find apollo", ok: false, latency_bucket: 0, count: 1 }
    ])
  })
})

describe("a loss", () => {
  test("names the provider that took more than was charged", () => {
    const costs = [{ provider: "apollo", cost: dollars("0.40"), delivering: true }]
    const { records } = settled({ provider_cost: dollars("0.40"), costs, provider: "hunter" })
    expect(records.losses).toEqual([
      {
        ...{ org_id, run_id: "run_a", provider: "apollo", reason: "below_cost", measured: true },
        ...{ charge: dollars("0.25"), cost: dollars("0.40") }
      }
    ])
  })

  test("of a run that charged its whole hold was clipped by it", () => {
    const costs = [{ provider: "hunter", cost: dollars("1.10"), delivering: true }]
    const report = { charge: dollars("1.00"), provider_cost: dollars("1.10"), costs }
    expect(settled(report).records.losses).toMatchObject([{ reason: "clipped_by_hold", charge: dollars("1.00") }])
  })

  test("without a reported cost is of the provider that the run names", () => {
    const { records } = settled({ provider_cost: dollars("0.40") })
    expect(records.losses).toMatchObject([{ provider: "hunter", reason: "failed_attempts", measured: false }])
  })

  test("of a failed run is what its attempts cost", () => {
    const costs = [{ provider: "apollo", cost: dollars("0.05"), delivering: false }]
    const { effects, answer } = turnOf([settle("run_a", { status: "failed", provider_cost: dollars("0.05"), costs })], {
      runs: [runningRun("run_a")]
    })
    expect(effects.records.losses).toMatchObject([{ provider: "apollo", charge: 0n, cost: dollars("0.05") }])
    expect(answer.losses).toEqual(effects.records.losses)
  })

  test("is not noted for a run that cost as much as it charged, or whose cost is not known", () => {
    expect(settled({ provider_cost: dollars("0.25") }).records.losses).toEqual([])
    expect(settled({}).records.losses).toEqual([])
  })
})

describe("a call with an unknown outcome", () => {
  const unknown = { why: "no_answer", provider_state: { job: 7 }, look: true } as const

  test("is noted with the job that it started, and whether its provider can be asked", () => {
    expect(settled({ status: "failed", unknown }).records.unknowns).toEqual([
      { org_id, run_id: "run_a", provider: "hunter", why: "no_answer", provider_state: '{"job":7}', look: true }
    ])
  })

  test("of an older worker started no job, names no provider, and can't be looked up", () => {
    const older = { why: "server_error", provider_state: null } as const
    expect(settled({ status: "failed", unknown: older, provider: null }).records.unknowns).toEqual([
      { org_id, run_id: "run_a", provider: "", why: "server_error", provider_state: null, look: false }
    ])
  })

  test("is not noted for a run whose outcome is known", () => {
    expect(settled({ status: "failed" }).records.unknowns).toEqual([])
  })
})
