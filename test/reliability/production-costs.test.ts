/**
 * T08, raw: a call that costs its provider's account $125 holds that much before it leaves, is charged what it cost, and leaves
 * from no wallet and under no cap that would not pay for it.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { figures, type Tenant, withApp } from "../kit/app.ts"
import { documentOf, endpointOf } from "../kit/provider-documents.ts"
import { standIn } from "../layers/providers/standin.ts"

const path = "/v3/on_page/task_post"
/** The provider's own endpoint, at $0.000125 per page. */
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
    cost: { model: "per_call", estimate: "0.00015", note: "Per page." },
    price: {
      base: "0.00015",
      drivers: [{ field: "max_crawl_pages", counts: "number", multiplies: true, max: 1_000_000 }]
    }
  })
])

const there = standIn()
let org: Tenant
const app = withApp({ settings: there.settings })
beforeAll(async () => {
  await app.catalog(dataforseo)
})
afterAll(async () => {
  await there.stop()
})
beforeEach(() => there.forget())
afterEach(async () => {
  await app.books()
})

const input = { target: "example.com", max_crawl_pages: 1_000_000 }
const crawl = (more: Record<string, unknown> = {}) =>
  org.run({ provider: "dataforseo", endpoint: path, input, ...more })
const reports = (cost: number) => there.play("dataforseo", { status: 200, body: JSON.stringify({ cost, tasks: [] }) })
const moved = async () => [...(await org.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)

test("a crawl of a million pages holds $225 and is charged the $125 that it cost, at the platform's rate", async () => {
  org = await app.tenant("500.00")
  reports(125)
  expect((await crawl()).body).toMatchObject({ status: "succeeded", billing: { quoted: "150.00", charged: "150.00" } })
  expect(await moved()).toEqual(["bonus 500.00", "reserve -225.00", "settle -150.00", "release 75.00"])
  figures("T08 hold.raw_crawl", { measured: "125.00", held: "225.00", charged: "150.00" })
})

test("at the smallest cap too, and never less than it cost", async () => {
  org = await app.tenant("500.00")
  reports(125)
  const { body } = await crawl({ routing: { max_cost: "150.00" } })
  expect(body.billing.charged).toBe("150.00")
})

test("a wallet that can't pay for it starts none", async () => {
  org = await app.tenant("5.00")
  expect((await crawl()).body.error.code).toBe("insufficient_balance")
  expect([there.heard(), await moved()]).toEqual([[], ["bonus 5.00"]])
})

test.each(["0", "1.00", "149.999999"])("a cap of %s starts none", async (max_cost) => {
  org = await app.tenant("500.00")
  const { status, body } = await crawl({ routing: { max_cost } })
  expect([status, body.error.details[0].path]).toEqual([400, "routing.max_cost"])
  expect([there.heard(), await moved()]).toEqual([[], ["bonus 500.00"]])
})

test("ten such tasks at once are ten times as much", async () => {
  org = await app.tenant("2000.00")
  const { body } = await org.run({
    provider: "dataforseo",
    endpoint: path,
    input: Array.from({ length: 10 }, () => input)
  })
  expect(body.error.message).toContain("holds up to $2250.00")
  expect(there.heard()).toEqual([])
})
