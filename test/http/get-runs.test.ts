import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { rehearse, type Tenant, verify, withApp } from "../kit/app.ts"
import { listen } from "../kit/event-stream.ts"
import { indexedAndCounted } from "../kit/finished-work.ts"

interface Listed {
  readonly run_id: string
  readonly status: string
  readonly capability: string
  readonly provider: string
  readonly key_id: string | null
  readonly subject: string | null
}

describe("GET /v1/runs", () => {
  let org: Tenant
  let ids: ReadonlyArray<string>
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("100.00")
    const asked = [
      verify(),
      { ...verify(), routing: { provider: "icypeas" } },
      rehearse("error"),
      rehearse("no_match"),
      { capability: "web.search", input: { query: "rungate" } },
      { ...verify("late"), response: { include_raw: true } }
    ]
    const made: Array<string> = []
    for (const one of asked) made.unshift((await org.run(one)).body.run_id)
    ids = made
    await (await app.tenant("1.00")).run(verify())
  })
  afterEach(async () => {
    await app.books()
  })
  const list = async (query = "") =>
    (await org.list(query)).body as { items: ReadonlyArray<Listed>; next_cursor: string | null }

  test("lists the organization's runs, newest first, without their results", async () => {
    const { items, next_cursor } = await list()
    expect(items.map((one) => one.run_id)).toEqual([...ids])
    expect(next_cursor).toBeNull()
    for (const item of items) {
      const { result: _result, ...rest } = (await org.get(`/v1/runs/${item.run_id}`)).body
      const { key_id: _key, subject: _subject, ...same } = item
      expect<object>(same).toEqual(rest)
    }
  })

  test("tells runs apart by what they were about, and by their key", async () => {
    const { items } = (await org.list("?capability=web.search")).body
    expect(items).toMatchObject([{ subject: "rungate", key_id: expect.stringMatching(/^key_/) }])
    const other = await app.tenant("5.00")
    await other.run({ capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } })
    await other.run({ capability: "web.search", input: { query: `${"x".repeat(59)}${"😀".repeat(30)}` } })
    // PostgreSQL stores the second one in a few bytes.
    for (const long of [crypto.getRandomValues(Buffer.alloc(1_500)).toString("base64url"), "x".repeat(2_000)])
      await other.run({ capability: "web.scrape", input: { url: `https://example.com/${long}` } })
    const subjects = async () => (await other.list()).body.items.map((one: { subject: unknown }) => one.subject)
    expect(await subjects()).toEqual([null, null, `${"x".repeat(59)}\ufffd…`, "Ada Lovelace, example.com"])
  })

  test("filters by status, capability and provider, alone and together", async () => {
    const statuses = async (query: string) => (await list(query)).items.map((one) => one.status)
    expect(await statuses("?status=failed")).toEqual(["failed"])
    expect(await statuses("?status=no_match")).toEqual(["no_match"])
    expect(await statuses("?status=queued")).toEqual([])
    expect((await list("?capability=web.search")).items.map((one) => one.capability)).toEqual(["web.search"])
    expect((await list("?capability=mind.read")).items).toEqual([])
    // The failed run called icypeas last, which did not serve it.
    expect((await list("?provider=icypeas")).items.map((one) => one.run_id)).toEqual([ids[4] ?? ""])
    expect((await list("?provider=icypeas&status=failed")).items).toEqual([])
    expect((await list("?endpoint=/v2/x")).items).toEqual([])
  })

  test("has a provider only if one served the run, wherever the run is shown", async () => {
    const tenant = await app.tenant("10.00")
    const pinned = { routing: { provider: "hunter" } }
    const only = { ...verify("nobody-bought"), ...pinned, reuse: { mode: "only" } }
    const made = [
      (await tenant.run({ ...verify(), ...pinned })).body,
      (await tenant.run({ ...rehearse("no_match"), ...pinned })).body,
      (await tenant.run({ ...rehearse("error"), ...pinned })).body,
      (await tenant.run(only)).body
    ]
    await app.call(await tenant.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: "0.00001" } })
    made.push((await tenant.run({ ...verify("much"), ...pinned })).body)
    const served = ["hunter", "hunter", null, null, null]
    expect(made.map(({ status }) => status)).toEqual(["succeeded", "no_match", "failed", "no_match", "blocked"])
    expect(made.map(({ provider }) => provider)).toEqual(served)
    const { text: csv } = await tenant.get("/v1/runs", { headers: { accept: "text/csv" } })
    const history = (await tenant.get("/v1/history?q=sandbox.test")).body.items
    for (const [at, { run_id }] of made.entries()) {
      const { text: jws } = await tenant.get(`/v1/runs/${run_id}/receipt`)
      const receipt = JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString())
      const cell = csv
        .split("\n")
        .find((line) => line.startsWith(run_id))
        ?.split(",")[5]
      const stream = await listen(app.url, tenant.key, `/v1/runs/${run_id}/events`)
      await stream.ended
      expect([run_id, (await tenant.get(`/v1/runs/${run_id}`)).body.provider, receipt.provider, cell]).toEqual([
        run_id,
        served[at],
        served[at],
        served[at] ?? ""
      ])
      expect(stream.text().split("run.finished").at(-1)).toContain(`"provider":${JSON.stringify(served[at])}`)
      const found = history.find((one: { run_id: string }) => one.run_id === run_id)
      if (found !== undefined) expect(found.provider).toBe(served[at])
    }
    expect((await tenant.list("?provider=hunter")).body.items.map((one: Listed) => one.run_id)).toEqual(
      [made[1], made[0]].map((one) => one.run_id)
    )
    await indexedAndCounted(app)
    const usage = (await tenant.get("/v1/usage?group_by=provider")).body.items
    expect(usage.map((one: { provider: string | null; runs: number }) => [one.provider ?? null, one.runs])).toEqual(
      expect.arrayContaining([
        ["hunter", 2],
        [null, 3]
      ])
    )
    await app.call(await tenant.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: null } })
  })

  test("pages through cursors without gaps or repeats, with filters too", async () => {
    for (const filter of ["", "&capability=email.verify"]) {
      const all = (await list(`?limit=200${filter}`)).items.map((one) => one.run_id)
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const page = await list(`?limit=2${filter}${cursor === null ? "" : `&cursor=${cursor}`}`)
        expect(page.items.length).toBeLessThanOrEqual(2)
        seen.push(...page.items.map((one) => one.run_id))
        cursor = page.next_cursor
      } while (cursor !== null)
      expect(seen).toEqual(all)
    }
  })

  test("limits a page to 50 unless told otherwise", async () => {
    const many = await app.tenant("10.00")
    await Promise.all(Array.from({ length: 53 }, () => many.run(verify())))
    const first = await many.list()
    expect(first.body.items).toHaveLength(50)
    const rest = await many.list(`?cursor=${first.body.next_cursor}`)
    expect([rest.body.items.length, rest.body.next_cursor]).toEqual([3, null])
    expect((await many.list("?limit=53")).body.next_cursor).toBeNull()
  })

  const refused = [
    ["limit=0", "query.limit"],
    ["limit=201", "query.limit"],
    ["limit=-1", "query.limit"],
    ["limit=1.5", "query.limit"],
    ["limit=ten", "query.limit"],
    ["limit=", "query.limit"],
    ["status=done", "query.status"],
    ["capability=", "query.capability"],
    ["cursor=x", "query.cursor"],
    ["cursor=", "query.cursor"]
  ] as const
  test.each(refused)("refuses ?%s", async (query, path) => {
    const { status, body } = await org.list(`?${query}`)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(new Set(body.error.details.map((one: { path: string }) => one.path))).toEqual(new Set([path]))
  })
})
