/** Buy once: the same input is bought by one run, and the others take its result, at $0. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, type Reply, startApp, type Tenant, until, withApp } from "../../kit/app.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"
import { acme } from "../../kit/provider-documents.ts"

const prefer = { reuse: { mode: "prefer", max_age_seconds: 86_400 } }
const only = { reuse: { mode: "only", max_age_seconds: 86_400 } }
const find = (local: string, more: Record<string, unknown> = {}) => ({
  capability: "email.verify",
  input: { email: `${local}@example.com` },
  ...more
})
const slow = (local: string, more: Record<string, unknown> = {}) => ({
  capability: "email.find",
  input: { full_name: `${local} Lovelace`, company_domain: "slow-1.sandbox.test" },
  ...more
})
const settled = async (org: Tenant) => (await org.ledger()).filter(({ type }) => type === "settle").length
const shown = ({ body }: Reply) => [body.status, body.billing.charged, body.reused_from]

describe.each(oneBackend)("reuse over two processes, queues on %s", (backend) => {
  let apps: readonly [App, App]
  beforeAll(async () => {
    const first = await startApp({ backend })
    apps = [first, await startApp({ beside: first })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })
  const over = (org: Tenant, index: number) => org.over(apps[index % 2 === 0 ? 0 : 1])

  test("two hundred concurrent runs of one input are one provider call and one charge", async () => {
    const org = await apps[0].tenant("5.00")
    const runs = await Promise.all(
      Array.from({ length: 200 }, (_, index) => over(org, index).run({ ...slow("Ada"), ...prefer, wait_seconds: 60 }))
    )
    expect(new Set(runs.map(({ body }) => body.status))).toEqual(new Set(["succeeded"]))
    const bought = runs.filter(({ body }) => body.reused_from === undefined)
    expect(bought).toHaveLength(1)
    const buyer = bought[0]?.body
    expect(new Set(runs.filter(({ body }) => body !== buyer).map(({ body }) => body.reused_from))).toEqual(
      new Set([buyer.run_id])
    )
    expect(runs.reduce((sum, { body }) => sum + body.attempts.length, 0)).toBe(buyer.attempts.length)
    expect(new Set(runs.map(({ body }) => JSON.stringify(body.result))).size).toBe(1)
    expect(await settled(org)).toBe(1)
    const { body: usage } = await org.get("/v1/usage")
    expect(usage.reused).toEqual({ runs: 199, saved: expect.any(String) })
    expect(Number(usage.reused.saved)).toBeCloseTo(199 * Number(buyer.billing.charged), 6)
    for (const query of ["", "?group_by=day"]) {
      const { text: csv } = await org.get(`/v1/usage${query}`, { headers: { accept: "text/csv" } })
      expect(csv).toMatch(new RegExp(`,charged,reused,saved\n.*,199,${usage.reused.saved}\n$`))
    }
    expect(await apps[0].sql("SELECT FROM reuse_claims WHERE org_id = $1", [org.org_id])).toEqual([])
    expect(await apps[0].sql("SELECT FROM reuse_joins WHERE org_id = $1", [org.org_id])).toEqual([])
    await apps[0].books()
  })

  test("takes the result of a run that did not ask for reuse, whichever provider bought it, at once and later", async () => {
    const org = await apps[0].tenant("5.00")
    const { body: first } = await org.run(find("ada", { routing: { provider: "hunter" } }))
    for (const [index, body] of [
      find("ada", prefer),
      find("ada", { ...only, routing: { strategy: "cheapest" } })
    ].entries()) {
      const run = await over(org, index).run(body)
      expect(shown(run)).toEqual(["succeeded", "0.00", first.run_id])
      expect(run.body).toMatchObject({ provider: "hunter", attempts: [], result: first.result })
    }
    // The history worker lists it meanwhile.
    await until(
      "the listed result",
      () => apps[0].sql("SELECT FROM reusable_results WHERE run_id = $1", [first.run_id]),
      (rows) => rows.length === 1
    )
    expect(shown(await org.run(find("ada", prefer)))).toEqual(["succeeded", "0.00", first.run_id])
    expect((await org.post("/v1/quote", find("ada", prefer))).body).toMatchObject({
      ...{ hold: "0.00", maximum: "0.00", would: "run", reused_from: first.run_id }
    })
    expect(await settled(org)).toBe(1)
    const { body: inspected } = await org.post("/v1/inspect", { capability: "email.verify" })
    expect(inspected.hints).toContainEqual(expect.stringContaining("--reuse 30d"))
    const { body: reused } = await org.run(find("ada", prefer))
    const { text: jws } = await org.get(`/v1/runs/${reused.run_id}/receipt`)
    const receipt = JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString())
    expect(receipt).toMatchObject({ charge: "0.00", ledger: [], reused_from: first.run_id })
    // Without reuse, and in another organization, it is bought.
    expect(shown(await org.run(find("ada", { reuse: { mode: "never" } })))[2]).toBeUndefined()
    const other = await apps[0].tenant("5.00")
    expect(shown(await other.run(find("ada", prefer)))[2]).toBeUndefined()
    await apps[0].books()
  })

  test("says which result was taken, and not the route of a purchase that did not happen", async () => {
    const org = await apps[0].tenant("5.00")
    const { body: first } = await org.run(find("ada", { routing: { provider: "hunter" } }))
    const asked = find("ada", { ...prefer, routing: { provider: "zerobounce" } })
    const { body: quote } = await org.post("/v1/quote", asked)
    const { body: run } = await org.run(asked)
    const read = async (path: string) => (await org.get(path)).body
    const { text: jws } = await org.get(`/v1/runs/${run.run_id}/receipt`)
    const { text: csv } = await org.get("/v1/runs?limit=1", { headers: { accept: "text/csv" } })
    const shown = [
      quote.routing_reason,
      run.routing_reason,
      (await read(`/v1/runs/${run.run_id}`)).routing_reason,
      (await read("/v1/runs?limit=1")).items[0].routing_reason,
      (await read(`/v1/runs/${run.run_id}/details`)).decision.reason,
      JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()).decision.reason,
      csv
    ]
    for (const reason of shown) {
      expect(reason).toContain(`reuse: the result is that of ${first.run_id}`)
      expect(reason).not.toContain("zerobounce")
    }
    expect(run.provider).toBe("hunter")
    expect(first.routing_reason).toContain("hunter")
  })

  test("takes a result whatever the case of the domain and the address", async () => {
    const org = await apps[0].tenant("5.00")
    const named = (company_domain: string) => ({
      capability: "email.find",
      input: { full_name: "Ada Lovelace", company_domain },
      ...prefer
    })
    const { body: first } = await org.run(named("x.example.com"))
    expect(shown(await org.run(named("X.Example.COM")))).toEqual(["succeeded", "0.00", first.run_id])
    const { body: verified } = await org.run(find("Ada", prefer))
    expect(shown(await org.run(find("ada", prefer)))).toEqual(["succeeded", "0.00", verified.run_id])
  })

  test("only buys nothing, and a result that is too old, erased or failed is not taken", async () => {
    const org = await apps[0].tenant("5.00")
    expect((await org.post("/v1/quote", find("grace", only))).body).toMatchObject({ hold: "0.00", maximum: "0.00" })
    const none = await org.run(find("grace", only))
    expect([none.status, none.body.status, none.body.error.code]).toEqual([404, "no_match", "no_match"])
    expect(await settled(org)).toBe(0)
    const { body: first } = await org.run(find("grace", prefer))
    expect(first.reused_from).toBeUndefined()
    // Usage has counted it on the day on which it ended, which may not be the day two hours earlier.
    await indexedAndCounted(apps[0])
    const move = (by: string) =>
      apps[0].sql(`UPDATE runs SET finished_at = finished_at ${by} interval '2 hours' WHERE run_id = $1`, [
        first.run_id
      ])
    await move("-")
    const hour = { reuse: { mode: "only", max_age_seconds: 3_600 } }
    expect((await over(org, 1).run(find("grace", hour))).body.status).toBe("no_match")
    await move("+")
    expect(shown(await org.run(find("grace", only)))).toEqual(["succeeded", "0.00", first.run_id])
    await org.run({ capability: "email.verify", input: { email: "error@sandbox.test" } })
    expect(
      (await org.run({ capability: "email.verify", input: { email: "error@sandbox.test" }, ...only })).body.status
    ).toBe("no_match")
    const erased = await apps[0].call(await org.session(), "DELETE", "/v1/history?q=grace@example.com")
    expect(erased.body.erased).toBeGreaterThan(0)
    expect((await over(org, 1).run(find("grace", only))).body.status).toBe("no_match")
  })

  test("is not taken from a provider that the key may not call", async () => {
    const org = await apps[0].tenant("5.00")
    await org.run(find("mary", { routing: { provider: "hunter" } }))
    const { body: key } = await apps[0].call(await org.session(), "POST", "/v1/api-keys", {
      body: { name: "k", environment: "test", allow: { providers: ["leadmagic"] } }
    })
    const run = await apps[1].call(key.api_key, "POST", "/v1/run", { body: find("mary", prefer) })
    expect(shown(run)[2]).toBeUndefined()
    expect(run.body.provider).toBe("leadmagic")
  })

  test("a run that waits for one of a provider that its key may not call buys for itself", async () => {
    const org = await apps[0].tenant("5.00")
    const { body: key } = await apps[0].call(await org.session(), "POST", "/v1/api-keys", {
      body: { name: "k", environment: "test", allow: { providers: ["leadmagic"] } }
    })
    const pinned = { ...slow("Mary"), ...prefer, async: true, routing: { provider: "hunter" } }
    const { body: buyer } = await org.run(pinned)
    const run = await apps[1].call(key.api_key, "POST", "/v1/run", {
      body: { ...slow("Mary"), ...prefer, wait_seconds: 30 }
    })
    expect([run.body.status, run.body.provider, run.body.reused_from]).toEqual(["succeeded", "leadmagic", undefined])
    expect((await org.get(`/v1/runs/${buyer.run_id}?wait=30`)).body.provider).toBe("hunter")
    expect(await settled(org)).toBe(2)
    await apps[0].books()
  })

  test("a failure is shared with those who wait for it", async () => {
    const org = await apps[0].tenant("5.00")
    const failing = {
      capability: "email.verify",
      input: { email: "timeout@sandbox.test" },
      ...prefer,
      wait_seconds: 30
    }
    const runs = await Promise.all(Array.from({ length: 6 }, (_, index) => over(org, index).run(failing)))
    expect(new Set(runs.map(({ body }) => body.status))).toEqual(new Set(["timed_out"]))
    expect(runs.filter(({ body }) => body.attempts.length > 0)).toHaveLength(1)
    expect(await settled(org)).toBe(0)
    await apps[0].books()
  })

  test("a failure is not shared with a run that would call other providers", async () => {
    const org = await apps[0].tenant("5.00")
    const input = { email: "timeout_once@sandbox.test" }
    const pinned = {
      ...{ capability: "email.verify", input, ...prefer, async: true },
      routing: { provider: "hunter", allow_fallback: false }
    }
    const { body: buyer } = await org.run(pinned)
    const run = await over(org, 1).run({ capability: "email.verify", input, ...prefer, wait_seconds: 60 })
    expect((await org.get(`/v1/runs/${buyer.run_id}?wait=30`)).body.status).toBe("timed_out")
    expect(shown(run)[0]).toBe("succeeded")
    expect(run.body.attempts.length).toBeGreaterThan(1)
    await apps[0].books()
  })

  test("a joined run can be cancelled, and the others still get the result", async () => {
    const org = await apps[0].tenant("5.00")
    // Long enough for both joins and the cancel, on a busy machine too.
    const joan = { ...slow("Joan"), input: { full_name: "Joan Lovelace", company_domain: "slow-8.sandbox.test" } }
    const { body: buyer } = await org.run({ ...joan, ...prefer, async: true })
    await until(
      "the buyer",
      () => org.get(`/v1/runs/${buyer.run_id}`),
      ({ body }) => body.status === "running"
    )
    const { body: first } = await org.run({ ...joan, ...prefer, async: true })
    const { body: second } = await over(org, 1).run({ ...joan, ...prefer, async: true })
    await until(
      "both joins",
      () => apps[0].sql("SELECT FROM reuse_joins WHERE joined = $1", [buyer.run_id]),
      (rows) => rows.length === 2
    )
    expect((await org.post(`/v1/runs/${first.run_id}/cancel`)).body.status).toBe("cancelled")
    const ended = await org.get(`/v1/runs/${second.run_id}?wait=30`)
    expect(shown(ended)).toEqual(["succeeded", "0.00", buyer.run_id])
    await apps[0].books()
  })
})

describe("reuse in one process with one slot", () => {
  const app = withApp({ settings: { RUNGATE_CONCURRENCY: "1" } })

  test("if the buyer is cancelled before it started, one of those who wait for it buys", async () => {
    const org = await app.tenant("5.00")
    const busy = await org.run({ ...slow("Busy"), async: true })
    await until(
      "the busy slot",
      () => org.get(`/v1/runs/${busy.body.run_id}`),
      ({ body }) => body.status === "running"
    )
    const buyer = (await org.run({ ...find("ada", prefer), async: true })).body.run_id
    await until(
      "the buyer",
      () => org.get(`/v1/runs/${buyer}`),
      ({ body }) => body.status === "queued"
    )
    const waiting = await Promise.all([1, 2].map(() => org.run({ ...find("ada", prefer), async: true })))
    await until(
      "both joins",
      () => app.sql("SELECT FROM reuse_joins WHERE joined = $1", [buyer]),
      (rows) => rows.length === 2
    )
    expect((await org.post(`/v1/runs/${buyer}/cancel`)).body.status).toBe("cancelled")
    const ended = await Promise.all(waiting.map(({ body }) => org.get(`/v1/runs/${body.run_id}?wait=30`)))
    expect(ended.map(({ body }) => body.status)).toEqual(["succeeded", "succeeded"])
    expect(ended.filter(({ body }) => body.reused_from === undefined)).toHaveLength(1)
    await app.books()
  })

  test("raw lookups reuse raw results, and what acts is refused", async () => {
    const org = await app.tenant("5.00")
    await app.catalog(acme)
    const read = { provider: "acme", endpoint: "/people/{id}", method: "GET", path: { id: "7" }, input: {}, ...prefer }
    const { body: first } = await org.run(read)
    expect([first.status, first.reused_from]).toEqual(["succeeded", undefined])
    expect(shown(await org.run({ ...read, query: {} }))).toEqual(["succeeded", "0.00", first.run_id])
    for (const body of [
      { provider: "acme", endpoint: "/search", input: { filter: { field: "x" } }, ...prefer },
      {
        capability: "email.send",
        input: { from: "a@example.com", to: "b@example.com", subject: "s", text: "t" },
        ...prefer
      }
    ]) {
      const { status, body: answer } = await org.run(body)
      expect([status, answer.error.code, answer.error.details[0].path]).toEqual([400, "invalid_request", "reuse"])
    }
    for (const reuse of [{ mode: "always" }, { mode: "prefer", max_age_seconds: 0 }, { max_age_seconds: 5 }, "prefer"])
      expect((await org.run({ ...find("x"), reuse })).body.error.code).toBe("invalid_request")
  })
})
