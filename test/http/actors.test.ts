/** The actor marketplace from end to end: imported from a stand-in, found, its input schema loaded on first inspection, and enforced. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { Storage } from "../../src/layers/Storage.ts"
import { CatalogImports } from "../../src/layers/catalog/CatalogImports.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { type Tenant, until, withApp } from "../kit/app.ts"

const examples = join(import.meta.dir, "..", "fixtures", "payloads", "apify")
const build = readFileSync(join(examples, "build_default.linkedin_job_search.response.json"), "utf8")

const asked: Array<string> = []
let broken = false
const permissions = new Map<string, string>()
const actor = (name: string, more: Record<string, unknown> = {}) => ({
  id: name,
  name,
  username: "harvestapi",
  title: `Actor ${name}`,
  description: `Collects ${name} for you.`,
  categories: ["JOBS"],
  stats: { publicActorRunStats30Days: { SUCCEEDED: 990, FAILED: 10, ABORTED: 0, "TIMED-OUT": 0, TOTAL: 1_000 } },
  currentPricingInfo: { pricingModel: "PRICE_PER_DATASET_ITEM", pricePerUnitUsd: 0.001 },
  ...more
})
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request): Response => {
    const { pathname } = new URL(request.url)
    asked.push(`${pathname} ${request.headers.get("authorization")}`)
    if (broken) return new Response("down", { status: 503 })
    if (pathname === "/v2/store") {
      const greedy = actor("greedy-jobs", { actorPermissionLevel: "FULL_PERMISSIONS" })
      const items = [actor("moonbeam-jobs"), actor("sunray-jobs"), actor("starlight-jobs"), greedy, { id: "junk" }]
      return Response.json({ data: { total: items.length, offset: 0, limit: 1_000, count: items.length, items } })
    }
    if (pathname.endsWith("/builds/default")) return new Response(build)
    return Response.json({ data: { actorPermissionLevel: permissions.get(pathname) ?? "LIMITED_PERMISSIONS" } })
  }
})

let org: Tenant
const app = withApp({
  settings: {
    RUNGATE_PROVIDER_APIFY_BASE_URL: `http://127.0.0.1:${server.port}`,
    RUNGATE_PROVIDER_APIFY_API_KEY: "apify-secret"
  }
})
beforeAll(async () => {
  org = await app.tenant("10.00")
})
afterAll(async () => {
  await server.stop(true)
})

const inspect = (name: string) => org.post("/v1/inspect", { provider: "apify", endpoint: `harvestapi/${name}` })

test("the store is imported with prices and published statistics, a junk item is a warning", async () => {
  const layer = CatalogImports.layer.pipe(Layer.provide(Storage), Layer.provide(Settings.layerFrom(app.settings)))
  const plan = await Effect.runPromise(
    Effect.flatMap(CatalogImports, (imports) =>
      Effect.tap(
        imports.prepare({
          location: "apify",
          provider: null,
          title: null,
          body_type: "json",
          sources: null,
          include: [],
          exclude: [],
          allow: []
        }),
        imports.apply
      )
    ).pipe(Effect.provide(layer))
  )
  expect(plan.diff.added).toEqual([
    "POST harvestapi/moonbeam-jobs",
    "POST harvestapi/starlight-jobs",
    "POST harvestapi/sunray-jobs"
  ])
  expect(plan.imported.warnings.map((one) => one.message)).toEqual([
    "left out: it asks for full permissions over the account that runs it",
    "left out: it has no usable name"
  ])
  expect(asked[0]).toBe("/v2/store Bearer apify-secret")
  const found = await until(
    "the running service sees the import",
    () => org.post("/v1/discover", { query: "moonbeam jobs", kind: "endpoint" }),
    ({ body }) => body.items[0]?.endpoint === "harvestapi/moonbeam-jobs"
  )
  expect(found.body.items[0]).toMatchObject({
    provider: "apify",
    cost: { model: "per_result", currency: "USD" },
    health: { status: "stable", source: "provider_reported", success_rate: 0.99, sample_size: 1_000 }
  })
})

test("the input schema is loaded when an actor is first inspected, once, and enforced from then on", async () => {
  asked.length = 0
  const [first] = await Promise.all([1, 2, 3, 4, 5].map(() => inspect("moonbeam-jobs")))
  if (first === undefined) throw new Error("nothing was inspected")
  expect(first.body.input.bodyType).toBe("actor_input")
  expect(Object.keys(first.body.input.body.properties)).toContain("jobTitles")
  await inspect("moonbeam-jobs")
  expect(asked.sort()).toEqual([
    "/v2/acts/harvestapi~moonbeam-jobs Bearer apify-secret",
    "/v2/acts/harvestapi~moonbeam-jobs/builds/default Bearer apify-secret"
  ])
  const good = await org.run(first.body.example)
  expect([good.status, good.body.status]).toEqual([200, "succeeded"])
  const bad = await org.run({ ...first.body.example, input: { jobTitles: "one" } })
  expect([bad.status, bad.body.error.details[0].path]).toEqual([400, "input.jobTitles"])
})

test("an actor that asks for full permissions since its import is neither shown nor run", async () => {
  permissions.set("/v2/acts/harvestapi~starlight-jobs", "FULL_PERMISSIONS")
  for (const { status, body } of [
    await inspect("starlight-jobs"),
    await org.run({ provider: "apify", endpoint: "harvestapi/starlight-jobs", input: {} })
  ]) {
    expect([status, body.error.code]).toEqual([404, "endpoint_not_found"])
    expect(body.error.message).toContain("requires full permissions")
  }
})

test("a marketplace that is down costs an inspection nothing but the schema, and is not asked again at once", async () => {
  broken = true
  asked.length = 0
  const first = await inspect("sunray-jobs")
  expect([first.status, first.body.input.body]).toEqual([200, null])
  expect(first.body.hints.join(" ")).toContain("could not be loaded")
  const questions = asked.length
  await inspect("sunray-jobs")
  expect(asked.length).toBe(questions)
  const ran = await org.run({ provider: "apify", endpoint: "harvestapi/sunray-jobs", input: { anything: true } })
  expect(ran.body.status).toBe("succeeded")
  expect(app.logs.join("\n")).not.toContain("apify-secret")
})
