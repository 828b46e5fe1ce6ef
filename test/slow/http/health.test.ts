/** Health from the outside: what runs do to the offers they were served by, and what that does to the next runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { acme } from "../../kit/provider-documents.ts"
import { latencyBucket } from "../../../src/schema/runs/Health.ts"
import { type App, figures, oneBackend, startApp, type Tenant, until } from "../../kit/app.ts"

const search = (query: string, routing: Record<string, unknown> = {}) => ({
  capability: "web.search",
  input: { query },
  routing
})
const pinned = (provider: string, query = "effect typescript") => search(query, { provider })

interface Shown {
  readonly provider: string
  readonly price: { readonly amount: string }
  readonly executable: boolean
  readonly metrics: Record<string, number | null>
  readonly health: Record<string, number | string | null>
}

describe.each(oneBackend)("health of offers, queues on %s", (backend) => {
  let app: App
  let org: Tenant
  beforeAll(async () => {
    app = await startApp({ backend, settings: { RUNGATE_HEALTH_SECONDS: "1" } })
    org = await app.tenant("100.00")
  })
  afterAll(async () => {
    await app.books()
    await app.stop()
  })

  const offers = async (): Promise<Map<string, Shown>> => {
    const { body } = await org.post("/v1/inspect", { capability: "web.search" })
    return new Map(body.offers.map((one: Shown) => [one.provider, one]))
  }
  /** The offer, once a look has found so many attempts of it. */
  const seen = async (provider: string, samples: number): Promise<Shown> => {
    const found = await until(
      `${samples} attempts of ${provider}`,
      async () => (await offers()).get(provider),
      (one) => one?.metrics["sample_size"] === samples
    )
    if (found === undefined) throw new Error("no such offer")
    return found
  }
  const runs = async (count: number, body: Record<string, unknown>) => {
    const answers = await Promise.all(Array.from({ length: count }, () => org.run(body)))
    return answers.map(({ body }) => body.status)
  }

  const noted = new Map<string, number>()
  /** Attempts as other processes would have counted them. Rehearsed failures are not counted, so runs can't make them here. */
  const note = async (provider: string, count: number, ok = false, latency_bucket = 0) => {
    noted.set(provider, (noted.get(provider) ?? 0) + count)
    for (const [span, seconds] of [
      ["5m", 300],
      ["1d", 86_400]
    ] as const) {
      const row = [
        span,
        Math.floor(Date.now() / 1_000 / seconds) * seconds,
        `web.search ${provider}`,
        ok,
        latency_bucket,
        count
      ]
      await app.sql(
        `INSERT INTO attempt_windows AS w (span, starts_at, subject, lane, ok, latency_bucket, count)
         VALUES ($1, to_timestamp($2::float8), $3, 99, $4, $5, $6)
         ON CONFLICT (span, starts_at, subject, lane, ok, latency_bucket) DO UPDATE SET count = w.count + excluded.count`,
        row
      )
    }
  }

  test("unknown at first, and routed all the same", async () => {
    const before = await offers()
    expect(before.size).toBeGreaterThan(2)
    for (const { health, metrics } of before.values()) {
      const nothing = { success_rate: null, latency_ms_p50: null, latency_ms_p95: null, sample_size: 0 }
      expect(metrics).toEqual(nothing)
      expect(health).toEqual({ status: "unknown", source: "measured", ...nothing })
    }
  })

  test("five failures are an outage; routing turns to others, and still falls back to it", async () => {
    const [best = "", next = ""] = [...(await offers()).values()]
      .toSorted((a, b) => Number(a.price.amount) - Number(b.price.amount) || (a.provider < b.provider ? -1 : 1))
      .map((one) => one.provider)
    // A rehearsal fails as it should, and changes nobody's health.
    for (const word of ["error", "rate_limited", "malformed"])
      expect(await runs(2, pinned(best, `sandbox:${word}`))).toEqual(["failed", "failed"])
    await note(best, 5)
    const { metrics, health, executable } = await seen(best, 5)
    expect(metrics).toEqual({ success_rate: 0, latency_ms_p50: null, latency_ms_p95: null, sample_size: 5 })
    expect(health).toEqual({ status: "outage", source: "measured", ...metrics })
    expect(executable).toBe(true)
    const surest = await org.run(search("bun", { strategy: "highest_success_rate" }))
    expect(surest.body.provider).not.toBe(best)
    // A cheap offer that fails now and then is still a bargain: the dearer the next one, the more failures it takes.
    await note(best, 10)
    await seen(best, 15)
    const { body } = await org.run(search("bun"))
    expect([body.status, body.provider]).toEqual(["succeeded", next])
    expect(body.routing_reason).toContain(`best_value: ${next}`)
    // It is not skipped: pinned, it is asked, and when it delivers again its outage is over.
    expect((await org.run(pinned(best))).body.status).toBe("succeeded")
    expect((await seen(best, 16)).health).toMatchObject({ status: "degraded", success_rate: 0.0625 })
  })

  test("successes and misses make an offer healthy, with latencies", async () => {
    const samples = Number((await offers()).get("tavily")?.metrics["sample_size"] ?? 0)
    expect(await runs(2, pinned("tavily"))).toEqual(Array(2).fill("succeeded"))
    expect(await runs(1, pinned("tavily", "sandbox:no_match"))).toEqual(["no_match"])
    await note("tavily", 1, true)
    await note("tavily", 1, true, latencyBucket(1_000))
    const { metrics, health } = await seen("tavily", samples + 4)
    expect(health).toMatchObject({ status: "healthy", success_rate: 1, source: "measured" })
    expect(metrics["latency_ms_p50"]).toBeLessThan(500)
    expect(metrics["latency_ms_p95"]).toBeGreaterThan(850)
    const { body } = await org.run(search("bun", { strategy: "highest_success_rate" }))
    expect(body.routing_reason).toContain(`${samples + 4} calls measured`)
  })

  test("every attempt that its run shows is counted once, whichever process ended the run", async () => {
    const other = await startApp({ beside: app })
    const there = org.over(other)
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 === 0 ? org : there).run(search(n % 5 === 0 ? "sandbox:error" : "bun"))
      )
    )
    await other.stop()
    const rows = await app.sql(
      "SELECT attempts FROM runs WHERE capability = 'web.search' AND input::text NOT LIKE '%sandbox:%'"
    )
    const made = new Map(noted)
    for (const one of rows.flatMap((row) => (Array.isArray(row["attempts"]) ? row["attempts"] : [])))
      made.set(one.provider, (made.get(one.provider) ?? 0) + 1)
    for (const [provider, count] of made) await seen(provider, count)
    const windows = await app.sql(
      "SELECT span, sum(count)::int AS count FROM attempt_windows GROUP BY span ORDER BY span"
    )
    const all = [...made.values()].reduce((a, b) => a + b)
    expect(windows).toEqual([
      { span: "1d", count: all },
      { span: "5m", count: all }
    ])
    figures("health.counts", { backend, runs: rows.length, attempts: all, counted: all })
  })

  test("/metrics says how providers did in the last hour, and of no customer", async () => {
    const text = await app.metrics()
    const line = (result: string) =>
      Number(
        new RegExp(
          `^rungate_attempts_last_hour\\{capability="web.search",provider="tavily",result="${result}"\\} (\\d+)$`,
          "m"
        ).exec(text)?.[1]
      )
    const { sample_size = 0, success_rate = 0 } = (await offers()).get("tavily")?.metrics ?? {}
    expect(line("ok") + line("failed")).toBe(sample_size ?? 0)
    expect(line("ok") / (line("ok") + line("failed"))).toBeCloseTo(success_rate ?? 0, 3)
    expect(line("ok")).toBeGreaterThanOrEqual(4)
    expect(text).not.toContain(org.org_id)
  })
})

test("nobody looks when told not to: offers stay unmeasured, and what happens is counted for later", async () => {
  const blind = await startApp({ settings: { RUNGATE_HEALTH_SECONDS: "0" } })
  const org = await blind.tenant("10.00")
  await org.run(pinned("serper"))
  const asked = async (app: App) => {
    const { body } = await org.over(app).post("/v1/inspect", { capability: "web.search" })
    return body.offers.find((one: Shown) => one.provider === "serper").health
  }
  expect(await asked(blind)).toMatchObject({ status: "unknown", sample_size: 0 })
  // A process that looks does so before it answers anybody.
  const seeing = await startApp({ beside: blind, settings: { RUNGATE_HEALTH_SECONDS: "3600" } })
  expect(await asked(seeing)).toMatchObject({ status: "healthy", sample_size: 1 })
  await seeing.stop()
  await blind.stop()
})

test("a raw endpoint is measured by path and method; published runs stand in until it is", async () => {
  const app = await startApp({ settings: { RUNGATE_HEALTH_SECONDS: "1" } })
  await app.catalog(acme)
  const org = await app.tenant("10.00")
  const asked = async (endpoint: string, method: string) =>
    (await org.post("/v1/inspect", { provider: "acme", endpoint, method })).body.health
  const reported = await asked("someone/some-actor", "POST")
  expect(reported).toMatchObject({
    status: "stable",
    source: "provider_reported",
    sample_size: 100,
    success_rate: 0.98
  })
  expect(reported.latency_ms_p50).toBeNull()
  const raw = (body: Record<string, unknown>) => org.run({ provider: "acme", input: {}, ...body })
  const person = { endpoint: "/people/{id}", method: "GET" }
  for (const id of ["1", "2"]) expect((await raw({ ...person, path: { id } })).body.status).toBe("succeeded")
  expect((await raw({ endpoint: "someone/some-actor", input: { x: "sandbox:error" } })).body.status).toBe("failed")
  const seen = await until(
    "the attempts",
    () => asked("/people/{id}", "GET"),
    (health) => health.sample_size === 2
  )
  expect(seen).toMatchObject({ status: "healthy", source: "measured", success_rate: 1 })
  expect(await asked("/people/{id}", "DELETE")).toMatchObject({ status: "unknown", sample_size: 0 })
  const actor = await asked("someone/some-actor", "POST")
  // The failure was a rehearsal.
  expect(actor).toEqual(reported)
  const text = await app.metrics()
  expect(text).toContain('rungate_attempts_last_hour{capability="endpoint",provider="acme",result="ok"} 2\n')
  expect(text).toContain('rungate_attempts_last_hour{capability="endpoint",provider="acme",result="failed"} 0\n')
  await app.stop()
})
