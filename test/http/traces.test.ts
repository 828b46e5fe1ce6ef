/** Traces over OTLP: one trace goes from the client's request through the run to the provider, and nothing of it exists when it is off. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp } from "../kit/app.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Record<string, unknown> }>
}

const spans: Array<Span> = []
const collected: Array<{ readonly path: string; readonly authorization: string | null; readonly text: string }> = []
/** What the provider was sent as `traceparent`. */
const received: Array<string | null> = []

const collector = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname } = new URL(request.url)
    const text = await request.text()
    collected.push({ path: pathname, authorization: request.headers.get("authorization"), text })
    if (pathname === "/v1/traces")
      for (const { scopeSpans } of JSON.parse(text).resourceSpans)
        for (const one of scopeSpans) spans.push(...one.spans)
    return new Response()
  }
})
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    received.push(request.headers.get("traceparent"))
    return new Response("broken", { status: 500 })
  }
})

const production = {
  RUNGATE_MODE: "production",
  RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "k",
  RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: `http://127.0.0.1:${provider.port}`
}
let on: App
let off: App
beforeAll(async () => {
  on = await startApp({
    settings: {
      ...production,
      RUNGATE_OTLP_URL: `http://127.0.0.1:${collector.port}/`,
      RUNGATE_OTLP_HEADERS: "authorization=Bearer c0llector"
    }
  })
  off = await startApp({ settings: production })
})
afterAll(async () => {
  await off.stop()
  await collector.stop(true)
  await provider.stop(true)
})

const asked = {
  capability: "email.find",
  input: { full_name: "Ada Lovelace", company_domain: "example.com" },
  routing: { provider: "leadmagic" }
}
const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"]

test("a trace goes from the client through the run to the provider, without what anybody wrote", async () => {
  const org = await on.tenant("5.00")
  // The first request of a key looks it up, and the others do not.
  const runs = [
    await org.run(asked, { traceparent: `00-${trace}-${parent}-01` }),
    await org.run(asked, { traceparent: `00-${trace}-${parent}-01` }),
    await org.run(asked, { traceparent: "Ada Lovelace" })
  ].map(({ body }) => body)
  await on.stop() // sends what waits
  const of = (name: string) => spans.filter((one) => one.name === name)
  const requests = of("POST /v1/run")
  expect(requests.map((one) => [one.traceId === trace, one.parentSpanId ?? null])).toEqual([
    [true, parent],
    [true, parent],
    [false, null]
  ])
  for (const [at, { run_id }] of runs.entries()) {
    const [request, executed, call] = [requests[at], of("run email.find")[at], of("provider leadmagic")[at]]
    expect([executed?.traceId, executed?.parentSpanId]).toEqual([request?.traceId, request?.spanId])
    expect([call?.traceId, call?.parentSpanId]).toEqual([request?.traceId, executed?.spanId])
    expect(received[at]).toBe(`00-${call?.traceId}-${call?.spanId}-01`)
    for (const one of [request, executed])
      expect(one?.attributes).toContainEqual({ key: "rungate.run_id", value: { stringValue: run_id } })
    expect(call?.attributes).toContainEqual({ key: "rungate.outcome", value: { stringValue: "provider_error" } })
  }
  const everything = collected.map(({ text }) => text).join("\n")
  for (const text of ["Ada", "Lovelace", "example.com", org.key, "Bearer"]) expect(everything).not.toContain(text)
  expect(collected.some(({ path }) => path === "/v1/logs")).toBe(true)
  expect(new Set(collected.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer c0llector"]))
})

test("it is off by default: the provider gets no header, and the run keeps no trace", async () => {
  received.length = 0
  const sent = collected.length
  const org = await off.tenant("5.00")
  const { body } = await org.run(asked, { traceparent: `00-${trace}-${parent}-01` })
  expect(received).toEqual([null])
  expect(await off.sql("SELECT plan->'trace' AS trace FROM runs WHERE run_id = $1", [body.run_id])).toEqual([
    { trace: null }
  ])
  expect(collected.length).toBe(sent)
})
