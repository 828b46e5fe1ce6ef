/** The request log: one line of JSON per request, with ids and the name of the route, and nothing that a caller wrote. */
import { expect, test } from "bun:test"
import { Layer } from "effect"
import { bufferedSink, LogSink } from "../../src/layers/observability/LogSink.ts"
import { LookSeconds } from "../../src/actors/runs/OutcomeLookups.ts"
import { until, withApp } from "../kit/app.ts"

const lines: Array<string> = []
const sink = { write: (line: string) => lines.push(line), flush: () => {} }
const app = withApp({
  settings: { RUNGATE_REQUEST_LOG: "on" },
  limits: Layer.mergeAll(Layer.succeed(LogSink, sink), Layer.succeed(LookSeconds, 3_600))
})

/** The lines that `work` makes, parsed. */
const linesOf = async (count: number, work: () => Promise<unknown>) => {
  lines.length = 0
  await work()
  await until(
    "the lines are written",
    async () => lines.length,
    (written) => written >= count
  )
  return lines.map((line) => JSON.parse(line))
}

const input = { full_name: "Ada Lovelace", company_domain: "example.com" }

test("a run has a line with its organization and its run id, by the general router and by the door", async () => {
  const org = await app.tenant("5.00")
  const sent = new TextEncoder().encode(JSON.stringify({ capability: "email.find", input }))
  const chunked = () =>
    fetch(`${app.url}/v1/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${org.key}`, "content-type": "application/json" },
      body: new Response(sent).body
    })
  for (const run of [chunked, () => org.run({ capability: "email.find", input })]) {
    const [line, ...more] = await linesOf(1, run)
    expect(more).toEqual([])
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: "info",
      message: "request",
      request_id: expect.stringMatching(/^req_/),
      org_id: org.org_id,
      method: "POST",
      route: "/v1/run",
      status: 200,
      duration_ms: expect.any(Number),
      run_id: expect.stringMatching(/^run_/)
    })
  }
  const { body } = await org.run({ capability: "email.find", input })
  for (const wait of ["", "?wait=5"]) {
    const [line] = await linesOf(1, () => org.get(`/v1/runs/${body.run_id}${wait}`))
    expect(line).toMatchObject({ route: "/v1/runs/{run_id}", org_id: org.org_id, run_id: body.run_id })
  }
  // A refused request has a line that says whose it was.
  const [refused] = await linesOf(1, () => org.post("/v1/run", { capabilty: "email.find" }))
  expect(refused).toMatchObject({ route: "/v1/run", status: 400, org_id: org.org_id })
})

test("no line has what a caller wrote: path, query, header, body or key", async () => {
  const { key, run } = await app.tenant("5.00")
  const secret = "ada.lovelace@example.com"
  const found = await linesOf(7, async () => {
    await run({ capability: "email.find", input: { ...input, full_name: secret } }, { "idempotency-key": secret })
    await app.call(key, "GET", `/v1/runs/${secret}`)
    await app.call(key, "GET", `/v1/history/subjects?query=${secret}`)
    await app.call(key, "GET", `/${secret}`)
    await app.call(`rg_test_${secret}`, "GET", "/v1/wallet")
    await app.call(key, "GET", `/v1/runs/run_${secret}`, { headers: { "x-forwarded-for": "203.0.113.7" } })
    await fetch(`${app.url}/v1/runs/x`, { method: "PROPFIND" })
  })
  expect(found).toHaveLength(7)
  for (const text of ["lovelace", key, "203.0.113", "127.0.0.1", "PROPFIND"])
    expect(lines.join("").toLowerCase()).not.toContain(text.toLowerCase())
  expect(found.map(({ route }) => route)).toContain("unmatched")
})

test("probes have no line while they succeed", async () => {
  const found = await linesOf(1, async () => {
    for (const path of ["/livez", "/healthz", "/readyz", "/metrics"]) await app.call(null, "GET", path)
  })
  expect(found).toMatchObject([{ route: "/metrics", status: 401 }])
})

test("many lines are one write, and a reader that is too slow loses lines and is told how many", () => {
  const output = { writableLength: 0, written: new Array<string>(), write: (text: string) => output.written.push(text) }
  const buffered = bufferedSink(() => output)
  for (const line of ["a\n", "b\n"]) buffered.write(line)
  expect(output.written).toEqual([])
  buffered.flush()
  expect(output.written).toEqual(["a\nb\n"])
  output.writableLength = 100 * 1024 * 1024
  for (const line of ["c\n", "d\n"]) buffered.write(line)
  output.writableLength = 0
  buffered.write("e\n")
  buffered.flush()
  expect(output.written[1]).toContain('"lines":2')
  expect(output.written[1]).toEndWith("e\n")
})
