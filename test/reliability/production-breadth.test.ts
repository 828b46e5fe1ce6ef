/**
 * New raw endpoints as a customer uses them, in production: inspect, run, charge. Jobs that they start belong to the organization, and public
 * data needs no money.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type Reply, type Tenant, withApp } from "../kit/app.ts"
import { answer } from "../layers/providers/stage.ts"
import { standIn } from "../layers/providers/standin.ts"

const there = standIn()
let ours: Tenant
let others: Tenant
const app = withApp({ settings: { ...there.settings, RUNGATE_PROVIDER_THEIRSTACK_CREDIT_USD: "0.05" } })
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  ours = await app.tenant("10.00")
  others = await app.tenant("10.00")
})
afterEach(async () => {
  await app.books()
})

type Request = Readonly<Record<string, unknown>>
const charged = async (asked: Promise<Reply>) => {
  const { body } = await asked
  expect(body.error ?? null).toBe(null)
  expect(body.status).toBe("succeeded")
  return body.billing.charged
}
/** Refused at this field before anything left. */
const expectRefused = async (asked: Promise<Reply>, path: string) => {
  const { status, body } = await asked
  expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([400, "invalid_request", path])
  expect(there.heard()).toEqual([])
}
const at = (provider: string, endpoint: string, method: string) => (org: Tenant, request: Request) =>
  org.run({ provider, endpoint, method, input: {}, ...request })

describe("a webset of Exa", () => {
  const create = at("exa", "/websets/v0/websets", "POST")
  const get = at("exa", "/websets/v0/websets/{webset}", "GET")
  const search = at("exa", "/websets/v0/websets/{webset}/searches/{id}", "GET")
  const remove = at("exa", "/websets/v0/websets/{webset}", "DELETE")
  const agencies = {
    search: { query: "Marketing agencies in Berlin", count: 5, entity: { type: "company" } },
    enrichments: [{ description: "Website", format: "url" }]
  }
  const created = (id: string) =>
    answer(201, { id, status: "running", searches: [{ id: `search_of_${id}` }], enrichments: [] })

  test("is inspected with what drives its price, and charged by it", async () => {
    const { body } = await ours.post("/v1/inspect", { provider: "exa", endpoint: "/websets/v0/websets" })
    expect(body.cost).toMatchObject({ model: "per_result", estimate: "0.75" })
    expect(JSON.stringify(body)).toContain("search.count")
    there.play("exa", created("webset_0"))
    // (10 credits + 5 for the enrichment) × 5 results × $0.00625 × 1.2
    expect(await charged(create(ours, { input: agencies }))).toBe("0.5625")
    expect(there.heard()).toMatchObject([{ method: "POST", path: "/websets/v0/websets", body: agencies }])
    expect((await ours.wallet()).available).toBe("9.4375")
  })

  test("is not started beyond the wallet, and has no field whose cost is unknown", async () => {
    const { status, body } = await create(ours, { input: { search: { query: "x", count: 1_000 } } })
    expect([status, body.error.code]).toEqual([402, "insufficient_balance"])
    await expectRefused(
      create(ours, { input: { ...agencies, import: [{ source: "import", id: "x" }] } }),
      "input.import"
    )
    await expectRefused(create(ours, { input: { ...agencies, externalId: "webset_1" } }), "input.externalId")
    await expectRefused(create(ours, { input: { search: { query: "x", count: 1_001 } } }), "input.search.count")
  })

  test("belongs to the organization that created it, with its searches", async () => {
    there.play("exa", created("webset_1"), answer(200, { id: "webset_1" }), answer(200, { id: "search_of_webset_1" }))
    await charged(create(ours, { input: agencies }))
    expect(await charged(get(ours, { path: { webset: "webset_1" } }))).toBe("0.00")
    expect(await charged(search(ours, { path: { webset: "webset_1", id: "search_of_webset_1" } }))).toBe("0.00")
    there.forget()
    await expectRefused(get(others, { path: { webset: "webset_1" } }), "path.webset")
    await expectRefused(remove(others, { path: { webset: "webset_1" } }), "path.webset")
    await expectRefused(search(ours, { path: { webset: "webset_1", id: "search_2" } }), "path.id")
    const scope = [{ source: "webset", id: "webset_1" }]
    await expectRefused(
      create(others, { input: { search: { query: "x", count: 1, scope } } }),
      "input.search.scope.0.id"
    )
  })
})

describe("USAspending", () => {
  test("costs nothing, also for an empty wallet", async () => {
    const empty = await app.tenant()
    const path = "/api/v2/search/spending_by_category/naics/"
    const filters = {
      award_type_codes: ["A", "B"],
      time_period: [{ start_date: "2024-10-01", end_date: "2025-09-30" }]
    }
    const { body } = await empty.post("/v1/inspect", { provider: "usaspending", endpoint: path })
    expect(body.cost).toMatchObject({ model: "free", estimate: "0.00" })
    there.play("usaspending", answer(200, { results: [] }))
    expect(await charged(at("usaspending", path, "POST")(empty, { input: { filters, limit: 5 } }))).toBe("0.00")
    expect(there.heard()).toMatchObject([{ method: "POST", path, body: { filters, limit: 5 } }])
  })

  test("keeps the file of a download for the organization that asked for it", async () => {
    const file_name = "CONT_1.zip"
    there.play("usaspending", answer(200, { file_name }), answer(200, { status: "finished" }))
    await charged(at("usaspending", "/api/v2/download/contract/", "POST")(ours, { input: { award_id: "CONT_1" } }))
    const status = at("usaspending", "/api/v2/download/status", "GET")
    await charged(status(ours, { query: { file_name } }))
    there.forget()
    await expectRefused(status(others, { query: { file_name } }), "query.file_name")
  })
})

describe("credits", () => {
  test("SE Ranking: a request and its rows; a search task and its queries", async () => {
    there.play("seranking", answer(200, { refdomains: [] }), answer(200, [{ task_id: 62_458_525 }]), answer(200, {}))
    const query = { target: "example.com", limit: 50 }
    // 50 credits × $0.0002 × 1.2
    expect(await charged(at("seranking", "/v1/backlinks/refdomains", "GET")(ours, { query }))).toBe("0.012")
    const tasks = "/v1/serp/classic/tasks"
    const input = {
      search_engine: "google",
      device: "desktop",
      language_code: "en",
      location_id: 12_998,
      query: ["a", "b"]
    }
    expect(await charged(at("seranking", tasks, "POST")(ours, { input }))).toBe("0.0048")
    expect(await charged(at("seranking", tasks, "GET")(ours, { query: { task_id: 62_458_525 } }))).toBe("0.0024")
    there.forget()
    await expectRefused(at("seranking", tasks, "GET")(others, { query: { task_id: 62_458_525 } }), "query.task_id")
    await expectRefused(at("seranking", tasks, "GET")(others, {}), "input.task_id")
  })

  test("TheirStack: rows at the operator's price of a credit", async () => {
    const path = "/v1/jobs/search"
    const { body } = await ours.post("/v1/inspect", { provider: "theirstack", endpoint: path })
    expect(body.cost).toMatchObject({ estimate: "1.50", note: "A credit costs $0.05. 1 credit per posting." })
    there.play("theirstack", answer(200, { data: [] }))
    const input = { company_domain_or: ["example.com"], limit: 10 }
    expect(await charged(at("theirstack", path, "POST")(ours, { input }))).toBe("0.60")
    there.forget()
    await expectRefused(at("theirstack", path, "POST")(ours, { input: { ...input, limit: 501 } }), "input.limit")
    await expectRefused(
      at("theirstack", path, "POST")(ours, { input: { ...input, company_list_id_or: [1] } }),
      "input.company_list_id_or"
    )
  })

  test("Crustdata: the credits that its answer reports", async () => {
    there.play("crustdata", { ...answer(200, []), headers: { "x-credits-used": "2" } })
    const input = { urls: ["https://example.com", "https://example.org", "https://example.net"] }
    // 2 credits × $0.10 × 1.2, of a hold for three
    expect(await charged(at("crustdata", "/web/enrich/live", "POST")(ours, { input }))).toBe("0.24")
  })
})
