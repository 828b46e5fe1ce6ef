/** Labels of runs: `metadata` of `POST /v1/run`, in every record of the run, and as a filter of `GET /v1/runs`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, type Reply, startApp, type Tenant, verify } from "../kit/app.ts"
import { acme } from "../kit/provider-documents.ts"

let app: App
let org: Tenant
let ids: { readonly spring: string; readonly both: string; readonly plain: string; readonly raw: string }

const idOf = (reply: Reply): string => {
  expect(reply.status).toBe(200)
  return reply.body.run_id
}

beforeAll(async () => {
  app = await startApp()
  await app.catalog(acme)
  org = await app.tenant("10.00")
  const spring = idOf(await org.run({ ...verify(), metadata: { campaign: "spring" } }))
  const both = idOf(await org.run({ ...verify(), metadata: { campaign: "spring", customer: "a=b&c" } }))
  const plain = idOf(await org.run({ ...verify(), metadata: null }))
  const raw = idOf(
    await org.run({
      provider: "acme",
      endpoint: "/search",
      input: { filter: { field: "x" } },
      metadata: { campaign: "autumn" }
    })
  )
  ids = { spring, both, plain, raw }
})
afterAll(async () => {
  await app.books()
  await app.stop()
})

const listed = async (query: string): Promise<ReadonlyArray<string>> => {
  const { status, body } = await org.list(query)
  expect(status).toBe(200)
  return body.items.map((one: { run_id: string }) => one.run_id)
}

describe("metadata of a run", () => {
  test("is echoed by the run, its record and lists, for capabilities and raw calls", async () => {
    const metadata = { campaign: "spring", customer: "a=b&c" }
    expect((await org.run({ ...verify(), metadata })).body.metadata).toEqual(metadata)
    expect((await org.get(`/v1/runs/${ids.both}`)).body.metadata).toEqual(metadata)
    expect((await org.get(`/v1/runs/${ids.raw}`)).body.metadata).toEqual({ campaign: "autumn" })
    expect((await org.get(`/v1/runs/${ids.plain}`)).body.metadata).toEqual({})
    const { items } = (await org.list("?metadata.campaign=autumn")).body
    expect(items[0].metadata).toEqual({ campaign: "autumn" })
  })

  test("is echoed by a run that is accepted and stored by another route", async () => {
    const accepted = await org.run({ ...verify(), metadata: { campaign: "async" }, async: true })
    expect(accepted.body.metadata).toEqual({ campaign: "async" })
    expect(await listed("?metadata.campaign=async")).toEqual([accepted.body.run_id])
  })

  test("belongs to what an Idempotency-Key stands for", async () => {
    const headers = { "idempotency-key": "labelled" }
    const first = await org.run({ ...verify(), metadata: { a: "1", b: "2" } }, headers)
    const again = await org.run({ ...verify(), metadata: { b: "2", a: "1" } }, headers)
    expect(again.body.run_id).toBe(first.body.run_id)
    const other = await org.run({ ...verify(), metadata: { a: "1", b: "3" } }, headers)
    expect([other.status, other.body.error.code]).toEqual([422, "idempotency_key_reused"])
  })

  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "v"]))
  test("has up to 16 keys of 500 characters", async () => {
    const metadata = { ...many(15), long: "é".repeat(500) }
    expect((await org.run({ ...verify(), metadata })).body.metadata).toEqual(metadata)
  })

  test.each([
    ["17 keys", many(17), "metadata"],
    ["a long value", { campaign: "x".repeat(501) }, "metadata.campaign"],
    ["a number", { campaign: 7 }, "metadata.campaign"],
    ["a nested object", { campaign: { a: "b" } }, "metadata.campaign"],
    ["null as a value", { campaign: null }, "metadata.campaign"],
    ["an array", ["a"], "metadata"],
    ["a text", "campaign=x", "metadata"],
    ["an empty key", { "": "x" }, "metadata"],
    ["a key with a comma", { "a,b": "x" }, "metadata.a,b"],
    ["a long key", { ["k".repeat(65)]: "x" }, `metadata.${"k".repeat(65)}`],
    ["a key that objects give a meaning", JSON.parse('{"__proto__": "x"}'), "metadata"]
  ])("refuses %s", async (_, metadata, path) => {
    const { status, body } = await org.run({ ...verify(), metadata })
    expect([status, body.error?.code]).toEqual([400, "invalid_request"])
    expect(body.error.details[0].path).toStartWith(path)
  })

  test("refuses NUL and half of a surrogate pair", async () => {
    for (const text of ["\\u0000", "\\ud800"]) {
      const raw = `{"capability":"email.verify","input":{"email":"a@b.co"},"metadata":{"campaign":"${text}"}}`
      expect((await app.call(org.key, "POST", "/v1/run", { raw })).status).toBe(400)
    }
  })

  test("goes when the run's input and result are erased", async () => {
    const { run_id } = (await org.run({ ...verify("erase.me"), metadata: { customer: "Jane" } })).body
    const session = await org.session()
    const erased = await app.call(session, "DELETE", "/v1/history?q=erase.me@example.com")
    expect(erased.body.erased).toBe(1)
    expect((await org.get(`/v1/runs/${run_id}`)).body.metadata).toEqual({})
    expect(await listed("?metadata.customer=Jane")).toEqual([])
    expect(await app.sql("SELECT FROM run_labels WHERE run_id = $1", [run_id])).toEqual([])
  })

  test("names a person, whose erasure finds the run by it, among thousands of labels", async () => {
    const tenant = await app.tenant("10.00")
    const other = await app.tenant("10.00")
    const labelled = async (of: Tenant, metadata: object) => (await of.run({ ...verify(), metadata })).body.run_id
    const erased = [
      await labelled(tenant, { customer: "Jane@Private.example" }),
      await labelled(tenant, { customer: "acme", note: "asked by jane@private.example twice" }),
      await labelled(tenant, { customer: "acme", note: "asked by jane@private.example twice" })
    ]
    const kept = await labelled(tenant, { customer: "acme", note: "private.example" })
    const others = await labelled(other, { customer: "jane@private.example" })
    // Labels of other runs, so that the last ones are not among the first that are read.
    await app.sql(
      "INSERT INTO run_labels SELECT $1, substr(sha256(n::text::bytea), 1, 16), 'run_' || n FROM generate_series(1, 2500) AS n",
      [tenant.org_id]
    )
    const answer = await app.call(await tenant.session(), "DELETE", "/v1/history?q=jane@private.example")
    expect([answer.status, answer.body.erased, answer.body.in_flight]).toEqual([200, 3, 0])
    for (const run_id of erased) expect((await tenant.get(`/v1/runs/${run_id}`)).body).toMatchObject({ metadata: {} })
    expect((await tenant.get(`/v1/runs/${kept}`)).body.metadata).toEqual({ customer: "acme", note: "private.example" })
    expect((await other.get(`/v1/runs/${others}`)).body.metadata).toEqual({ customer: "jane@private.example" })
  })
})

describe("GET /v1/runs by", () => {
  test("metadata", async () => {
    expect(await listed("?metadata.campaign=spring&metadata.customer=a%3Db%26c")).toContain(ids.both)
    const spring = await listed("?metadata.campaign=spring")
    expect(spring).toContain(ids.spring)
    expect(spring).not.toContain(ids.plain)
    expect(await listed("?metadata.campaign=Spring")).toEqual([])
    expect(await listed(`?metadata.campaign=${"x".repeat(3_000)}`)).toEqual([])
    // The 1,000th character is half of an emoji.
    const emojis = `x${"😀".repeat(600)}`
    expect(await listed(`?metadata.campaign=${encodeURIComponent(emojis)}`)).toEqual([])
    expect(await listed("?metadata.campaign=autumn&capability=email.verify")).toEqual([])
  })

  test("metadata of another organization finds nothing", async () => {
    const other = await app.tenant()
    expect((await other.list("?metadata.campaign=spring")).body.items).toEqual([])
    await other.run({ ...verify(), metadata: { campaign: "spring" } })
    expect((await other.list("?metadata.campaign=spring")).body.items).toHaveLength(1)
    expect((await other.list("?metadata.campaign=spring&metadata.customer=a%3Db%26c")).body.items).toEqual([])
  })

  test("metadata page by page, newest first", async () => {
    const tenant = await app.tenant("10.00")
    const all: Array<string> = []
    for (let n = 0; n < 5; n++) {
      const { body } = await tenant.run({ ...verify(), metadata: { campaign: "paged", n: String(n) } })
      all.unshift(body.run_id)
      await tenant.run(verify())
    }
    const pages = async (of: App) => {
      const found: Array<string> = []
      for (let cursor = ""; ; ) {
        const { body } = await of.call(tenant.key, "GET", `/v1/runs?metadata.campaign=paged&limit=2${cursor}`)
        found.push(...body.items.map((one: { run_id: string }) => one.run_id))
        if (body.next_cursor === null) return found
        cursor = `&cursor=${body.next_cursor}`
      }
    }
    expect(await pages(app)).toEqual(all)
  })

  test("key", async () => {
    expect(await listed(`?key_id=${org.key_id}&limit=200`)).toContain(ids.plain)
    expect(await listed("?key_id=key_nobody")).toEqual([])
  })

  test("time: from is inclusive, to is exclusive, and a date as `to` includes its day", async () => {
    const { created_at } = (await org.get(`/v1/runs/${ids.both}`)).body
    const later = new Date(Date.parse(created_at) + 1).toISOString()
    expect(await listed(`?from=${created_at}&limit=200`)).toContain(ids.both)
    expect(await listed(`?from=${created_at}&limit=200`)).not.toContain(ids.spring)
    expect(await listed(`?to=${created_at}`)).not.toContain(ids.both)
    expect(await listed(`?to=${later}`)).toContain(ids.both)
    const day = created_at.slice(0, 10)
    expect(await listed(`?from=${day}&to=${day}&limit=200`)).toContain(ids.both)
    expect(await listed("?to=2025-01-01")).toEqual([])
    expect(await listed("?from=2999-01-01")).toEqual([])
    expect(await listed("?from=2025-01-01T00:00:00+02:00&limit=1")).toHaveLength(1)
  })

  test.each([
    ["from=yesterday", "query.from"],
    ["from=2026-02-30", "query.from"],
    ["to=2026-01-01T00:00:00", "query.to"],
    ["from=2026-01-02&to=2026-01-01", "query.to"],
    ["from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "query.to"],
    ["metadata.=x", "query.metadata."],
    ["metadata=x", "query.metadata"],
    ["metadata.a%20b=x", "query.metadata."],
    ["metadata.a=x&metadata.a=y", "query.metadata.a"],
    ["key_id=", "query.key_id"]
  ])("refuses %s", async (query, path) => {
    const { status, body } = await org.list(`?${query}`)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details[0].path).toStartWith(path)
  })
})
