/** An attempt has its members in one order, whether its answer comes from memory or from the database. */
import { expect, test } from "bun:test"
import { attemptOf, type Delivered } from "../../src/actors/runs/Delivery.ts"
import type { Answer } from "../../src/layers/executor/Providers.ts"
import { MicroUsd } from "../../src/schema/money/Money.ts"
import type { Plan } from "../../src/schema/runs/Plan.ts"
import { Attempt } from "../../src/schema/runs/Run.ts"

const answers: ReadonlyArray<Answer> = [
  { _tag: "Match", output: {} },
  { _tag: "NoMatch", detail: "nobody" },
  { _tag: "Failure", reason: "provider_error", detail: "status 500" }
]

test.each([false, true])("in the schema's order (own account: %p)", (own) => {
  const members = Object.keys(Attempt.fields).filter((name) => own || name !== "account")
  for (const answer of answers) {
    const given = { answer, duration_ms: 1, raw: null, measured: null }
    // Only an answer in doubt asks for the plan.
    const attempt = attemptOf({ provider: "hunter", own }, given, null, {} as Plan)
    expect(Object.keys(attempt)).toEqual(members)
  }
})

test("an answer that counts as a miss under accept is no success", () => {
  const delivered: Delivered = {
    ...{ status: "no_match", provider: "hunter", charge: MicroUsd(1n), rated: null, billed: true, result: "{}" },
    ...{ inconclusive: false, own: false, refused: true }
  }
  const given = { answer: { _tag: "Match", output: {} } as const, duration_ms: 1, raw: null, measured: null }
  expect(attemptOf({ provider: "hunter", own: false }, given, delivered, {} as Plan).outcome).toBe("no_match")
})
