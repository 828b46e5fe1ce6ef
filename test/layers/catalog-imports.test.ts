/** Imports by an operator: what changes is said first, then all of it is there or nothing, and nobody else is asked anything. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { Storage } from "../../src/layers/Storage.ts"
import { CatalogImports, type ImportRequest } from "../../src/layers/catalog/CatalogImports.ts"
import { CatalogStore } from "../../src/layers/catalog/CatalogStore.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { preparedDatabase } from "../kit/postgres.ts"

const build = async () =>
  ManagedRuntime.make(
    CatalogImports.layer.pipe(
      Layer.provideMerge(Storage),
      Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: await preparedDatabase() }))
    )
  )
let runtime: Awaited<ReturnType<typeof build>>
const folder = mkdtempSync(join(tmpdir(), "rungate-imports-"))
beforeAll(async () => {
  runtime = await build()
})
afterAll(async () => {
  await runtime.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const operation = (summary: string) => ({ summary, responses: { 200: { description: "ok" } } })
const openapi = (paths: Record<string, unknown>) =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Acme", version: "1" },
    servers: [{ url: "https://api.acme.example" }],
    paths
  })
const put = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const request = (location: string, provider: string | null): ImportRequest => ({
  location,
  provider,
  title: null,
  body_type: "json",
  sources: null,
  include: [],
  exclude: [],
  allow: []
})

const imports = <A, E>(use: (service: CatalogImports["Service"]) => Effect.Effect<A, E>) =>
  runtime.runPromise(Effect.flatMap(CatalogImports, use))
const message = async <A, E>(use: (service: CatalogImports["Service"]) => Effect.Effect<A, E>) => {
  const exit = await runtime.runPromiseExit(Effect.flatMap(CatalogImports, use))
  return Exit.isFailure(exit) ? String(exit.cause) : "succeeded"
}
const take = (location: string, provider: string) =>
  imports((service) => Effect.tap(service.prepare(request(location, provider)), (plan) => service.apply(plan)))
const stored = (provider: string) => runtime.runPromise(Effect.flatMap(CatalogStore, (store) => store.load([provider])))

const priced = (rate: string) => `
provider: rated
title: Rated
endpoints:
  - method: POST
    path: /crawl
    title: Crawl
    description: Crawls.
    body: { url: "string!", limit: integer }
    rate: ${rate}
`

describe("rates of an operator", () => {
  test("that ignore a field which may change the price are not used, and the import says which", async () => {
    const plan = await take(put("flat.yaml", priced('{ usd: "0.01", note: Per page. }')), "rated")
    expect(plan.imported.document.endpoints[0]?.cost).toEqual({
      model: "unpublished",
      estimate: null,
      note: "Per page."
    })
    expect(plan.imported.warnings).toEqual([
      {
        where: "POST /crawl",
        message:
          "its rate is not used, because limit may change the price. Add each field to the rate's drivers, or to flat if it does not"
      }
    ])
  })

  test("that name it are, and are stored with the endpoint", async () => {
    const rate = '{ usd: "0", drivers: [{ field: limit, usd: "0.0000001", per: 2, default: 10, max: 50 }] }'
    const plan = await take(put("drivers.yaml", priced(rate)), "rated")
    expect(plan.imported.warnings).toEqual([])
    const [found] = await stored("rated")
    expect(found?.document.endpoints[0]).toMatchObject({
      cost: { model: "per_call", estimate: "0.000001" },
      price: {
        base: "0",
        drivers: [{ field: "limit", counts: "number", price: "0.00000012", per: 2, default: 10, max: 50 }]
      }
    })
    const again = await take(join(folder, "drivers.yaml"), "rated")
    expect(again.diff.unchanged).toBe(1)
    const dearer = await take(put("dearer.yaml", priced(rate.replace("0.0000001", "0.0000002"))), "rated")
    expect(dearer.diff.changed).toEqual(["POST /crawl"])
  })

  test("of none: an OpenAPI document says in one sentence that runs hold $1.00", async () => {
    const parameters = [{ name: "limit", in: "query", schema: { type: "integer" } }]
    const document = openapi({
      "/one": { get: { ...operation("One"), parameters } },
      "/two": { get: operation("Two") }
    })
    const { imported } = await take(put("limits.json", document), "rated")
    expect(imported.warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^1 endpoints without rates .*\(GET \/one\)\. Every run of them holds \$1\.00/)
    ])
  })
})

describe("an import", () => {
  test("says what is added, changed and removed, keeps what is gone, and is repeatable", async () => {
    const first = await take(
      put(
        "a.json",
        openapi({ "/one": { get: operation("One") }, "/two": { get: operation("Two"), post: operation("Make two") } })
      ),
      "acme"
    )
    expect(first.diff).toMatchObject({
      added: ["GET /one", "GET /two", "POST /two"],
      changed: [],
      removed: [],
      unchanged: 0,
      retired: []
    })
    const again = await take(join(folder, "a.json"), "acme")
    expect(again.diff).toMatchObject({ added: [], changed: [], removed: [], unchanged: 3 })
    const next = openapi({
      "/one": { get: operation("One, renamed") },
      "/two": { get: operation("Two") },
      "/three": { get: operation("Three") }
    })
    const second = await take(put("b.json", next), "acme")
    expect(second.diff).toMatchObject({
      added: ["GET /three"],
      changed: ["GET /one"],
      removed: ["POST /two"],
      unchanged: 1
    })
    const [document] = await stored("acme")
    expect(document?.document.endpoints.map((one) => `${one.method} ${one.path}`)).toEqual([
      "GET /one",
      "GET /three",
      "GET /two"
    ])
    expect(document?.retired).toMatchObject([
      { method: "POST", path: "/two", title: "Make two", retired_at: expect.stringMatching(/^\d{4}-/) }
    ])
    // What comes back is no longer gone.
    await take(join(folder, "a.json"), "acme")
    const [back] = await stored("acme")
    expect(back?.retired.map((one) => one.path)).toEqual(["/three"])
  })

  test("that was prepared against an older catalog changes nothing", async () => {
    const plan = await imports((service) =>
      service.prepare(request(put("c.json", openapi({ "/old": { get: operation("Old") } })), "acme"))
    )
    await take(put("d.json", openapi({ "/new": { get: operation("New") } })), "acme")
    expect(await message((service) => service.apply(plan))).toContain("Run the import again")
    const [document] = await stored("acme")
    expect(document?.document.endpoints.map((one) => one.path)).toEqual(["/new"])
  })

  test("of two at once, one wins and the other is told", async () => {
    const plans = await Promise.all(
      ["/x", "/y"].map((path, index) =>
        imports((service) =>
          service.prepare(request(put(`${index}.json`, openapi({ [path]: { get: operation(path) } })), "race"))
        )
      )
    )
    const ends = await Promise.all(plans.map((plan) => message((service) => service.apply(plan))))
    expect(ends.filter((end) => end === "succeeded").length).toBe(1)
    expect((await stored("race")).length).toBe(1)
  })

  test("can be forgotten", async () => {
    await take(put("e.json", openapi({ "/x": { get: operation("X") } })), "soon_gone")
    expect(await imports((service) => service.reset("soon_gone"))).toBe(true)
    expect(await imports((service) => service.reset("soon_gone"))).toBe(false)
    expect(await stored("soon_gone")).toEqual([])
  })

  test("of a manifest reads the documents that it names, from its own folder", async () => {
    put("acme-openapi.json", openapi({ "/one": { get: operation("One") } }))
    const manifest = put(
      "acme.yaml",
      "provider: acme_m\ntitle: Acme\nopenapi: [acme-openapi.json]\nrates:\n  default: { usd: '0.01' }\n"
    )
    const { imported } = await imports((service) => service.prepare(request(manifest, null)))
    expect(imported.document.endpoints).toMatchObject([{ path: "/one", cost: { estimate: "0.012" } }])
    put("lost.yaml", "provider: acme_m\ntitle: Acme\nopenapi: [nowhere.json]\n")
    expect(await message((service) => service.prepare(request(join(folder, "lost.yaml"), null)))).toContain(
      "nowhere.json"
    )
  })
})

describe("an import is refused", () => {
  test("of a provider that is never exposed raw", async () => {
    const file = put("f.json", openapi({ "/x": { get: operation("X") } }))
    for (const slug of ["fal", "agentmail", "porkbun"])
      expect(await message((service) => service.prepare(request(file, slug)))).toContain("never exposed raw")
  })

  test("with one sentence that says what to do", async () => {
    const says = (location: string, provider: string | null) =>
      message((service) => service.prepare(request(location, provider)))
    expect(await says(join(folder, "missing.json"), "acme")).toContain("There is no file")
    expect(await says(folder, "acme")).toContain("is a folder")
    expect(await says(put("g.json", openapi({ "/x": { get: operation("X") } })), null)).toContain("--provider")
    expect(await says(put("h.json", openapi({})), "acme")).toContain("no endpoint")
    expect(await says(put("i.txt", "hello"), "acme")).toContain("OpenAPI")
  })
})

describe("an address", () => {
  const asked: Array<string> = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (incoming): Response => {
      const { pathname } = new URL(incoming.url)
      asked.push(pathname)
      if (pathname === "/moved") return Response.redirect("/openapi.json", 302)
      if (pathname === "/gone") return new Response("no", { status: 410 })
      return new Response(
        openapi({
          "/one": {
            get: { ...operation("One"), parameters: [{ $ref: `${new URL(incoming.url).origin}/secret.json#/x` }] }
          }
        })
      )
    }
  })
  afterAll(() => server.stop(true))
  const url = (path: string) => `http://127.0.0.1:${server.port}${path}`

  test("is asked once, and what its document refers to is not", async () => {
    const { imported } = await imports((service) => service.prepare(request(url("/openapi.json?token=s3cret"), "acme")))
    expect(imported.document.endpoints.map((one) => one.path)).toEqual(["/one"])
    expect(imported.warnings.length).toBeGreaterThan(0)
    expect(asked).toEqual(["/openapi.json"])
    // The query may hold a token.
    expect(JSON.stringify(imported)).not.toContain("s3cret")
  })

  test("that sends elsewhere, or answers an error, is no import", async () => {
    expect(await message((service) => service.prepare(request(url("/moved"), "acme")))).toContain("HTTP 302")
    expect(await message((service) => service.prepare(request(url("/gone"), "acme")))).toContain("HTTP 410")
    expect(asked.filter((path) => path === "/openapi.json").length).toBe(1)
  })
})

test("replaces a document that can't be read, as one of a newer release", async () => {
  const location = put("unread.json", openapi({ "/one": { get: operation("One") } }))
  await take(location, "unread")
  await runtime.runPromise(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`UPDATE catalog_documents SET document = '\\x00' WHERE provider = 'unread'`
    )
  )
  expect(await stored("unread")).toEqual([])
  await take(location, "unread")
  expect((await stored("unread"))[0]?.document.endpoints.map(({ path }) => path)).toEqual(["/one"])
})
