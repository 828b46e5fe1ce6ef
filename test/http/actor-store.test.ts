/**
 * The whole store of the marketplace, imported into a running service: all of it or what the operator allows, found by search, and only what
 * is allowed is shown and runs. A store of 20,000 actors with TEST_INPUTS=all, and of 1,500 without.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Exit, Layer } from "effect"
import { CatalogImports } from "../../src/layers/catalog/CatalogImports.ts"
import { Endpoints } from "../../src/layers/catalog/Endpoints.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { type App, figures, startApp, type Tenant, timed, until } from "../kit/app.ts"
import { howMany } from "../kit/input-samples.ts"
import { actorStore, needle } from "../layers/catalog/actor-store.ts"

const actors = howMany(20_000, 1_500)
const shipped = 32
const store = actorStore(actors)
let app: App
let allowing: App
let org: Tenant
beforeAll(async () => {
  const account = { RUNGATE_PROVIDER_APIFY_BASE_URL: store.url, RUNGATE_PROVIDER_APIFY_API_KEY: "apify-secret" }
  app = await startApp({ settings: account })
  allowing = await startApp({
    settings: { ...account, RUNGATE_MODE: "production", RUNGATE_ACTORS: "owner1/*,Needle-Owner/moonbeam-harvester" }
  })
  org = await app.tenant("1.00")
})
afterAll(async () => {
  await Promise.all([app.stop(), allowing.stop()])
  await store.stop()
})

const request = {
  location: "apify",
  provider: null,
  title: null,
  body_type: "json" as const,
  sources: null,
  include: [],
  exclude: []
}
const importing = (into: App, allow: ReadonlyArray<string>, location = "apify") =>
  Effect.runPromiseExit(
    Effect.flatMap(CatalogImports, (imports) =>
      Effect.tap(imports.prepare({ ...request, location, allow }), imports.apply)
    ).pipe(
      Effect.provide(
        CatalogImports.layer.pipe(Layer.provide(Storage), Layer.provide(Settings.layerFrom(into.settings)))
      )
    )
  )
/** Imports, and has the running service look at once. It would look within 5 seconds. */
const imported = async (into: App, allow: ReadonlyArray<string>) => {
  const exit = await importing(into, allow)
  if (Exit.isFailure(exit)) return expect.unreachable(String(exit.cause))
  await Effect.runPromise(Effect.flatMap(Endpoints, ({ refresh }) => refresh).pipe(Effect.provideContext(into.context)))
  return exit.value
}
const refused = async (allow: ReadonlyArray<string>, location?: string) => {
  const exit = await importing(app, allow, location)
  return Exit.isFailure(exit) ? String(exit.cause) : expect.unreachable("it was imported")
}
const discover = (from: Tenant, query: string) => from.post("/v1/discover", { query, kind: "endpoint", limit: 5 })
/** The running service sees an import. */
const sees = (from: Tenant) =>
  until(
    "the running service sees the import",
    () => discover(from, needle.query),
    ({ body }) => body.items[0]?.endpoint === needle.path
  )

test("--allow imports the named actors, and those that ship stay", async () => {
  const plan = await imported(app, ["owner1/*", needle.path])
  expect(plan.diff.added).toHaveLength(store.owned(1) + 1)
  expect(plan.diff.removed).toEqual([])
  expect(plan.imported.document.endpoints).toHaveLength(store.owned(1) + 1 + shipped)
  await sees(org)
})

test("--allow says what is wrong with it", async () => {
  expect(await refused(["nobody/nothing"])).toContain("The store has no actor that --allow nobody/nothing means")
  expect(await refused(["*"])).toContain("--allow * must be an actor, owner/name or owner/*")
  expect(await refused([needle.path], "openapi.yaml")).toContain("--allow names actors of the marketplace")
})

test("the whole store is imported, and searched", async () => {
  const { value: plan, millis } = await timed(() => imported(app, []))
  expect(plan.imported.document.endpoints).toHaveLength(actors)
  expect(plan.diff.added).toHaveLength(actors - store.owned(1) - 1)
  expect((await org.get("/v1/catalog/providers/apify")).body.endpoints.count).toBe(actors)
  await sees(org)
  const times: Array<number> = []
  for (const query of ["find people by company", "reviews of places", "scrape posts", "backlinks of a domain"])
    times.push((await timed(() => discover(org, query))).millis)
  figures("actor store", { actors, import_ms: Math.round(millis), slowest_search_ms: Math.round(Math.max(...times)) })
})

test("in production, only the actors that the operator allows are shown", async () => {
  await imported(allowing, [])
  const customer = await allowing.tenant("1.00")
  await sees(customer)
  const shown = await customer.get("/v1/catalog/providers/apify/endpoints?limit=100")
  expect(shown.body.items.map((one: { endpoint: string }) => one.endpoint)).toHaveLength(store.owned(1) + 1)
  const other = await customer.post("/v1/inspect", { provider: "apify", endpoint: "owner0/actor-0" })
  expect([other.status, other.body.error.code]).toEqual([404, "endpoint_not_found"])
  expect(other.body.error.message).toContain("RUNGATE_ACTORS=owner0/actor-0")
})
