/** Small facts that the command must get right before and after it spends money. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { receipt } from "../../../../src/http/cli/runs/RunView.ts"
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

const verify = `rungate run email.verify -i '{"email":"ada@example.com"}'`

describe("a receipt", () => {
  test("says what was held, which for a raw call is more than the quote", async () => {
    const screen = home.terminal(`rungate call acme /crawl -i '{"url":"https://a.example","limit":1000}' -y`)
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toContain("charged $0.15 of $0.225 held")
  })

  test("names no provider of a run that reached none", async () => {
    const { body } = await org.run({ capability: "email.verify", input: { email: "bob@example.com" } })
    expect(receipt(JSON.stringify(body), null)).toContain(`succeeded by ${body.provider}`)
    const blocked = {
      ...body,
      status: "blocked",
      provider: null,
      attempts: [],
      billing: { ...body.billing, charged: null }
    }
    const line = receipt(JSON.stringify(blocked), null) ?? ""
    expect(line).toStartWith("blocked  ·  nothing charged")
    expect(line).not.toContain(body.provider)
  })
})

test("invalid input ends with exit code 5 before a price is shown", async () => {
  for (const line of [
    `rungate run email.verify -i '{"email":7}' --dry-run`,
    "rungate run email.verify -i '{}' --dry-run",
    `rungate run email.verify -i '{"email":"ada@example.com"}' --provider huntr --dry-run`,
    `rungate call acme /crawl -i '{"url":"https://a.example"}' --dry-run`
  ]) {
    const { code, out } = await home.shell(line)
    expect([line, code, out]).toEqual([line, 5, ""])
  }
  const screen = home.terminal(`rungate run email.verify -i '{"email":7}'`)
  expect(await screen.ended).toBe(5)
  expect(screen.seen()).toContain("input.email")
  expect(screen.seen()).not.toContain("at most")
})

test("amounts may have a dollar sign", async () => {
  const run = await home.shell(`${verify} --max-cost '$0.05'`)
  expect([run.code, run.body.status]).toEqual([0, "succeeded"])
  const guard = await home.shell("rungate spend-guard set --per-run '$5.00'")
  expect([guard.code, guard.body.per_run_limit]).toEqual([0, "5.00"])
  const wrong = await home.shell(`${verify} --max-cost '$five'`)
  expect(wrong.code).toBe(5)
})

test("the same paid command within a minute warns and asks again, unless --yes is given", async () => {
  const line = `rungate run email.find -i '{"full_name":"Ada Twice","company_domain":"example.com"}'`
  const first = home.terminal(`${line} -y`)
  expect(await first.ended).toBe(0)
  const second = home.terminal(line)
  await second.shows("[y/N]")
  expect(second.seen()).toContain("You paid for the same run")
  second.type("n\n")
  expect(await second.ended).toBe(2)
  const third = home.terminal(`${line} -y`)
  expect(await third.ended).toBe(0)
  expect(third.seen()).not.toContain("You paid")
})

test("the service on this machine is found by its announcement, while its process lives", async () => {
  const local = newHome({ RUNGATE_API_KEY: org.key })
  const folder = join(local.folder, "state", "rungate")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = await Bun.file(`/proc/${process.pid}/stat`).text()
  const began = stat.split(") ").at(-1)?.split(" ")[19] ?? ""
  const announce = (id: number) =>
    writeFileSync(join(folder, "service.json"), JSON.stringify({ url: app.url, process: { id, began } }), {
      mode: 0o600
    })
  announce(process.pid)
  expect((await local.shell("rungate wallet")).code).toBe(0)
  expect((await local.shell("rungate wallet", { RUNGATE_URL: "http://127.0.0.1:1" })).code).toBe(1)
  announce(2 ** 22 + 1)
  expect((await local.shell("rungate doctor")).out).not.toContain(app.url)
  local.remove()
})

test("tables and help fit 80 columns", async () => {
  for (const line of [
    "rungate runs list",
    "rungate keys list",
    "rungate wallet transactions",
    "rungate help exit-codes",
    "rungate help environment",
    "rungate inspect email.find"
  ]) {
    const screen = home.terminal(line, { NO_COLOR: "1" }, 80)
    expect(await screen.ended).toBe(0)
    // The hints are never cut, because they are copied.
    const [tables = ""] = screen.seen().replaceAll("\r", "").split("\nNext\n")
    for (const row of tables.split("\n")) expect([row, Bun.stringWidth(row) <= 80]).toEqual([row, true])
  }
})

test("a misspelled command or tool parameter gets the nearest name", async () => {
  const typed = await home.shell("rungate inspct email.find")
  expect([typed.code, typed.err]).toEqual([5, expect.stringContaining("did you mean inspect")])
  const given = { capabilty: "email.find" }
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "inspect", arguments: given } }
  const { body } = await org.post("/mcp", message)
  expect(JSON.parse(body.result.content[0].text).error.hints).toContain("capabilty: did you mean capability?")
})
