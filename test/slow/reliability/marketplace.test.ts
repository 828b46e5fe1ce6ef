/**
 * Actors of the marketplace in production: only those on the operator's list run, with limited permissions, and an actor that is new to this
 * service is looked up before its first run.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { type App, type Reply, startApp, type Tenant } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { answer } from "../../layers/providers/stage.ts"
import { type Heard, hasten, standIn } from "../../layers/providers/standin.ts"

const cap_min = "0.50"
const actor = (path: string) => endpointOf({ path, method: "POST", body_type: "actor_input", cap_min })
/** As an import of the store leaves it: names, and no schemas. */
const store = {
  ...documentOf("apify", [
    actor("acme/other-tool"),
    actor("acme/tool"),
    actor("stranger/miner"),
    actor("thescrappa/domain-availability-checker")
  ]),
  base_url: "https://api.apify.com/v2"
}
const shipped = "thescrappa/domain-availability-checker"

const there = standIn()
const unhasten = hasten()
let byDefault: App
let listing: App
beforeAll(async () => {
  byDefault = await startApp({ settings: there.settings })
  listing = await startApp({ settings: { ...there.settings, RUNGATE_ACTORS: "acme/tool, Stranger/*" } })
  for (const app of [byDefault, listing]) await app.catalog(store)
})
afterAll(async () => {
  await Promise.all([byDefault.stop(), listing.stop()])
  await there.stop()
  unhasten()
})
beforeEach(() => there.forget())
afterEach(async () => {
  await Promise.all([byDefault.books(), listing.books()])
})

/** The marketplace: what it says of an actor and of its build, and a run that ends at once with one item. */
const marketplace = (about: Record<string, unknown> = {}, schema: Record<string, unknown> = { properties: {} }) => {
  const answers = ({ method, path }: Heard) => {
    const run = { id: "run1", status: "SUCCEEDED", defaultDatasetId: "set1", usageTotalUsd: 0.01 }
    if (method === "POST" || path.startsWith("/v2/actor-runs/")) return answer(200, { data: run })
    if (path.startsWith("/v2/datasets/")) return answer(200, [{ n: 1 }])
    if (path.endsWith("/builds/default"))
      return answer(200, { data: { actorDefinition: { input: { type: "object", ...schema } } } })
    return answer(200, { data: { actorPermissionLevel: "LIMITED_PERMISSIONS", ...about } })
  }
  there.play("apify", ...Array.from({ length: 12 }, () => answers))
}
const call = (org: Tenant, endpoint: string, input: unknown = {}) => org.run({ provider: "apify", endpoint, input })
const refused = ({ status, body }: Reply, words: string) => {
  expect([status, body.error.code]).toEqual([404, "endpoint_not_found"])
  expect(body.error.message).toContain(words)
  expect(there.heard("apify").filter((one) => one.method === "POST")).toEqual([])
}
const names = async (org: Tenant) =>
  (await org.get("/v1/catalog/providers/apify/endpoints")).body.items.map((one: { endpoint: string }) => one.endpoint)

test("those that the package ships run by default, with limited permissions; others don't, and don't show", async () => {
  const org = await byDefault.tenant("5.00")
  expect(await names(org)).toEqual([shipped])
  marketplace()
  for (const endpoint of ["acme/tool", "stranger/miner"]) {
    refused(await call(org, endpoint), `The operator can allow it with RUNGATE_ACTORS=${endpoint}`)
    refused(await org.post("/v1/inspect", { provider: "apify", endpoint }), "RUNGATE_ACTORS")
  }
  expect((await org.wallet()).available).toBe("5.00")
  expect((await call(org, shipped)).body.status).toBe("succeeded")
  const started = there.heard("apify").filter((one) => one.method === "POST")
  expect(started.map(({ query }) => query["forcePermissionLevel"])).toEqual(["LIMITED_PERMISSIONS"])
})

test("RUNGATE_ACTORS takes their place: names, and all of an owner", async () => {
  const org = await listing.tenant("5.00")
  expect(await names(org)).toEqual(["acme/tool", "stranger/miner"])
  marketplace()
  for (const endpoint of ["acme/tool", "stranger/miner"])
    expect((await call(org, endpoint)).body.status).toBe("succeeded")
  there.forget()
  for (const endpoint of ["acme/other-tool", shipped]) refused(await call(org, endpoint), "RUNGATE_ACTORS")
})

test("an actor is looked up before its first run: full permissions, or no answer, and it does not start", async () => {
  const app = await startApp({ settings: { ...there.settings, RUNGATE_ACTORS: "acme/*" } })
  try {
    await app.catalog(store)
    const org = await app.tenant("5.00")
    there.play("apify", answer(503, {}), answer(503, {}))
    const down = await call(org, "acme/other-tool")
    expect([down.status, down.body.error.code]).toEqual([409, "provider_not_available"])
    expect(down.body.error.message).toContain("which permissions it requires")
    marketplace({ actorPermissionLevel: "FULL_PERMISSIONS" })
    refused(await call(org, "acme/tool"), "requires full permissions")
    // Remembered: the marketplace is not asked again.
    there.forget()
    refused(await call(org, "acme/tool"), "requires full permissions")
    expect(there.heard()).toEqual([])
    expect((await org.wallet()).available).toBe("5.00")
  } finally {
    await app.stop()
  }
})

test("an actor of the package has the schema of its latest build and the marketplace's statistics from its first inspection on", async () => {
  const app = await startApp({ settings: there.settings })
  try {
    const org = await app.tenant("5.00")
    const asked = { provider: "apify", endpoint: shipped }
    const inspect = async () => (await org.post("/v1/inspect", asked)).body
    there.play("apify", answer(503, {}), answer(503, {}))
    expect(Object.keys((await inspect()).input.body.properties)).not.toContain("newest")
    const month = { SUCCEEDED: 990, FAILED: 10, TOTAL: 1_000 }
    marketplace(
      { stats: { publicActorRunStats30Days: month } },
      { properties: { newest: { type: "string", prefill: "x" } }, required: ["newest"] }
    )
    // After a failure this process waits a minute; another one asks.
    const other = await startApp({ beside: app, role: "http", settings: there.settings })
    try {
      const { body } = await org.over(other).post("/v1/inspect", asked)
      expect(body.input.body).toMatchObject({ required: ["newest"], properties: { newest: { type: "string" } } })
      expect(body.example.input).toEqual({ newest: "x" })
      expect(body.health).toMatchObject({ source: "provider_reported", success_rate: 0.99, sample_size: 1_000 })
      const found = await org.over(other).post("/v1/discover", { query: shipped, kind: "endpoint", provider: "apify" })
      const item = found.body.items.find(({ endpoint }: { readonly endpoint: string }) => endpoint === shipped)
      expect(item.health.source).toBe("provider_reported")
      const questions = there.heard("apify").length
      expect((await org.over(other).post("/v1/inspect", asked)).body.health.source).toBe("provider_reported")
      expect(there.heard("apify")).toHaveLength(questions)
    } finally {
      await other.stop()
    }
    // What one process was shown, all enforce.
    const { status, body } = await call(org, shipped, {})
    expect([status, body.error.details[0].path]).toEqual([400, "input.newest"])
    expect((await call(org, shipped, { newest: "x" })).body.status).toBe("succeeded")
  } finally {
    await app.stop()
  }
})

test("an input opens no storage of the account: what another organization's run left there stays there", async () => {
  const app = await startApp({ settings: { ...there.settings, RUNGATE_ACTORS: "acme/*" } })
  try {
    await app.catalog(store)
    const org = await app.tenant("5.00")
    const dataset = { type: "string", title: "Dataset", resourceType: "dataset" }
    marketplace(
      {},
      { properties: { dataset, sets: { type: "array", resourceType: "dataset" }, q: { type: "string" } } }
    )
    for (const [input, path] of [
      [{ dataset: "somebody-elses" }, "input.dataset"],
      [{ sets: ["somebody-elses"] }, "input.sets"]
    ] as const) {
      const { status, body } = await call(org, "acme/tool", input)
      expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", path])
    }
    expect((await call(org, "acme/tool", { q: "x" })).body.status).toBe("succeeded")
  } finally {
    await app.stop()
  }
})

test.each(["acme", "acme/", "*/tool", "acme/tool;x/y", "*"])(
  "RUNGATE_ACTORS=%s is no list of actors",
  async (value) => {
    const starting = startApp({ settings: { ...there.settings, RUNGATE_ACTORS: value } })
    await expect(starting).rejects.toThrow("RUNGATE_ACTORS must be actors such as")
  }
)
