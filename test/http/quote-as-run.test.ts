/** A run that follows a quote at once holds what the quote said, and charges within its bounds, whatever the request and the answers. */
import { beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { strategies } from "../../src/schema/runs/Routing.ts"
import { type Tenant, verify, withApp } from "../kit/app.ts"
import { crawler } from "../kit/provider-documents.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  await app.catalog(crawler)
  org = await app.tenant("100000.00")
})

const words = ["jane", "no_match", "error", "malformed", "error_once", "no_match_once", "rate_limited"]
const capability = fc.oneof(
  fc.constantFrom(...words).map((word) => verify(word, "sandbox.test")),
  fc.constantFrom(...capabilities).map(({ slug, example }) => ({ capability: slug, input: example }))
)
const raw = fc.integer({ min: 1, max: 1_000_000 }).map((limit) => ({
  provider: "acme",
  endpoint: "/crawl",
  input: { url: "https://example.com", limit }
}))
const amount = fc.integer({ min: 1, max: 200_000 }).map((micros) => (micros / 1_000_000).toFixed(6))
const caps = { max_cost: amount, max_total: amount }
const requests = fc.oneof(
  fc
    .tuple(
      capability,
      fc.record(
        { strategy: fc.constantFrom(...strategies), allow_fallback: fc.boolean(), ...caps },
        { requiredKeys: [] }
      )
    )
    .map(([body, routing]) => ({ ...body, routing })),
  fc.tuple(raw, fc.record(caps, { requiredKeys: [] })).map(([body, routing]) => ({ ...body, routing }))
)
const micros = (text: string | null | undefined) => Math.round(Number(text ?? "0") * 1_000_000)

test("a run that follows holds and charges what the quote said", async () => {
  for (const body of fc.sample(requests, { numRuns: 80, seed: 7 })) {
    const { status, body: quote } = await org.post("/v1/quote", body)
    const run = await org.run(body)
    if (status !== 200) {
      expect([status, quote.error]).toEqual([run.status, run.body.error])
      continue
    }
    expect([body, quote.would]).toEqual([body, "run"])
    const entries = await app.sql("SELECT amount FROM ledger WHERE run_id = $1 AND type = 'reserve'", [run.body.run_id])
    expect([body, Number(entries[0]?.["amount"] ?? 0)]).toEqual([body, 0 - micros(quote.hold)])
    const charged = micros(run.body.billing.charged)
    expect(charged).toBeGreaterThanOrEqual(micros(quote.minimum))
    expect(charged).toBeLessThanOrEqual(micros(quote.maximum))
    expect(micros(quote.expected)).toBeLessThanOrEqual(micros(quote.maximum))
    const chosen = quote.offers.filter((one: { chosen: boolean }) => one.chosen)
    const called = run.body.attempts.map((one: { provider: string }) => one.provider)
    expect(chosen.map((one: { provider: string }) => one.provider).slice(0, called.length)).toEqual(called)
    const { max_total } = body.routing
    if (max_total !== undefined && "capability" in body) {
      const sum = chosen.reduce((total: number, one: { price: string }) => total + micros(one.price), 0)
      expect(sum).toBeLessThanOrEqual(micros(max_total))
    }
  }
  await app.books()
})
