/**
 * `GET /v1/usage`: what it says is what the runs and the ledger say, whether the runs are counted into rollups already or not.
 *
 * Every question is asked twice: right after the runs, and when all of them are in the rollups.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { parse } from "papaparse"
import { type App, rehearse, type Reply, startApp, type Tenant, until, verify } from "../../kit/app.ts"

let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("10.00")
  await org.run({ ...verify(), metadata: { campaign: "spring", customer: "acme" } })
  await org.run({ ...verify("bob"), metadata: { campaign: "spring" } })
  await org.run({ ...verify("eve"), metadata: { campaign: "" } })
  await org.run(verify("zoe"))
  await org.run(rehearse("no_match"))
  await org.run(rehearse("error"))
  await org.run({ capability: "web.search", input: { query: "rungate" } })
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

const waiting = async (of: App) =>
  Number(
    (await of.sql("SELECT (SELECT count(*) FROM history_queue) + (SELECT count(*) FROM usage_queue) AS n"))[0]?.["n"]
  )
const rolledUp = (of: App = app) =>
  until(
    "all runs are in the rollups",
    () => waiting(of),
    (n) => n === 0
  )

type Item = Readonly<Record<string, any>>
const usage = async (query: string, tenant: Tenant = org): Promise<ReadonlyArray<Item>> => {
  const { status, body } = await tenant.get(`/v1/usage?${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.items
}

/** The same answer from pending runs and from rollups. */
const both = async (query: string) => {
  const now = await usage(query)
  await rolledUp()
  expect(await usage(query)).toEqual([...now])
  return now
}

const micros = (amount: string) => Math.round(Number(amount) * 1_000_000)
const chargedBy = async (tenant: Tenant) =>
  (await tenant.ledger()).filter(({ type }) => type === "settle").reduce((sum, { amount }) => sum - micros(amount), 0)
const sumOf = (items: ReadonlyArray<Item>, name: string) => items.reduce((sum, item) => sum + item[name], 0)
const today = () => new Date().toISOString().slice(0, 10)

describe("usage", () => {
  test("without groups is one total, which equals the ledger", async () => {
    const items = await both("")
    expect(items).toEqual([{ runs: 7, succeeded: 5, no_match: 1, failed: 1, charged: expect.any(String) }])
    expect(micros((await usage(""))[0]?.["charged"])).toBe(await chargedBy(org))
  })

  test.each(["day", "capability", "provider", "key", "endpoint", "status", "metadata.campaign", "day,capability"])(
    "by %s adds up to the total",
    async (group_by) => {
      const items = await both(`group_by=${group_by}`)
      expect(sumOf(items, "runs")).toBe(7)
      for (const name of group_by.split(",")) expect(items.every((item) => name in item)).toBe(true)
      expect(items.reduce((sum, item) => sum + micros(item["charged"]), 0)).toBe(await chargedBy(org))
      expect(items.every((item) => item["runs"] === item["succeeded"] + item["no_match"] + item["failed"])).toBe(true)
    }
  )

  test("groups by day, capability, key and status as the runs say", async () => {
    expect((await both("group_by=day")).map((one) => one["day"])).toEqual([today()])
    const capabilities = await both("group_by=capability")
    expect(capabilities.map((one) => [one["capability"], one["runs"]])).toEqual([
      ["email.verify", 6],
      ["web.search", 1]
    ])
    expect((await both("group_by=key")).map((one) => one["key"])).toEqual([org.key_id])
    expect((await both("group_by=endpoint")).map((one) => one["endpoint"])).toEqual([null])
    const statuses = await both("group_by=status")
    expect(statuses.map((one) => one["status"])).toEqual(["failed", "no_match", "succeeded"])
  })

  test("groups by metadata: null for runs without the label, an empty text for an empty one", async () => {
    const items = await both("group_by=metadata.campaign")
    expect(items.map((one) => [one["metadata.campaign"], one["runs"], one["succeeded"]])).toEqual([
      [null, 4, 2],
      ["", 1, 1],
      ["spring", 2, 2]
    ])
    const customers = await both("group_by=status,metadata.customer")
    expect(customers.map((one) => [one["status"], one["metadata.customer"], one["runs"]])).toEqual([
      ["failed", null, 1],
      ["no_match", null, 1],
      ["succeeded", null, 4],
      ["succeeded", "acme", 1]
    ])
    expect((await both("group_by=metadata.nobody")).map((one) => one["metadata.nobody"])).toEqual([null])
  })

  test("counts whole days of the period", async () => {
    const day = today()
    expect(sumOf(await both(`from=${day}&to=${day}`), "runs")).toBe(7)
    expect(await both("from=2026-01-01&to=2026-01-31")).toEqual([])
    expect(sumOf(await both(`from=${day}T00:00:00Z`), "runs")).toBe(7)
  })

  test("pages without gaps or repeats", async () => {
    const all = await both("group_by=provider,metadata.campaign&limit=200")
    const seen: Array<Item> = []
    let cursor: string | null = ""
    while (cursor !== null) {
      const page: Reply = await org.get(
        `/v1/usage?group_by=provider,metadata.campaign&limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`
      )
      seen.push(...page.body.items)
      cursor = page.body.next_cursor
    }
    expect(seen).toEqual([...all])
    expect(seen.length).toBeGreaterThan(2)
  })

  test("does not go on with the cursor of another grouping", async () => {
    const first: Reply = await org.get("/v1/usage?group_by=provider,status&limit=1")
    const { next_cursor } = first.body
    expect((await org.get(`/v1/usage?group_by=provider,%20status&cursor=${next_cursor}`)).status).toBe(200)
    for (const group_by of ["status,provider", "provider", ""]) {
      const { status, body } = await org.get(`/v1/usage?group_by=${group_by}&cursor=${next_cursor}`)
      expect([group_by, status, body.error?.details[0].path]).toEqual([group_by, 400, "query.cursor"])
    }
  })

  test("is CSV on demand", async () => {
    const answer = await org.get("/v1/usage?group_by=status,metadata.campaign", { headers: { accept: "text/csv" } })
    expect(answer.text).toStartWith("status,metadata.campaign,runs,succeeded,no_match,failed,charged\n")
    expect(parse<Item>(answer.text, { header: true, skipEmptyLines: true }).data.at(-1)).toMatchObject({
      status: "succeeded",
      "metadata.campaign": "spring",
      runs: "2"
    })
  })

  test.each([
    ["group_by=month", "query.group_by"],
    ["group_by=day,day", "query.group_by"],
    ["group_by=day,status,key", "query.group_by"],
    ["group_by=metadata.a,metadata.b", "query.group_by"],
    ["group_by=metadata.", "query.group_by"],
    ["group_by=day,", "query.group_by"],
    ["group_by=metadata.a%27%3B%20DROP", "query.group_by"],
    ["from=2026-02-02&to=2026-02-01", "query.to"],
    ["from=2999-01-01", "query.from"],
    ["from=2024-01-01&to=2026-01-01", "query.from"],
    ["cursor=abc", "query.cursor"],
    ["cursor=WyIiLCJhIiwiXHUwMDAwIl0", "query.cursor"],
    ["limit=0", "query.limit"],
    ["by=day", "query.by"]
  ])("refuses %s", async (query, path) => {
    const { status, body } = await org.get(`/v1/usage?${query}`)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details[0].path).toBe(path)
  })

  test("of another organization is its own", async () => {
    expect(await usage("", await app.tenant("1.00"))).toEqual([])
    expect((await app.call(null, "GET", "/v1/usage")).status).toBe(401)
  })
})

describe("erasure", () => {
  test.each([true, false])("takes the label out of usage and keeps the count (in the rollups: %p)", async (counted) => {
    const tenant = await app.tenant("5.00")
    for (const [who, customer] of [
      ["jane.roe", "Jane Roe"],
      ["kim.poe", "Kim Poe"],
      ["jane.roe", "Jane Roe"]
    ] as const)
      await tenant.run({ ...verify(who), metadata: { customer } })
    if (counted) await rolledUp()
    const before = await usage("", tenant)
    const session = await tenant.session()
    const erased = await app.call(session, "DELETE", "/v1/history?q=jane.roe@example.com")
    expect(erased.body.erased).toBe(2)
    for (const wait of [() => Promise.resolve(0), rolledUp]) {
      await wait()
      const items = await usage("group_by=metadata.customer", tenant)
      expect(items.map((one) => [one["metadata.customer"], one["runs"]])).toEqual([
        [null, 2],
        ["Kim Poe", 1]
      ])
      expect(await usage("", tenant)).toEqual([...before])
    }
    for (const table of ["usage_groups", "usage_values"])
      expect(await app.sql(`SELECT * FROM ${table} WHERE org_id = $1 AND value = 'Jane Roe'`, [tenant.org_id])).toEqual(
        []
      )
  })
})
