/** `rungate quote`, and the quote that `run` and `call` show: the same answer of the API, in flags and exit codes of the command. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { crawler } from "../../../kit/provider-documents.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  await app.catalog(crawler)
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
})

const person = { full_name: "Ada Lovelace", company_domain: "example.com" }
const find = `email.find -i '${JSON.stringify(person)}'`
const crawl = (limit: number) => `acme /crawl -i '${JSON.stringify({ url: "https://example.com", limit })}'`
const runCount = async () => (await org.list("?limit=200")).body.items.length
/** A tenant and a terminal's settings for it. */
const as = ({ key }: Tenant) => ({ RUNGATE_API_KEY: key })

describe("rungate quote", () => {
  test("in a pipe is the API's answer, byte for byte", async () => {
    const body = { capability: "email.find", routing: { provider: "auto", max_total: "0.05" }, input: person }
    const said = await home.shell(`rungate quote ${find} --max-total 0.05`)
    expect([said.code, said.err]).toEqual([0, ""])
    expect(said.out).toBe(`${(await org.post("/v1/quote", body)).text}\n`)
    const raw = await home.shell(`rungate quote ${crawl(1_000)}`)
    expect([raw.code, raw.body.hold, raw.body.offers[0].price]).toEqual([0, "0.225", "0.15"])
  })

  test("reads stdin as run and call do", async () => {
    const given = JSON.stringify({ email: "ada@example.com" })
    const capability = await home.shell("rungate quote email.verify -", {}, given)
    expect([capability.code, capability.body.would]).toEqual([0, "run"])
    const raw = await home.shell("rungate quote acme /crawl -", {}, JSON.stringify({ url: "x", limit: 10 }))
    expect([raw.code, raw.body.hold]).toEqual([0, "0.00225"])
  })

  test("at a terminal lists the providers with the reason of each that is left out, and runs nothing", async () => {
    const before = await runCount()
    const screen = home.terminal(`rungate quote ${find} --max-total 0.03 --no-color`)
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toMatch(/email\.find: holds at most \$0\.\d+, costs from \$0\.\d+/)
    expect(screen.seen()).toMatch(/Expected charge: \$0\.\d+/)
    expect(screen.seen()).toMatch(/PROVIDER +PRICE, AT MOST +SUCCESS +CHOSEN/)
    expect(screen.seen()).toMatch(/leadmagic +\$0\.012 +- +yes/)
    expect(screen.seen()).toContain("no: above the most that all attempts may cost")
    expect(await runCount()).toBe(before)
  })

  test("costs what two answers cost if two must agree", async () => {
    const from = async (flags: string) => {
      const { body } = await home.shell(`rungate run ${find} ${flags} --dry-run --json`)
      const prices = body.quote.offers.flatMap(({ chosen, price }: { chosen: boolean; price: string }) =>
        chosen ? [Number(price)] : []
      )
      return { from: Number(body.quote.from), prices: prices.toSorted((a: number, b: number) => a - b) }
    }
    const one = await from("")
    expect(one.from).toBe(one.prices[0])
    const two = await from("--accept email --agree")
    expect(two.from).toBeCloseTo(two.prices[0] + two.prices[1], 6)
  })

  test("says that a run would be refused, and succeeds itself", async () => {
    const poor = await app.tenant()
    const screen = home.terminal(`rungate quote ${find}`, as(poor))
    expect(await screen.ended).toBe(0)
    expect(Bun.stripANSI(screen.seen()).replaceAll(/\s+/g, " ")).toMatch(
      /The run would be refused now: .*rungate wallet topup/
    )
  })

  test.each([
    ["rungate quote email.verify -i '{}'", 5, "input.email"],
    ["rungate quote email.verfy -i '{}'", 250, "email.verify"],
    [`rungate quote email.verify -i '{"email":"a@example.com"}' --max-total 0.000001`, 6, "--max-total"],
    [`rungate quote ${crawl(1_000)} --max-total 0.1`, 6, "--max-total must be at least 0.15"],
    [`rungate quote ${crawl(1_000)} --provider hunter`, 5, "--provider"],
    [`rungate quote ${find} --method GET`, 5, "--method"],
    [`rungate quote ${find} --max-total 1e3`, 5, "--max-total"],
    ["rungate quote email.find", 5, "input is missing"]
  ])("%s ends with exit code %i and names what is wrong", async (line, code, words) => {
    const said = await home.shell(line)
    expect([said.code, said.err]).toEqual([code, expect.stringContaining(words)])
    expect(said.err).not.toContain("routing.")
  })
})

describe("run and call", () => {
  test("send --max-total, and --dry-run has the quote of the API", async () => {
    const dry = await home.shell(`rungate run ${find} --max-total 0.05 --dry-run`)
    const quote = await home.shell(`rungate quote ${find} --max-total 0.05`)
    expect([dry.code, dry.body.quote, quote.body.from]).toEqual([0, quote.body, "0.012"])
    expect(dry.body.request.routing).toEqual({ provider: "auto", max_total: "0.05" })
    const ran = await home.shell(`rungate call ${crawl(1_000)} --max-total 0.2`)
    expect([ran.code, ran.body.billing.charged]).toEqual([0, "0.15"])
    expect((await org.ledger()).find(({ type }) => type === "reserve")?.amount).toBe("-0.20")
  })

  test("a cap of all attempts is a cap where nobody can confirm", async () => {
    const screen = home.terminal(`rungate call ${crawl(10)} --no-input --max-total 0.01`)
    expect(await screen.ended).toBe(0)
  })

  test("ask nothing when the run would be refused, and end with its exit code", async () => {
    const careful = await app.tenant("10.00")
    await careful.post("/v1/spend-guard", { per_run_limit: "0.001" })
    const screen = home.terminal(`rungate run ${find}`, as(careful))
    expect(await screen.ended).toBe(6)
    expect(screen.seen()).not.toContain("[y/N]")
    expect(Bun.stripANSI(screen.seen())).toContain("rungate spend-guard")
    expect((await careful.list()).body.items).toEqual([])
  })

  test("name both caps before the question", async () => {
    const screen = home.terminal(`rungate run ${find} --max-cost 0.05 --max-total 0.09`)
    expect((await screen.shows("[y/N]")).replaceAll(/\s+/g, " ")).toContain(
      "Limits: --max-cost $0.05; --max-total $0.09."
    )
    screen.type("n\r")
    expect(await screen.ended).toBe(2)
  })
})
