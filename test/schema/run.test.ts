/** The statuses of a run, and the limits that a refused run met. */
import { expect, test } from "bun:test"
import { controlsOf, isFinal, isRunStatus, isStoppable, statuses } from "../../src/schema/runs/Run.ts"

test("six statuses are final, and a run that has not started can be cancelled", () => {
  expect(statuses.filter(isFinal)).toEqual(["succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"])
  expect(statuses.filter(isStoppable)).toEqual(["created", "reserved", "queued"])
})

test("only the names of statuses are statuses", () => {
  expect(statuses.every(isRunStatus)).toBe(true)
  for (const text of ["", "done", "Failed", "constructor"]) expect(isRunStatus(text)).toBe(false)
})

test("a refusal names the limit that it met, and where it is changed", () => {
  const met = (code: string | null, control: string | null = null, key_id: string | null = null) =>
    controlsOf({ code, control, key_id }).map((one) => `${one.control} ${one.manage}`)
  expect(met("budget_exceeded")).toEqual(["daily_spend_guard /v1/spend-guard"])
  expect(met("cost_limit_exceeded")).toEqual(["per_run_limit /v1/spend-guard"])
  // Time ends it, and only the operator changes it.
  expect(met("repeat_guard")).toEqual([])
  expect(met("contact_guard")).toEqual(["contact_guard /v1/spend-guard"])
  expect(met("budget_exceeded", "key_budget", "key_1")).toEqual(["key_budget /v1/api-keys/key_1"])
  expect(met("budget_exceeded", "key_budget")).toEqual(["key_budget /v1/api-keys"])
  expect(met("budget_exceeded", "batch_max_total")).toEqual(["batch_max_total /v1/batches"])
  expect([met("provider_error"), met(null)]).toEqual([[], []])
})
