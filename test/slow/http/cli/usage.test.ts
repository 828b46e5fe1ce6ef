/** `rungate usage`: the API's own answer in a pipe, bars at a terminal; and the labels and filters of runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { barOf } from "../../../../src/http/cli/runs/usage.ts"
import { rehearse, type Tenant, verify, withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  for (let n = 0; n < 3; n++) await org.run({ ...verify(), metadata: { campaign: "spring" } })
  await org.run({ capability: "web.search", input: { query: "rungate" }, metadata: { campaign: "\u001b[31mred" } })
  await org.run(rehearse("error"))
})
afterAll(async () => {
  home.remove()
})

describe("usage", () => {
  test("in a pipe is the API's answer", async () => {
    const said = await home.shell("rungate usage --by capability,status --days 30")
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10)
    const answer = await org.get(`/v1/usage?group_by=capability,status&from=${from}&limit=200`)
    expect([said.code, said.body]).toEqual([0, answer.body])
    const lines = await home.shell("rungate usage --by status --jsonl")
    expect(
      lines.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).status)
    ).toEqual(["failed", "succeeded"])
  })

  test("as CSV has a header line", async () => {
    const said = await home.shell("rungate usage --by metadata.campaign --csv")
    expect(said.out).toStartWith("metadata.campaign,runs,succeeded,no_match,failed,charged\n")
    expect(said.out).toContain("\nspring,3,3,0,0,")
  })

  test("at a terminal draws bars, largest first, and no control characters of others", async () => {
    const screen = home.terminal("rungate usage --by metadata.campaign")
    expect(await screen.ended).toBe(0)
    const text = await screen.shows("5 runs, $")
    expect(text).toContain("METADATA.CAMPAIGN")
    expect(text).toMatch(/spring +3 +3 +0 +0 +\$\S+ +█+/)
    expect(text).toContain("(none)")
    expect(text).toContain("5 runs, $")
    expect(text).not.toContain("\u001b[31mred")
  })

  test("says what reuse saved", async () => {
    const other = await app.tenant("5.00")
    await other.run(verify())
    for (let n = 0; n < 2; n++) await other.run({ ...verify(), reuse: { mode: "prefer" } })
    const screen = home.terminal("rungate usage", { RUNGATE_API_KEY: other.key })
    expect(await screen.ended).toBe(0)
    await screen.shows("2 of them reused a result, $0.006 saved")
  })

  test.each([
    ["--by month", "group_by"],
    ["--days 0", "--days must be from 1 to 400"],
    ["--days 3 --from 2026-01-01", "either --days"],
    ["--csv --json", "only one of --csv"],
    ["--from soon", "expected a date"]
  ])("refuses %s", async (flags, message) => {
    const said = await home.shell(`rungate usage ${flags}`)
    expect([said.code, said.err]).toEqual([5, expect.stringContaining(message)])
  })
})

describe("runs", () => {
  test("are labelled and found by label, key and time", async () => {
    const run = `rungate run email.verify -i '{"email":"label@example.com"}' --metadata campaign=autumn --metadata note=a=b`
    const { body } = await home.shell(run)
    expect(body.metadata).toEqual({ campaign: "autumn", note: "a=b" })
    const day = body.created_at.slice(0, 10)
    const list = `rungate runs list --metadata campaign=autumn --metadata note=a=b --key ${org.key_id} --from ${day} --to ${day}`
    expect((await home.shell(list)).body.items.map((one: { run_id: string }) => one.run_id)).toEqual([body.run_id])
    expect((await home.shell(`${list} --csv`)).out).toMatch(new RegExp(`^run_id,[^\\n]+\\n${body.run_id},[^\\n]+\\n$`))
    expect((await home.shell("rungate runs list --metadata campaign=winter")).body.items).toEqual([])
    const more = await home.shell("rungate runs list --csv --limit 2")
    expect([more.out.trim().split("\n").length, more.err]).toEqual([3, expect.stringContaining("--cursor run_")])
  })

  test("with a label that is none are refused before anything is sent", async () => {
    const said = await home.shell(`rungate run email.verify -i '{"email":"a@example.com"}' --metadata campaign`)
    expect([said.code, said.err]).toEqual([5, expect.stringContaining("--metadata must be name=value")])
  })
})

test.each([
  [0, 10, ""],
  [10, 10, "█".repeat(24)],
  [5, 10, "█".repeat(12)],
  [0.001, 10, "▏"]
])("the bar of %p of %p", (part, most, bar) => {
  expect(barOf(part, most)).toBe(bar)
})
