/**
 * T12 store.fault_injection: the flows, and what may fail in each.
 *
 * Whatever one statement or one call of the processor breaks, the client's and the processor's own retries bring the flow to its
 * end within seconds: one run, one charge, one credit, and books that add up.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { backends, figures } from "../kit/app.ts"
import { runFlow, topUpFlow } from "./flows.ts"
import { autoTopUpFlow, checkoutFlow, earlyRefundFlow, openPaidStage, type PaidStage, refundFlow } from "./payments.ts"
import { depositBonusFlow, openReferralStage, shareFlow } from "./referrals.ts"
import { type Flow, openStage, type Part, type Stage } from "./stage.ts"
import { type ProcessorFault, sweepProcessor, type Swept, sweepStatements } from "./sweep.ts"
import { moments } from "./wire.ts"

/** Passes wait more than they work. */
const stageCount = 4
const flowMillisMax = 280_000

const report = async (about: Readonly<Record<string, string>>, sweeping: () => Promise<Swept>) => {
  const began = performance.now()
  const { violations, ...swept } = await sweeping()
  const seconds = Math.round((performance.now() - began) / 100) / 10
  // Whatever did not come to its end is among the violations.
  const stuck = violations.filter((one) => one.includes("not within")).length
  figures("T12 store.fault_injection", { ...about, ...swept, stuck, violations: violations.length, seconds })
  expect(violations).toEqual([])
  expect(swept.struck).toBeGreaterThan(0)
}

const opened = <S extends Stage>(open: () => Promise<S>): ReadonlyArray<S> => {
  const stages: Array<S> = []
  beforeAll(async () => {
    stages.push(...(await Promise.all(Array.from({ length: stageCount }, open))))
  })
  afterAll(async () => {
    await Promise.all(stages.map((stage) => stage.stop()))
  })
  return stages
}

const reads = (on: RegExp): ReadonlyArray<ProcessorFault> =>
  (["close", 500, 429] as const).map((how) => ({ on, at: "before", how }))
const writes = (on: "checkout" | "charge"): ReadonlyArray<ProcessorFault> =>
  moments.flatMap((at) => (["close", 500, "hang"] as const).map((how) => ({ on, at, how })))

export const faultSuite = () => {
  const statements = <S extends Stage>(stages: ReadonlyArray<S>, backend: string, flow: Flow<S>, part: Part) =>
    test(
      `${flow.name}: any one statement of the ${part} fails`,
      () => report({ backend, flow: flow.name, part }, () => sweepStatements(stages, flow, part)),
      flowMillisMax
    )

  describe.each(backends)("T12 store.fault_injection, queues on %s", (backend) => {
    const stages = opened(() => openStage({ backend }))
    statements(stages, backend, runFlow, "database")
    statements(stages, backend, topUpFlow, "database")
    statements(stages, backend, runFlow, "queues")
  })

  describe("T12 store.fault_injection, payments", () => {
    const stages: ReadonlyArray<PaidStage> = opened(openPaidStage)
    for (const flow of [checkoutFlow, refundFlow, earlyRefundFlow, autoTopUpFlow])
      statements(stages, "postgres", flow, "database")

    // A call that hangs takes the quarter of a minute that the SDK gives it.

    const cases: ReadonlyArray<readonly [Flow<PaidStage>, ReadonlyArray<ProcessorFault>]> = [
      [checkoutFlow, writes("checkout")],
      [autoTopUpFlow, writes("charge")],
      [refundFlow, [...reads(/^GET \/v1\/refunds/), ...reads(/^GET \/v1\/disputes/)]]
    ]
    for (const [flow, faults] of cases) {
      const run = () => sweepProcessor(stages, flow, faults)
      const about = { backend: "postgres", flow: flow.name, part: "processor" }
      test(`${flow.name}: any one call of the processor fails`, () => report(about, run), flowMillisMax)
    }
  })

  describe("T12 store.fault_injection, referrals", () => {
    const stages = opened(openReferralStage)
    for (const flow of [depositBonusFlow, shareFlow]) statements(stages, "postgres", flow, "database")
  })
}
