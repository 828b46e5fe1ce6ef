/** Raw calls whose price follows their input, as a user of the command and an agent with tools meet them. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { crawler } from "../../../kit/provider-documents.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  await app.catalog(crawler)
  org = await app.tenant("1000.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
})

const crawl = (limit: unknown) =>
  `rungate call acme /crawl -i '${JSON.stringify({ url: "https://example.com", limit })}'`

test("a cap below the estimate ends with the code of money, and names the cap that would do", async () => {
  const refused = await home.shell(`${crawl(1_000)} --max-cost 0`)
  expect([refused.code, refused.body.error.code]).toEqual([6, "invalid_request"])
  expect(refused.err.trim()).toBe("rungate: --max-cost must be at least 0.15: this call is estimated at $0.15")
  const ran = await home.shell(`${crawl(1_000)} --max-cost 0.15`)
  expect([ran.code, ran.body.billing.charged]).toEqual([0, "0.15"])
})

test("a field that decides the price and is missing is named", async () => {
  const { code, err } = await home.shell(`${crawl(undefined)} --max-cost 1`)
  expect([code, err.trim()]).toEqual([5, "rungate: input.limit is required: it determines the price of the call"])
})

test("--dry-run quotes this very call", async () => {
  const quoteOf = async (line: string) => (await home.shell(`${line} --dry-run`)).body.quote
  expect(await quoteOf(crawl(1_000_000))).toMatchObject({ hold: "225.00", from: "150.00" })
  expect(await quoteOf(crawl("10"))).toMatchObject({ hold: "0.00225", from: "0.0015" })
  expect(await quoteOf("rungate call acme /search -i '{}' --query '{\"limit\":100}'")).toMatchObject({ hold: "0.18" })
  const three = JSON.stringify([1, 2, 3].map((limit) => ({ url: "x", limit })))
  expect(await quoteOf(`rungate call acme /crawls -i '${three}'`)).toMatchObject({ hold: "0.00135" })
  expect(await quoteOf("rungate call acme /plain -i '{}'")).toMatchObject({ hold: "0.03", from: "0.02" })
})

test("a person who says yes to the quote of a large call gets that call", async () => {
  const screen = home.terminal(crawl(10_000))
  await screen.shows("at most $2.25, from $1.50")
  screen.type("y\n")
  expect(await screen.ended).toBe(0)
  expect((await org.ledger()).find(({ type }) => type === "settle")?.amount).toBe("-1.50")
})

test("inspect lists what changes the price", async () => {
  const screen = home.terminal("rungate inspect acme /search", {}, 100)
  await screen.ended
  expect(screen.seen()).toContain("What changes the price")
  expect(screen.seen()).toContain("limit: each adds $0.0012; default 10; at most 100.")
})

test("the tool of an agent gets the same refusal, with the cap that would do", async () => {
  const given = {
    provider: "acme",
    endpoint: "/crawl",
    input: { url: "https://example.com", limit: 1_000 },
    max_cost: "0"
  }
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "run", arguments: given } }
  const { body } = await org.post("/mcp", message)
  const { error } = JSON.parse(body.result.content[0].text)
  expect([body.result.isError, error.code]).toEqual([true, "invalid_request"])
  expect(error.message).toContain("must be at least 0.15: this call is estimated at $0.15")
  expect(error.details).toEqual([
    { path: "routing.max_cost", message: "must be at least 0.15: this call is estimated at $0.15" }
  ])
})
