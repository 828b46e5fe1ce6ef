/** What an error and its hints call by name: the cap that ruled a provider out, and only options that the run has. */
import { expect, test } from "bun:test"
import { explainFailure, hintsOf } from "../../src/actors/runs/Explain.ts"
import type { Plan } from "../../src/schema/runs/Plan.ts"
import type { RawPlan } from "../../src/schema/runs/RawPlan.ts"

const plan: Plan = {
  providers: ["leadmagic"],
  attempts_max: 1,
  routing: "pinned",
  include_raw: false,
  side_effect: false,
  excluded: [{ provider: "hunter", reason: "max_cost", quote: "0.02" }]
}
const raw: RawPlan = {
  method: "GET",
  endpoint: "/v1/credits",
  path: "/v1/credits",
  query: [],
  body_type: "json",
  encoding: "json",
  has_body: false,
  hold: "1.00",
  estimate: null
}
const attempts = [{ provider: "leadmagic", outcome: "provider_timeout", duration_ms: 1, detail: null }]
const hints = (plan: Plan) =>
  hintsOf({ status: "timed_out", plan, attempts, capability: undefined, input: {} }).join(" ")
const message = (plan: Plan) => explainFailure("timed_out", attempts, plan).message

test("a pinned run may be routed by auto; a raw run has no other provider", () => {
  expect(hints(plan)).toContain('Set it to "auto"')
  expect(hints({ ...plan, raw })).not.toMatch(/auto|routing\.provider/)
})

test("the cap of the request and that of the key have their own names", () => {
  for (const text of [hints(plan), message(plan)]) expect(text).toContain("routing.max_cost excluded hunter")
  const capped = { ...plan, seen: { catalog: "v1", max_cost: "0.01", key_cap: true as const } }
  for (const text of [hints(capped), message(capped)]) {
    expect(text).toContain("allow.max_cost of this API key excluded hunter")
    expect(text).not.toContain("routing.max_cost")
  }
})
