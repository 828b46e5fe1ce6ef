/** Lists as CSV (`Accept: text/csv`): exact rows, pages by `Link`, and cells that no spreadsheet takes for a formula. */
import { beforeAll, describe, expect, test } from "bun:test"
import { parse } from "papaparse"
import { csvLines } from "../../src/http/api/shapes/Csv.ts"
import { rehearse, type Reply, type Tenant, verify, withApp } from "../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("10.00")
  await org.run({ ...verify(), metadata: { campaign: 'a "quoted", text', customer: "=1+1" } })
  await org.run(rehearse("error"))
  await org.run({ ...verify(), routing: { provider: "icypeas" } })
})

const csv = (path: string, accept = "text/csv") => org.get(path, { headers: { accept } })
const rowsOf = ({ text }: Reply) =>
  parse<Readonly<Record<string, string>>>(text, { header: true, skipEmptyLines: true }).data
const nextOf = ({ headers }: Reply) => /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]

describe("runs as CSV", () => {
  test("have the columns and values of the JSON list", async () => {
    const answer = await csv("/v1/runs")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(answer.headers.get("content-disposition")).toContain("runs.csv")
    expect(answer.text).toStartWith("run_id,status,")
    const { items } = (await org.list()).body
    const rows = rowsOf(answer)
    expect(rows).toHaveLength(items.length)
    for (const [n, item] of items.entries())
      expect(rows[n]).toMatchObject({
        run_id: item.run_id,
        status: item.status,
        capability: item.capability,
        charged: item.billing.charged ?? "",
        error_code: item.error?.code ?? "",
        created_at: item.created_at
      })
    expect(rows.map((row) => row["metadata"])).toEqual([
      "",
      "",
      JSON.stringify(items[2].metadata).replaceAll(',"', ', "').replaceAll(":", ": ")
    ])
  })

  test("take the filters of the list", async () => {
    expect(rowsOf(await csv("/v1/runs?status=failed")).map((row) => row["status"])).toEqual(["failed"])
    expect(rowsOf(await csv("/v1/runs?metadata.customer=%3D1%2B1"))).toHaveLength(1)
    expect((await csv("/v1/runs?capability=mind.read")).text).toMatch(/^run_id,[^\n]+\n$/)
  })

  test("page by the Link header", async () => {
    const seen: Array<string | undefined> = []
    let path: string | undefined = "?limit=2"
    while (path !== undefined) {
      const answer: Reply = await csv(`/v1/runs${path}`)
      seen.push(...rowsOf(answer).map((row) => row["run_id"]))
      path = nextOf(answer)
    }
    expect(seen).toEqual((await org.list()).body.items.map((one: { run_id: string }) => one.run_id))
  })

  test("have all rows without a limit, over several reads", async () => {
    const busy = await app.tenant("50.00")
    await busy.run(verify())
    await app.sql(
      `INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, hold, quoted, input, plan, routing_reason, status, finished_at)
       SELECT org_id, 'run_00' || lpad(n::text, 24, '0'), request_id, fingerprint, kind, capability, 0, 0, input, plan, routing_reason, 'failed', now()
       FROM runs, generate_series(1, 10500) n WHERE org_id = $1`,
      [busy.org_id]
    )
    const first = await busy.get("/v1/runs", { headers: { accept: "text/csv" } })
    expect(rowsOf(first)).toHaveLength(10_000)
    const rest = await busy.get(`/v1/runs${nextOf(first)}`, { headers: { accept: "text/csv" } })
    expect(rowsOf(rest)).toHaveLength(501)
    expect(nextOf(rest)).toBeUndefined()
    const ids = [...rowsOf(first), ...rowsOf(rest)].map((row) => row["run_id"])
    expect(new Set(ids).size).toBe(10_501)
  })

  test("come only when they are preferred, and errors stay JSON", async () => {
    const typeOf = async (accept: string) => (await csv("/v1/runs", accept)).headers.get("content-type")
    expect(await typeOf("*/*")).toStartWith("application/json")
    expect(await typeOf("application/json")).toStartWith("application/json")
    expect(await typeOf("application/json, text/csv;q=0.5")).toStartWith("application/json")
    expect(await typeOf("text/csv;q=0")).toStartWith("application/json")
    expect(await typeOf("application/json;q=0.5, Text/CSV")).toStartWith("text/csv")
    const refused = await csv("/v1/runs?status=odd")
    expect([refused.status, refused.body.error.code]).toEqual([400, "invalid_request"])
  })
})

describe("transactions as CSV", () => {
  test("equal the ledger, and their amounts are numbers", async () => {
    const answer = await csv("/v1/wallet/transactions")
    expect(answer.text).toStartWith("id,type,amount,balance_after,reference,note,created_at\n")
    const entries = await org.ledger()
    expect(rowsOf(answer)).toEqual(entries.map((entry) => ({ ...entry, note: entry.note ?? "" })))
    expect(rowsOf(answer).some((row) => row["amount"]?.startsWith("-"))).toBe(true)
    const first = await csv("/v1/wallet/transactions?limit=2")
    expect(rowsOf(first)).toHaveLength(2)
    expect(rowsOf(await csv(`/v1/wallet/transactions${nextOf(first)}`))[0]?.["id"]).toBe(entries[2]?.id)
    expect((await csv("/v1/wallet/transactions?cursor=x")).status).toBe(400)
  })
})

test.each([
  ["=1+1", "'=1+1"],
  ["+HYPERLINK(1)", "'+HYPERLINK(1)"],
  ["-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"],
  ["@SUM(1)", "'@SUM(1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", "'\r=1"],
  ["-0.012", "-0.012"],
  ["-1-1", "'-1-1"],
  ["a=b", "a=b"]
])("the text %j becomes the cell %j", (text, cell) => {
  expect(parse<ReadonlyArray<string>>(csvLines([["h"], [text]]), { newline: "\n" }).data[1]).toEqual([cell])
})
