/**
 * Quotes in production, over real HTTP to a server that stands in for all providers: a run that follows holds what the quote said, calls
 * in its order and charges within its bounds, whatever the providers answer, and what a run refuses a quote refuses.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { Layer } from "effect"
import fc from "fast-check"
import { LookSeconds } from "../../../src/actors/runs/OutcomeLookups.ts"
import { DriftTolerancePercent } from "../../../src/layers/executor/CostDrifts.ts"
import { figures, type Tenant, verify, withApp } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { howMany } from "../../kit/input-samples.ts"
import { answer, type Played } from "../../layers/providers/stage.ts"
import { hasten, standIn } from "../../layers/providers/standin.ts"

/** A provider without an account here. */
const absent = "icypeas"
const path = "/v3/on_page/task_post"
/** A raw endpoint at $0.0012 per page, whose answer reports its cost. */
const dataforseo = documentOf("dataforseo", [
  endpointOf({
    path,
    method: "POST",
    body_type: "task",
    body: {
      type: "object",
      properties: { target: { type: "string" }, max_crawl_pages: { type: "integer" } },
      required: ["target"]
    },
    cost: { model: "per_call", estimate: "0.001", note: "Per page." },
    price: {
      base: "0.001",
      drivers: [{ field: "max_crawl_pages", counts: "number", multiplies: true, max: 1_000_000 }]
    }
  })
])

let org: Tenant
let others: Tenant
const there = standIn()
const unhasten = hasten()
const app = withApp({
  settings: { ...there.settings, [`RUNGATE_PROVIDER_${absent.toUpperCase()}_API_KEY`]: "" },
  // Costs are at random here. A price that follows them could change between a quote and its run.
  limits: Layer.merge(Layer.succeed(LookSeconds, 3_600), Layer.succeed(DriftTolerancePercent, 1e15))
})
beforeAll(async () => {
  await app.catalog(dataforseo)
  org = await app.tenant("5000.00")
  others = await app.tenant("20.00")
})
afterAll(async () => {
  await there.stop()
  unhasten()
})
beforeEach(() => there.forget())
afterEach(async () => {
  await app.books()
})

type Json = ReturnType<typeof JSON.parse>
const micros = (text: string | null | undefined) => Math.round(Number(text ?? "0") * 1_000_000)
const chosenOf = (quote: Json): ReadonlyArray<string> =>
  quote.offers.flatMap((one: { provider: string; chosen: boolean }) => (one.chosen ? [one.provider] : []))

/** Quotes, then runs at once, and compares both. The run's body; null if both were refused alike. */
const expectFollowed = async (body: Json, play: () => void): Promise<{ quote: Json; run: Json } | null> => {
  const { status, body: quote } = await org.post("/v1/quote", body)
  expect(there.heard()).toEqual([])
  play()
  const { status: ran, body: run } = await org.run({ ...body, wait_seconds: 60 })
  if (status !== 200) {
    expect([status, quote.error]).toEqual([ran, run.error])
    return null
  }
  const [entry] = await app.sql("SELECT amount FROM ledger WHERE run_id = $1 AND type = 'reserve'", [run.run_id])
  expect([body, Number(entry?.["amount"] ?? 0)]).toEqual([body, 0 - micros(quote.hold)])
  const charged = micros(run.billing.charged)
  expect(charged).toBeGreaterThanOrEqual(micros(quote.minimum))
  expect(charged).toBeLessThanOrEqual(micros(quote.maximum))
  const called: ReadonlyArray<string> = run.attempts.map((one: { provider: string }) => one.provider)
  expect(chosenOf(quote).slice(0, called.length)).toEqual([...called])
  there.forget()
  return { quote, run }
}

test("a metered search is charged for what it delivers, within the quote", async () => {
  const searches = fc.integer({ min: 1, max: 25 }).chain((limit) =>
    fc.record({
      limit: fc.constant(limit),
      found: fc.integer({ min: 0, max: limit + 3 }),
      // What the provider charges us, which no customer pays beyond the quote.
      total: fc.constantFrom(0, 0.0001, 0.007, 0.02, 5)
    })
  )
  let partial = 0
  for (const { limit, found, total } of fc.sample(searches, { numRuns: howMany(200, 25), seed: 11 })) {
    const profiles = Array.from({ length: found }, (_, index) => ({
      ...{ id: `p${index}`, title: `Person ${index} | CTO`, url: `https://www.linkedin.com/in/p${index}` }
    }))
    const both = await expectFollowed(
      { capability: "people.search", input: { titles: ["CTO"], limit }, routing: { provider: "exa" } },
      () => there.play("exa", answer(200, { results: profiles, costDollars: { total } }))
    )
    const { quote, run } = both ?? expect.unreachable("a quote was refused")
    expect(run.status).toBe(found === 0 ? "no_match" : "succeeded")
    if (found === 0) expect(run.billing.charged).toBeNull()
    else if (found < limit) {
      partial += 1
      expect(micros(run.billing.charged)).toBeLessThan(micros(quote.maximum))
    } else expect(run.billing.charged).toBe(quote.offers.find((one: Json) => one.chosen).price)
  }
  expect(partial).toBeGreaterThan(0)
  figures("quotes.metered", { partial })
})

test("a raw call is charged the cost that its provider reports, within the quote", async () => {
  const calls = fc.record({
    max_crawl_pages: fc.integer({ min: 1, max: 10_000 }),
    /** Of the published rates. */
    share: fc.double({ min: 0, max: 4, noNaN: true }),
    reports: fc.boolean()
  })
  for (const { max_crawl_pages, share, reports } of fc.sample(calls, { numRuns: howMany(200, 25), seed: 12 })) {
    const cost = Number((max_crawl_pages * 0.001 * share).toFixed(6))
    const body = { provider: "dataforseo", endpoint: path, input: { target: "example.com", max_crawl_pages } }
    await expectFollowed(body, () =>
      there.play("dataforseo", answer(200, reports ? { cost, tasks: [] } : { tasks: [] }))
    )
  }
})

test("a run falls back in the order of its quote and is charged the price of the provider that delivers", async () => {
  const good = { email: "jane.doe@example.com", address: "jane.doe@example.com" }
  const lines: Readonly<Record<string, Played>> = {
    good: answer(200, { ...good, result: "ok", email_status: "valid", status: "valid" }),
    broken: answer(200, '{"email_status": "val'),
    page: answer(200, "<html>maintenance</html>"),
    rejected: answer(404, {})
  }
  const cases = fc.record({
    strategy: fc.constantFrom("highest_success_rate", "highest_success_rate", "best_value", "cheapest"),
    answers: fc.array(fc.constantFrom(...Object.keys(lines)), { minLength: 3, maxLength: 3 }),
    max_total: fc.option(fc.constantFrom("0.004", "0.008", "0.02"), { nil: undefined })
  })
  let fallbacks = 0
  for (const { strategy, answers, max_total } of fc.sample(cases, { numRuns: howMany(100, 20), seed: 13 })) {
    const routing = { strategy, ...(max_total === undefined ? {} : { max_total }) }
    const both = await expectFollowed({ ...verify(), routing }, () =>
      ["leadmagic", "millionverifier", "zerobounce"].forEach((slug, index) =>
        there.play(slug, lines[answers[index] ?? "good"] ?? expect.unreachable("no such answer"))
      )
    )
    if (both === null) continue
    const { quote, run } = both
    if (run.attempts.length > 1) fallbacks += 1
    if (run.status !== "succeeded") expect(run.billing.charged).toBeNull()
    else {
      const paid = quote.offers.find((one: { provider: string }) => one.provider === run.provider)
      expect(run.billing.charged).toBe(paid.price)
    }
  }
  expect(fallbacks).toBeGreaterThan(0)
})

test("a provider without an account is named, and pinning it is refused as a run is", async () => {
  const { status, body } = await org.post("/v1/quote", verify())
  expect(status).toBe(200)
  expect(chosenOf(body)).not.toContain(absent)
  expect(body.offers.find((one: { provider: string }) => one.provider === absent)).toMatchObject({
    chosen: false,
    excluded_because: "no_account"
  })
  const pinned = { ...verify(), routing: { provider: absent } }
  const [quote, run] = [await org.post("/v1/quote", pinned), await org.run(pinned)]
  expect([quote.status, quote.body.error]).toEqual([run.status, run.body.error])
  expect(quote.body.error.message).toContain(`no account at ${absent}`)
  expect(there.heard()).toEqual([])
})

test("another organization's inbox is as unknown to a quote as one that does not exist", async () => {
  const inbox_id = "sales@agentmail.to"
  there.play("agentmail", answer(200, { inbox_id, display_name: "Sales", created_at: "2026-01-15T09:30:00Z" }))
  const made = await org.run({ capability: "email.inbox_create", input: { username: "sales" } })
  expect([made.status, made.body.result?.inbox_id]).toEqual([200, inbox_id])
  there.forget()
  const read = (id: string) => ({ capability: "email.messages", input: { inbox_id: id } })
  expect((await org.post("/v1/quote", read(inbox_id))).status).toBe(200)
  const nobody = "nobody@agentmail.to"
  const [foreign, unknown, run] = [
    await others.post("/v1/quote", read(inbox_id)),
    await others.post("/v1/quote", read(nobody)),
    await others.run(read(inbox_id))
  ]
  expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, "input.inbox_id"])
  expect(foreign.body.error).toEqual(run.body.error)
  expect(foreign.body.error.message.replace(inbox_id, nobody)).toBe(unknown.body.error.message)
  const mail = { to: "lead@example.com", subject: "Hello", text: "Hi", from: inbox_id }
  const send = await others.post("/v1/quote", { capability: "email.send", input: mail })
  expect([send.status, send.body.error.details[0].path]).toEqual([400, "input.from"])
  expect(there.heard()).toEqual([])
  expect((await others.list()).body.items).toEqual([])
})
