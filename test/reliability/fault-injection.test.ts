/**
 * T12 store.fault_injection: every single fault of a flow, before the statement and after it.
 *
 * Whatever one statement breaks, the client's or the processor's own retries bring the flow to its end within seconds: one run, one
 * charge, one credit, and books that add up.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { backends, figures, type Reply, verify } from "../app.ts"
import { type Flow, openStage, type Part, patiently, type Stage, sweep } from "../faults/stage.ts"

/** Passes wait more than they work. */
const stageCount = 4

const run: Flow = {
  name: "run",
  prepare: async ({ app }, tenant) => {
    const client = tenant.over(app)
    const key = { "idempotency-key": crypto.randomUUID() }
    return async () => {
      const { body, status } = await patiently(() => client.run(verify(), key))
      if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
      if (body.done === false) await patiently(() => client.get(`/v1/runs/${body.run_id}?wait=20`))
    }
  },
  check: async ({ direct }, tenant) => {
    const found: Array<string> = []
    const { items } = (await tenant.list()).body
    if (items.length !== 1) found.push(`${items.length} runs`)
    if (items[0]?.status !== "succeeded") found.push(`the run is ${items[0]?.status}`)
    const rows = (await tenant.ledger()).map((one) => `${one.type} ${one.amount}`)
    const expected = ["release 0.0018", "settle -0.003", "reserve -0.0048", "bonus 5.00"]
    if (rows.join() !== expected.join()) found.push(`the ledger is ${rows.join()}`)
    const [open] = await direct.sql("SELECT count(*)::int AS n FROM runs WHERE org_id = $1", [tenant.org_id])
    if (open?.["n"] !== 1) found.push(`${open?.["n"]} rows of runs`)
    return found
  }
}

const answered = new Map<string, Array<Reply>>()
const topUp: Flow = {
  name: "sandbox top-up",
  prepare: async ({ app }, tenant) => {
    const client = tenant.over(app)
    const asked: Array<Reply> = []
    answered.set(tenant.org_id, asked)
    return async () => {
      asked.push(await patiently(() => client.post("/v1/wallet/topups/checkout", { amount: "25.00" })))
    }
  },
  check: async (_stage, tenant) => {
    const [answer] = answered.get(tenant.org_id) ?? []
    const entries = (await tenant.ledger()).filter((one) => one.type === "topup")
    const found: Array<string> = []
    if (answer?.status !== 200) found.push(`answered ${answer?.status}`)
    if (entries.filter((one) => one.reference === answer?.body.session_id).length !== 1)
      found.push(`${answer?.body.session_id} is not there once: ${entries.map((one) => one.reference)}`)
    // A client that heard nothing asks for another one; what it asked for first may have been credited, once.
    if (entries.length > 2) found.push(`${entries.length} credits of two requests`)
    if (entries.some((one) => one.amount !== "25.00")) found.push("another amount")
    return found
  }
}

describe.each(backends)("T12 store.fault_injection, queues on %s", (backend) => {
  let stages: ReadonlyArray<Stage> = []
  beforeAll(async () => {
    stages = await Promise.all(Array.from({ length: stageCount }, () => openStage({ backend })))
  }, 60_000)
  afterAll(async () => {
    await Promise.all(stages.map((stage) => stage.stop()))
  })

  const flows: ReadonlyArray<readonly [Flow, Part]> = [
    [run, "database"],
    [topUp, "database"],
    [run, "queues"]
  ]
  test.each(flows.map(([flow, part]) => [flow.name, part, flow] as const))(
    "%s: any one statement of the %s fails",
    async (_name, part, flow) => {
      const began = performance.now()
      const { violations, ...swept } = await sweep(stages, flow, part)
      figures("T12 store.fault_injection", {
        backend,
        flow: flow.name,
        part,
        ...swept,
        seconds: Math.round((performance.now() - began) / 100) / 10,
        violations: violations.length
      })
      expect(violations).toEqual([])
    },
    120_000
  )
})
