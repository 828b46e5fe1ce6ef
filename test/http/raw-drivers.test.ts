/** A raw call whose price follows its input, over HTTP: what it holds, what is refused and where, and what inspect says of it. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Tenant, withApp } from "../kit/app.ts"
import { crawler } from "../kit/provider-documents.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  await app.catalog(crawler)
  org = await app.tenant("1000.00")
})

const url = "https://example.com"
const run = (endpoint: string, input: unknown, more: Record<string, unknown> = {}) =>
  org.run({ provider: "acme", endpoint, input, ...more })
const held = async () => (await org.ledger()).find(({ type }) => type === "reserve")?.amount
const refusal = async (endpoint: string, input: unknown, more: Record<string, unknown> = {}) => {
  const before = await org.wallet()
  const { status, body } = await run(endpoint, input, more)
  expect([status, body.error?.code]).toEqual([400, "invalid_request"])
  expect(await org.wallet()).toEqual(before)
  return `${body.error.details[0].path} ${body.error.details[0].message}`
}

describe("a raw call whose price follows its input", () => {
  test("is quoted, held and charged by its own input", async () => {
    const ran = await run("/crawl", { url, limit: 1_000 })
    expect(ran.body.billing).toMatchObject({ quoted: "0.15", charged: "0.15" })
    expect(await held()).toBe("-0.225")
    expect(ran.body.routing_reason).toContain("rate card $0.15, holds $0.225")
    // A number in text is a number to the provider, so it is one here.
    expect((await run("/crawl", { url, limit: "1000", formats: ["html", "json"] })).body.billing.quoted).toBe("0.75")
    expect((await run("/search", { q: "x" })).body.billing.quoted).toBe("0.012")
    expect((await run("/search", {}, { query: { q: "x", limit: 50 } })).body.billing.quoted).toBe("0.06")
  })

  test("of several tasks is the sum of all, rounded once", async () => {
    const tasks = [1, 2, 3].map((limit) => ({ url, limit }))
    expect((await run("/crawls", tasks)).body.billing.quoted).toBe("0.0009")
    expect(await refusal("/crawls", [...tasks, { url }])).toBe(
      "input.3.limit is required: it determines the price of the call"
    )
  })

  test.each([
    ["left out", { url }, "input.limit is required"],
    ["null", { url, limit: null }, "input.limit"],
    ["zero", { url, limit: 0 }, "input.limit must be at least 1"],
    ["negative", { url, limit: -5 }, "input.limit must not be negative"],
    ["no number", { url, limit: "lots" }, "input.limit must be a whole number"],
    ["hexadecimal", { url, limit: "0xfffff" }, "input.limit must be a whole number"],
    ["above the maximum", { url, limit: 1_000_001 }, "input.limit must be at most 1000000"],
    ["above the maximum, as text", { url, limit: "1e9" }, "input.limit must be at most 1000000"],
    ["spelled otherwise", { url, Limit: 5 }, "input.Limit is not a described field. Did you mean `limit`?"],
    [
      "spelled otherwise beside it",
      { url, limit: 5, LIMIT: 1_000_000 },
      "input.LIMIT is not a described field. Did you mean `limit`?"
    ],
    ["unknown to the schema", { url, limit: 5, max_pages: 1_000_000 }, "input.max_pages is not a described field"]
  ])("with a limit that is %s is refused at the field", async (_name, input, message) => {
    expect(await refusal("/crawl", input)).toStartWith(message)
  })

  test("with a field that is given twice is refused: the provider might count the other one", async () => {
    const body = `{"provider":"acme","endpoint":"/crawl","input":{"url":"${url}","limit":1000000,"limit":1}}`
    const { status, body: answer } = await org.post("/v1/run", undefined, { raw: body })
    expect([status, answer.error.details[0].path]).toEqual([400, "input.limit"])
    const escaped = body.replace('"limit":1000000', '"l\\u0069mit":1000000')
    expect((await org.post("/v1/run", undefined, { raw: escaped })).status).toBe(400)
  })

  test("under a cap below its own estimate is refused, and runs at the cap that the refusal names", async () => {
    const input = { url, limit: 1_000_000 }
    const message = await refusal("/crawl", input, { routing: { max_cost: "149.99" } })
    expect(message).toBe("routing.max_cost must be at least 150.00: this call is estimated at $150.00")
    expect((await run("/crawl", input, { routing: { max_cost: "150.00" } })).body.billing.charged).toBe("150.00")
  })

  test("that no wallet could pay for is refused by the wallet, and reaches nobody", async () => {
    const poor = await app.tenant("5.00")
    const { body } = await poor.run({ provider: "acme", endpoint: "/crawl", input: { url, limit: 1_000_000 } })
    expect([body.error.code, body.attempts]).toEqual(["insufficient_balance", []])
    expect(body.error.message).toContain("$225.00")
  })

  test("the books add up", () => app.books())
})

describe("inspect of such an endpoint", () => {
  const inspect = async (endpoint: string) => (await org.post("/v1/inspect", { provider: "acme", endpoint })).body

  test("names what drives the price, and its example runs at the example's own cap", async () => {
    const body = await inspect("/crawl")
    expect(body.cost).toMatchObject({ model: "per_call", estimate: "0.00015", currency: "USD", base: "0.00015" })
    expect(body.cost.drivers).toMatchObject([
      { field: "limit", multiplies: true, max: 1_000_000 },
      { field: "formats", times: { json: "5" } }
    ])
    expect(body.cost.drivers.map((one: { description: string }) => one.description)).toEqual([
      "limit: multiplies the price by its number; required; at most 1000000. All pages are charged at once.",
      "formats: json multiplies the price by 5."
    ])
    // Ten pages, and half as much again.
    expect(body.example.routing.max_cost).toBe("0.00225")
    expect(body.run.cli).toContain("--max-cost 0.00225")
    expect(body.hints.join(" ")).toContain("To limit it, set limit, formats.")
    expect((await org.run(body.example)).body.billing.charged).toBe("0.0015")
  })

  test("shows each amount with two decimals at least", async () => {
    const { cost } = (await org.post("/v1/inspect", { provider: "crustdata", endpoint: "/person/enrich" })).body
    const amounts = [
      cost.base,
      ...cost.drivers.flatMap(({ price, values = {} }: { price?: string; values?: Record<string, string> }) => [
        ...(price === undefined ? [] : [price]),
        ...Object.values(values)
      ])
    ]
    expect(amounts).toContain("0.60")
    for (const amount of amounts) expect(amount).toMatch(/^\d+\.\d{2,}$/)
  })

  test("of a flat price says nothing of drivers", async () => {
    const body = await inspect("/plain")
    expect(body.cost).toEqual({ model: "per_call", estimate: "0.02", currency: "USD", note: null })
    expect(await refusal("/plain", { name: "x", limit: 500 })).toStartWith("input.limit is not a described field")
    expect((await run("/plain", { name: "x", other: 500 })).status).toBe(200)
  })
})
