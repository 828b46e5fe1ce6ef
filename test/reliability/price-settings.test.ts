/**
 * Prices are the operator's: what a plan pays for a credit and the markup change quotes, holds and charges of capabilities and raw
 * endpoints alike. A run is charged what it was admitted for, even if another process with other prices settles it.
 */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import { Effect, Exit } from "effect"
import { settingsOf } from "../../src/layers/platform/Settings.ts"
import { deliveryOf } from "../../src/actors/runs/Delivery.ts"
import { emailFind } from "../../src/schema/capabilities/email.find.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { flat } from "../../src/schema/money/Pricing.ts"
import { startApp, type Tenant, withApp } from "../kit/app.ts"
import { standIn } from "../layers/providers/standin.ts"

const there = standIn()
const plan = { RUNGATE_PROVIDER_HUNTER_CREDIT_USD: "0.05", RUNGATE_MARKUP: "1.5", RUNGATE_PROVIDER_EXA_CREDIT_USD: "9" }
let org: Tenant
const app = withApp({ settings: { ...there.settings, ...plan } })
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("10.00")
})
afterEach(async () => {
  await app.books()
})

const found = {
  status: 200,
  body: JSON.stringify({
    data: {
      email: "jane@example.com",
      score: 90,
      domain: "example.com",
      verification: { status: "valid" },
      sources: []
    }
  })
}
const find = {
  capability: "email.find",
  input: { full_name: "Jane Doe", company_domain: "example.com" },
  routing: { provider: "hunter" }
}
const moved = async () => [...(await org.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)

test("a capability: inspect, quote, hold and charge", async () => {
  const { body } = await org.post("/v1/inspect", { capability: "email.find" })
  const offer = body.offers.find((one: { provider: string }) => one.provider === "hunter")
  expect(offer.price.amount).toBe("0.075")
  there.play("hunter", found)
  const run = await org.run(find)
  expect(run.body).toMatchObject({ status: "succeeded", billing: { quoted: "0.075", charged: "0.075" } })
  expect(await moved()).toEqual(["bonus 10.00", "reserve -0.075", "settle -0.075"])
})

test("a raw endpoint: inspect, and what a reported cost is charged", async () => {
  const { body } = await org.post("/v1/inspect", { provider: "hunter", endpoint: "/email-finder" })
  expect(body.cost).toMatchObject({ estimate: "0.075", note: "1 credit of $0.05 per call." })
  there.play("hunter", found)
  const raw = { provider: "hunter", endpoint: "/email-finder", input: { domain: "example.com", full_name: "Jane Doe" } }
  expect((await org.run(raw)).body.billing).toMatchObject({ charged: "0.075" })
  // 0.015 USD as reported × 1.5; the setting of a provider without credits has no effect.
  there.play("exa", { status: 200, body: JSON.stringify({ results: [], costDollars: { total: 0.005 } }) })
  const search = await org.run({ provider: "exa", endpoint: "/search", input: { query: "x" } })
  expect(search.body.billing).toMatchObject({ charged: "0.0075" })
})

test.each([
  [
    "higher",
    { RUNGATE_PROVIDER_HUNTER_CREDIT_USD: "2", RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "1", RUNGATE_MARKUP: "3" }
  ],
  [
    "lower",
    { RUNGATE_PROVIDER_HUNTER_CREDIT_USD: "0.001", RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "0.001", RUNGATE_MARKUP: "1" }
  ]
])("a run is charged as admitted, though the process that executes it has %s prices", async (_, others) => {
  const front = await startApp({ role: "http", settings: { ...there.settings, ...plan } })
  const worker = await startApp({ beside: front, role: "worker", settings: { ...there.settings, ...others } })
  try {
    const customer = await front.tenant("10.00")
    there.play("hunter", found)
    const run = await customer.run(find)
    expect(run.body).toMatchObject({ status: "succeeded", billing: { quoted: "0.075", charged: "0.075" } })
    there.play("hunter", found)
    const input = { domain: "example.com", full_name: "Jane Doe" }
    const raw = await customer.run({ provider: "hunter", endpoint: "/email-finder", input })
    expect(raw.body.billing).toMatchObject({ charged: "0.075" })
    // One credit, as reported: $0.01 × 1.5.
    there.play("leadmagic", { status: 200, body: JSON.stringify({ email: "a@b.co", credits_consumed: 1 }) })
    const person = { first_name: "Ada", last_name: "Lovelace", domain: "example.com" }
    const measured = await customer.run({ provider: "leadmagic", endpoint: "/v1/people/email-finder", input: person })
    expect(measured.body.billing).toMatchObject({ charged: "0.015" })
    await front.books()
  } finally {
    await worker.stop()
    await front.stop()
  }
})

test("a run whose plan is of an older version, without prices, is charged its hold at most", () => {
  const output = {
    email: "jane@example.com",
    email_status: "valid",
    confidence: null,
    first_name: null,
    last_name: null,
    company_domain: null,
    source_count: null
  }
  const answered = { answer: { _tag: "Match", output }, duration_ms: 1, raw: null, measured: null } as const
  const agreed = { provider: "hunter", price: flat("0.075"), rated: flat("0.075"), hold: dollars("0.0294"), own: false }
  expect(deliveryOf(emailFind, agreed, emailFind.example, answered, {}, false)?.charge).toBe(dollars("0.0294"))
})

test.each([
  ["RUNGATE_MARKUP", ["0.99", "0", "-1", "1e3", "10.1", "NaN", "1.23456", "free"], "from 1 to 10"],
  [
    "RUNGATE_PROVIDER_HUNTER_CREDIT_USD",
    ["0", "0.0", "-0.1", "1e-3", "100.01", "Infinity", "0.0000000001", "$1"],
    "above 0 to 100"
  ]
])("%s: other values are refused at start, with the range", async (name, values, range) => {
  for (const value of values) {
    const exit = await Effect.runPromiseExit(settingsOf({ [name]: value }))
    const told = Exit.isFailure(exit) ? String(exit.cause) : "accepted"
    expect(told).toContain(`${name} must be a decimal number ${range}`)
  }
})
