import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { rehearse, type Tenant, verify, withApp } from "../kit/app.ts"

interface Listed {
  readonly run_id: string
  readonly status: string
  readonly capability: string
  readonly provider: string
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
      expect(item).toEqual(rest)
    }
  })

  test("filters by status, capability and provider, alone and together", async () => {
    const statuses = async (query: string) => (await list(query)).items.map((one) => one.status)
    expect(await statuses("?status=failed")).toEqual(["failed"])
    expect(await statuses("?status=no_match")).toEqual(["no_match"])
    expect(await statuses("?status=queued")).toEqual([])
    expect((await list("?capability=web.search")).items.map((one) => one.capability)).toEqual(["web.search"])
    expect((await list("?capability=mind.read")).items).toEqual([])
    // The failed run ended with icypeas too.
    expect((await list("?provider=icypeas")).items).toHaveLength(2)
    expect((await list("?provider=icypeas&status=succeeded")).items.map((one) => one.run_id)).toEqual([ids[4] ?? ""])
    expect((await list("?endpoint=/v2/x")).items).toEqual([])
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
