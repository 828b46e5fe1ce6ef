/** What the tools tell a host when the service cannot say how a run ended, and how they give long results. */
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { allowances, allowancesTool } from "../../src/http/mcp/AllowanceTool.ts"
import { runBatch, runBatchTool } from "../../src/http/mcp/BatchTool.ts"
import { getRunTool } from "../../src/http/mcp/Runs.ts"
import { statelessRunTool } from "../../src/http/mcp/statelessRun.ts"
import * as Tools from "../../src/http/mcp/Tools.ts"
import { callerFor, type Handler } from "../../src/http/handlers/McpCaller.ts"

const given = { capability: "email.verify", input: { email: "ada@example.com" }, max_cost: "0.05", wait_seconds: 5 }

const called = async (api: Handler, more: Readonly<Record<string, unknown>> = {}) => {
  const here = callerFor(api, "http://service.example")
  const tool = Tools.statelessRun.withHandler(statelessRunTool)
  const { text, failed } = await Effect.runPromise(here(tool.call({ ...given, ...more })))
  return { failed, body: JSON.parse(text) }
}
const refusing = (status: number, code: string) =>
  Response.json({ error: { code, message: "not now" }, request_id: "req_1" }, { status })

test("an error of the service, or none at all, names the key that joins the run", async () => {
  for (const api of [
    async () => refusing(503, "service_unavailable"),
    async () => refusing(500, "internal_error"),
    () => Promise.reject(new Error("gone"))
  ] satisfies ReadonlyArray<Handler>) {
    const { failed, body } = await called(api)
    expect([failed, body.idempotency_key, body.error.hints]).toEqual([
      true,
      expect.stringMatching(/^mcp_[0-9a-f]{32}$/),
      [expect.stringContaining("this idempotency_key")]
    ])
    expect((await called(api, { idempotency_key: "my-own-key" })).body.idempotency_key).toBe("my-own-key")
  }
})

test("a refusal that is sure says nothing of a key", async () => {
  const { failed, body } = await called(async () => refusing(429, "rate_limited"))
  expect([failed, body.idempotency_key, body.error.code]).toEqual([true, undefined, "rate_limited"])
})

test("a run that can't be read again is still under way, and stays one run", async () => {
  const keys: Array<string | null> = []
  const { failed, body } = await called(async (request) => {
    if (request.method === "GET") return refusing(429, "rate_limited")
    keys.push(request.headers.get("idempotency-key"))
    expect(await request.json()).toMatchObject({ wait_seconds: 1, routing: { max_cost: "0.05" } })
    return Response.json({ run_id: "run_1", status: "running", done: false }, { status: 202 })
  })
  expect([failed, body.run_id, body.wallet, body.idempotency_key]).toEqual([false, "run_1", null, keys[0]])
  expect([keys.length, body.next]).toEqual([1, expect.stringContaining('get_run {"run_id":"run_1"')])
})

test("reuse and the contact guard are members of the request", async () => {
  const asked = { reuse: { mode: "prefer", max_age_seconds: 60 }, unless_contacted_within_seconds: 3_600 }
  const bodies: Array<unknown> = []
  await called(async (request) => {
    if (request.method === "POST") bodies.push(await request.json())
    return Response.json({ run_id: "run_1", status: "succeeded", done: true })
  }, asked)
  expect(bodies[0]).toMatchObject(asked)
})

test("a part of a long result never begins or ends in the middle of a character", async () => {
  // The quote before the text makes the limit fall into an emoji.
  const result = { text: "😀".repeat(Tools.resultCharsMax) }
  const here = callerFor(
    async () => Response.json({ run_id: "run_1", status: "succeeded", result }),
    "http://a.example"
  )
  const tool = Tools.getRun.withHandler(getRunTool)
  let text = ""
  let next: number | null = 0
  while (next !== null) {
    const answer = await Effect.runPromise(here(tool.call({ run_id: "run_1", result_from: next })))
    const part: { readonly text: string; readonly next_from: number | null } = JSON.parse(answer.text).result_part
    expect(part.text.isWellFormed()).toBe(true)
    text += part.text
    next = part.next_from
  }
  expect(JSON.parse(text)).toEqual(result)
  const within = await Effect.runPromise(here(tool.call({ run_id: "run_1", result_from: 10 })))
  expect(JSON.parse(within.text).result_part.text.isWellFormed()).toBe(true)
})

test("run_batch leaves a result out that no answer can hold, and says how to read it", async () => {
  const rows = [1, 2, 3].map((row) => ({
    ...{ row, status: "succeeded", run_id: `run_${row}`, charged: "0.003" },
    result: { text: row === 2 ? "x".repeat(500_000) : "short" }
  }))
  const here = callerFor(async ({ url }) => {
    const after = Number(new URL(url).searchParams.get("cursor") ?? 0)
    if (!url.includes("/results")) return Response.json({ id: "bat_1", done: true })
    return new Response(rows.flatMap((one) => (one.row > after ? [`${JSON.stringify(one)}\n`] : [])).join(""))
  }, "http://service.example")
  const tool = runBatch.withHandler(runBatchTool)
  const seen: Array<Record<string, unknown>> = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const { text, failed } = await Effect.runPromise(here(tool.call({ batch_id: "bat_1", results_after: after })))
    expect([failed, text.length < 100_000]).toEqual([false, true])
    const { results, next_row } = JSON.parse(text)
    seen.push(...results)
    after = next_row
  }
  expect(seen.map(({ row, run_id }) => [row, run_id])).toEqual(rows.map(({ row, run_id }) => [row, run_id]))
  expect(seen[0]).toEqual(rows[0] ?? {})
  expect([seen[1]?.["result"], seen[1]?.["next"]]).toEqual([
    undefined,
    expect.stringContaining('get_run {"run_id":"run_2"}')
  ])
})

test("run_batch says that rows before next_row may end later, while the batch is unfinished", async () => {
  const ends = { succeeded: 3, no_match: 0, failed: 0, blocked: 0, invalid: 0, cancelled: 0 }
  const rows = [1, 3, 4].map((row) => ({ row, status: "succeeded", run_id: `run_${row}`, result: "x".repeat(40_000) }))
  for (const done of [false, true]) {
    const batch = {
      ...{ id: "bat_1", status: done ? "finished" : "running", done, rows: { ...ends, total: 4, open: done ? 0 : 1 } },
      ...{ max_total: null, charged: "0.00", currency: "USD", metadata: {}, results_url: "/", finished_at: null },
      created_at: "2026-11-23T09:30:00.000Z"
    }
    const here = callerFor(
      async ({ url }) =>
        url.includes("/results")
          ? new Response(rows.map((one) => `${JSON.stringify(one)}\n`).join(""))
          : Response.json(batch),
      "http://service.example"
    )
    const tool = runBatch.withHandler(runBatchTool)
    const { next_row, next } = JSON.parse((await Effect.runPromise(here(tool.call({ batch_id: "bat_1" })))).text)
    expect([next_row, next]).toEqual([1, done ? undefined : expect.stringContaining("from the start")])
  }
})

test("an error of the service is a failed answer of the tool that asked, with its code", async () => {
  const here = callerFor(async () => refusing(404, "not_found"), "http://service.example")
  const calls = [
    Tools.getRun.withHandler(getRunTool).call({ run_id: "run_1" }),
    runBatch.withHandler(runBatchTool).call({ runs: [{}], max_total: "1.00" }),
    allowances.withHandler(allowancesTool).call({ action: "revoke", allowance_id: "key_1" })
  ]
  for (const call of calls) {
    const { text, failed } = await Effect.runPromise(here(call))
    expect([failed, JSON.parse(text).error.code]).toEqual([true, "not_found"])
  }
})

test("allowances takes an amount as a number, as run takes max_cost", async () => {
  const bodies: Array<unknown> = []
  const here = callerFor(async (request) => {
    bodies.push(await request.json())
    return Response.json({}, { status: 201 })
  }, "http://service.example")
  const tool = allowances.withHandler(allowancesTool)
  await Effect.runPromise(here(tool.call({ action: "create", name: "agent", amount: 2.5, expires_in_seconds: 60 })))
  expect(bodies).toMatchObject([{ amount: "2.50" }])
})
