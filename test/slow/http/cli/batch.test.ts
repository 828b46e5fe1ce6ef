/** `rungate batch`: a file of people in, the same file with results out, paid once however often it is run. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "papaparse"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { heldProvider, heldWord } from "../../../kit/held-provider.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const held = heldProvider()
let app: App
let org: Tenant
let home: Home
beforeAll(async () => {
  // Two rows of a batch are open at a time, so that a command can be stopped in the middle.
  app = await startApp({ held, settings: { RUNGATE_CONCURRENCY: "4" } })
  org = await app.tenant("5.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  await app.books()
  await app.stop()
  home.remove()
})

const write = (name: string, text: string) => writeFileSync(join(home.folder, name), text)
const csvOf = (name: string) =>
  parse<Record<string, string>>(readFileSync(join(home.folder, name), "utf8"), { header: true, skipEmptyLines: true })
    .data
const charges = async () => (await org.ledger()).filter(({ type }) => type === "settle").length

test("runs each line, writes the results beside it, and joins its batch when it is repeated", async () => {
  write("people.csv", "Name,Mail\nAda,ada@example.com\nJoe,joe@example.com\nNobody,nonsense\n")
  const command = "rungate batch people.csv --capability email.verify --map email=Mail --max-total 1.00"
  const first = await home.shell(`${command} -o out.csv`)
  expect([first.code, first.err]).toEqual([0, expect.stringContaining("2 succeeded, 1 refused; $0.006 charged.")])
  const rows = csvOf("out.csv")
  expect(rows.map(({ Name, status, charged }) => [Name, status, charged])).toEqual([
    ["Ada", "succeeded", "0.003"],
    ["Joe", "succeeded", "0.003"],
    ["Nobody", "invalid", ""]
  ])
  expect(rows[0]?.["result.email"]).toBe("ada@example.com")
  expect(rows[2]?.["error"]).toStartWith("invalid_request: ")
  const before = await charges()
  const again = await home.shell(`${command} -o again.csv`)
  expect([again.code, again.err]).toEqual([0, expect.stringContaining("This file was sent before")])
  expect(csvOf("again.csv")).toEqual(rows)
  expect(await charges()).toBe(before)
  const anew = await home.shell(`${command} --again`)
  expect([anew.code, await charges()]).toEqual([0, before + 2])
  const labelled = await home.shell(`${command} --metadata customer=acme --metadata note=a=b`)
  expect([labelled.code, await charges()]).toEqual([0, before + 4])
  expect((await org.get("/v1/batches")).body.items[0].metadata).toEqual({ customer: "acme", note: "a=b" })
})

test("at a terminal it shows what the file may cost, and asks before it runs", async () => {
  write("asked.csv", `Mail\n${Array.from({ length: 8 }, (_, n) => `asked${n}@example.com`).join("\n")}\nnonsense\n`)
  const command = "rungate batch asked.csv --capability email.verify --map email=Mail --max-total 1.00 -o asked-out.csv"
  const before = await charges()
  const refused = home.terminal(command, { NO_COLOR: "1" }, 200)
  const shown = await refused.shows("[y/N]")
  expect(shown).toMatch(/email\.verify, 9 rows: at most \$0\.\d+, expected \$0\.\d+, by quotes of 5 of them/)
  expect(shown).toContain("The service would refuse 1 of 6 rows that were tried:")
  expect(shown).toContain("Limit: --max-total $1.00. Wallet: $")
  expect(shown).toContain("Run the file for at most $1.00?")
  refused.type("n\r")
  expect([await refused.ended, refused.seen()]).toEqual([2, expect.stringContaining("Nothing was run")])
  expect([await charges(), existsSync(join(home.folder, "asked-out.csv"))]).toEqual([before, false])
  const agreed = home.terminal(command)
  await agreed.shows("[y/N]")
  agreed.type("y\r")
  expect([await agreed.ended, await charges()]).toEqual([0, before + 8])
  for (const [flag, environment] of [
    ["--yes", {}],
    ["--no-input", {}]
  ] as const) {
    const joined = home.terminal(`${command} ${flag}`, environment)
    expect([await joined.ended, joined.seen()]).toEqual([0, expect.not.stringContaining("[y/N]")])
  }
  expect(await charges()).toBe(before + 8)
  const wrong = home.terminal(command.replace("=Mail", "=Male"))
  expect([await wrong.ended, wrong.seen()]).toEqual([5, expect.stringContaining('the column "Male"')])
})

test("whose rows wait for an approval says so once, and goes on when somebody has answered", async () => {
  const asOwner = async (method: string, path: string, body?: unknown) =>
    (await app.call(await org.session(), method, path, { body })).body
  const { id } = await asOwner("POST", "/v1/approval-rules", { name: "checks", capabilities: ["email.verify"] })
  write("waits.csv", "Mail\nwaits1@example.com\nwaits2@example.com\n")
  const terminal = home.terminal(
    "rungate batch waits.csv --capability email.verify --map email=Mail --max-total 1.00 --yes"
  )
  await terminal.shows(/\d runs? of the batch bat_\w+ waits? for a yes\./)
  const pending = () => asOwner("GET", "/v1/approvals?state=pending")
  const { items } = await until("both rows wait", pending, (one) => one.items.length === 2)
  const run_ids = items.map(({ run_id }: { run_id: string }) => run_id)
  await asOwner("POST", "/v1/approvals/decide", { decision: "approve", run_ids })
  expect(await terminal.ended).toBe(0)
  expect(terminal.seen().match(/ for a yes\./g)).toHaveLength(1)
  await asOwner("DELETE", `/v1/approval-rules/${id}`)
})

test("columns are known by their names, and a file whose rows are all refused fails", async () => {
  write("named.csv", "Person,Work E-mail\nAda,named@example.com\n")
  const named = await home.shell("rungate batch named.csv --capability email.verify --max-total 1.00 -o named-out.csv")
  expect([named.code, csvOf("named-out.csv")[0]?.["status"]]).toEqual([0, "succeeded"])
  write("wrong.csv", "email\nnonsense\nmore nonsense\n")
  const wrong = await home.shell("rungate batch wrong.csv --capability email.verify --max-total 1.00 -o wrong-out.csv")
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("All 2 rows were refused, and nothing was run.")])
})

test("lists batches and shows one", async () => {
  const list = (await home.shell("rungate batch list")).body
  const [{ id }] = list.items
  const screen = home.terminal("rungate batch list", { NO_COLOR: "1" })
  expect(await screen.ended).toBe(0)
  expect(screen.seen()).toMatch(new RegExp(`${id} +finished +2 +0 +0 +0 +\\$0\\.00 `))
  const one = home.terminal(`rungate batch get ${id}`, { NO_COLOR: "1" })
  expect(await one.ended).toBe(0)
  expect(one.seen()).toContain("0 succeeded, 2 refused")
  expect((await home.shell("rungate batch get bat_unknown")).code).toBe(250)
})

test("killed and stopped at any moment, the same command goes on with the same batch and pays each line once", async () => {
  const people = Array.from({ length: 24 }, (_, n) => `cli${n}${n === 12 ? `+${heldWord}` : ""}@sandbox.test`)
  write("slow.csv", `Mail\n${people.join("\n")}\n`)
  const command = "rungate batch slow.csv --capability email.verify --map email=Mail --max-total 1.00 -o slow-out.csv"
  const before = await charges()

  const killed = home.terminal(`${command} --yes`)
  await killed.shows(/\d+ of 24, \$/)
  process.kill(killed.pid, "SIGKILL")
  await killed.ended
  expect(existsSync(join(home.folder, "slow-out.csv"))).toBe(false)

  const stopped = home.terminal(`${command} --yes`)
  await stopped.shows("This file was sent before: joining bat_")
  await stopped.shows(/\d+ of 24, \$/)
  stopped.type("\u0003")
  expect(await stopped.ended).toBe(2)
  expect(stopped.seen()).toContain("continues. Run the same command")
  await held.holds(1)
  held.release()

  const last = await home.shell(command)
  expect([last.code, last.err]).toEqual([0, expect.stringContaining("24 succeeded; $0.072 charged.")])
  expect(csvOf("slow-out.csv").map(({ Mail, status }) => [Mail, status])).toEqual(
    people.map((mail) => [mail, "succeeded"])
  )
  expect(await charges()).toBe(before + 24)
  expect(await app.sql("SELECT 1 FROM batches WHERE total = 24")).toHaveLength(1)
})

test("rows that a limit blocks are written, and the exit code says so", async () => {
  write("dear.csv", "Mail\none.dear@example.com\ntwo.dear@example.com\n")
  const { code, err } = await home.shell(
    "rungate batch dear.csv --capability email.verify --map email=Mail --max-total 0.0065 -o dear-out.csv"
  )
  expect([code, err]).toEqual([6, expect.stringContaining("1 succeeded, 1 blocked; $0.003 charged.")])
  expect(csvOf("dear-out.csv").map(({ status, error }) => [status, error])).toEqual([
    ["succeeded", ""],
    ["blocked", expect.stringContaining("budget_exceeded: ")]
  ])

  const id = /rungate batch retry (bat_\w+)/.exec(err)?.[1] ?? err
  const before = await charges()
  const wrong = await home.shell(`rungate batch retry ${id} people.csv --max-total 1.00`)
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("people.csv has 3 rows, and bat_")])
  const low = await home.shell(`rungate batch retry ${id} --max-total 0.0001`)
  expect([low.code, low.err]).toEqual([5, expect.stringContaining("max_total is below the $0.003")])
  expect(await charges()).toBe(before)

  const retry = await home.shell(`rungate batch retry ${id} dear.csv --max-total 1.00 -o dear-all.csv`)
  expect([retry.code, retry.err]).toEqual([0, expect.stringContaining("2 succeeded; $0.006 charged.")])
  expect(retry.err).toContain(`Retrying 1 of 1 blocked rows of ${id}.`)
  expect(csvOf("dear-all.csv").map(({ Mail, status }) => [Mail, status])).toEqual([
    ["one.dear@example.com", "succeeded"],
    ["two.dear@example.com", "succeeded"]
  ])
  const again = await home.shell(`rungate batch retry ${id} -o dear-rows.csv`)
  expect([again.code, again.err]).toEqual([0, expect.stringContaining(`No row of ${id} is blocked.`)])
  expect(csvOf("dear-rows.csv").map(({ row, status }) => [row, status])).toEqual([
    ["1", "succeeded"],
    ["2", "succeeded"]
  ])
  expect(await charges()).toBe(before + 1)
})

test("says what is wrong with a file or a map, and starts nothing", async () => {
  write("empty.csv", "Mail\n")
  const empty = await home.shell("rungate batch empty.csv --capability email.verify --max-total 1")
  expect([empty.code, empty.err]).toEqual([5, expect.stringContaining("needs a header line and a row")])
  write("mail.csv", "Mail\nada@example.com\n")
  const wrong = await home.shell("rungate batch mail.csv --capability email.verify --map email=Male --max-total 1")
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining('the column "Male"')])
  write("people.csv", "Name,Site\nAda,example.com\n")
  const maps = ["full_name=Name,company_domain=Website", "full_name=Name --map company_domain=Website"]
  for (const map of maps) {
    const often = await home.shell(`rungate batch people.csv --capability email.find --map ${map} --max-total 1`)
    expect([often.code, often.err]).toEqual([5, expect.stringContaining('the column "Website"')])
  }
  const missing = await home.shell("rungate batch none.csv --capability email.verify --max-total 1")
  expect([missing.code, missing.err]).toEqual([5, expect.stringContaining("none.csv")])
})
