import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result } from "effect"
import { actorInput } from "../../../src/layers/catalog/import/marketplace/actorInput.ts"
import { actorCost, costInTitle } from "../../../src/layers/catalog/import/marketplace/actorPrices.ts"
import { importActors } from "../../../src/layers/catalog/import/marketplace/actors.ts"
import { ImportFailed } from "../../../src/layers/catalog/import/kit/Import.ts"
import {
  importMarketplace,
  type MarketplaceOptions
} from "../../../src/layers/catalog/import/marketplace/marketplace.ts"

const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "apify")
const example = (name: string) => JSON.parse(readFileSync(join(examples, name), "utf8"))

/** A stand-in for the marketplace on this machine: a page of the store is whatever `items` holds. */
const stores: Array<ReturnType<typeof Bun.serve>> = []
afterAll(async () => {
  for (const store of stores) await store.stop(true)
})

const store = (items: ReadonlyArray<unknown>, total: unknown = items.length) => {
  const asked: Array<string> = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url)
      asked.push(`${url.pathname}${url.search}`)
      const offset = Number(url.searchParams.get("offset"))
      const limit = Number(url.searchParams.get("limit"))
      return Response.json({ data: { total, offset, limit, items: items.slice(offset, offset + limit) } })
    }
  })
  stores.push(server)
  const fetchJson = (path: string) =>
    Effect.tryPromise({
      try: async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${server.port}${path}`)).json(),
      catch: () => new ImportFailed({ message: "no answer" })
    })
  return {
    asked,
    read: (options?: MarketplaceOptions) => Effect.runPromise(Effect.result(importMarketplace({ fetchJson }, options)))
  }
}

const actor = (index: number, more: object = {}) => ({
  username: "ann",
  name: `actor-${String(index).padStart(3, "0")}`,
  title: `Actor ${index}`,
  description: "Does things.",
  currentPricingInfo: { pricingModel: "FREE" },
  ...more
})

describe("the store", () => {
  test("gives an endpoint per actor, from the documented pages", async () => {
    const items = [...example("store.response.json").data.items, ...example("store.page.response.json").data.items]
    const { document, warnings } = Result.getOrThrow(await store(items).read())
    expect(document).toMatchObject({
      provider: "apify",
      base_url: "https://api.apify.com/v2",
      auth: { kind: "bearer" }
    })
    expect(document.endpoints.map((one) => one.path)).toEqual([
      "harvestapi/linkedin-job-search",
      "jane35/my-public-actor"
    ])
    expect(document.endpoints[0]).toMatchObject({
      method: "POST",
      title: "LinkedIn Job Search Scraper",
      description: "Search for LinkedIn jobs with filters",
      body_type: "actor_input",
      body: null,
      example: {},
      cost: { model: "per_event", estimate: null },
      reported: { succeeded: 732_805, total: 749_137 }
    })
    // The documented page lists one actor twice.
    expect(warnings).toEqual([{ where: "jane35/my-public-actor", message: "left out: it is listed twice" }])
  })

  test("is read page by page until its total", async () => {
    const server = store(Array.from({ length: 25 }, (_, index) => actor(index)))
    const { document, warnings } = Result.getOrThrow(await server.read({ pageSize: 10 }))
    expect(server.asked).toEqual([0, 10, 20].map((offset) => `/v2/store?limit=10&offset=${offset}`))
    expect(document.endpoints).toHaveLength(25)
    expect(warnings).toEqual([])
  })

  test("is bounded, and says what it left unread", async () => {
    const server = store(
      Array.from({ length: 50 }, (_, index) => actor(index)),
      1_000_000
    )
    const { document, warnings } = Result.getOrThrow(await server.read({ pageSize: 10, actorsMax: 25 }))
    expect(server.asked).toHaveLength(3)
    expect(document.endpoints).toHaveLength(25)
    expect(warnings).toEqual([
      { where: "", message: "the store lists 1000000 actors, of which the first 25 were read" }
    ])
  })

  test("ends where it has no more, whatever its total says", async () => {
    const server = store([actor(1)], 5_000)
    expect(Result.getOrThrow(await server.read({ pageSize: 10 })).document.endpoints).toHaveLength(1)
    expect(server.asked).toHaveLength(2)
  })

  test("may hold junk: one warning each, never a throw", async () => {
    const junk = [
      null,
      7,
      "text",
      [],
      {},
      { username: "ann" },
      { username: "../..", name: "x" },
      { username: "ann", name: "a/b" },
      { username: "ann", name: 5 },
      { username: "ann", name: "hidden", isPublic: false }
    ]
    const odd = actor(1, {
      title: 5,
      description: null,
      categories: "x",
      stats: [],
      currentPricingInfo: {
        pricingModel: "PAY_PER_EVENT",
        pricingPerEvent: { actorChargeEvents: [1] },
        minimalMaxTotalChargeUsd: "a"
      }
    })
    const { document, warnings } = Result.getOrThrow(await store([...junk, odd]).read())
    expect(warnings).toHaveLength(junk.length)
    expect(warnings[0]).toEqual({ where: "store item 0", message: "left out: it is no object" })
    expect(document.endpoints).toHaveLength(1)
    expect(document.endpoints[0]).toMatchObject({
      title: "actor-001",
      description: "",
      tags: ["actor"],
      cap_min: null,
      reported: null
    })
  })

  test("that answers something else fails", async () => {
    const result = await Effect.runPromise(
      Effect.result(importMarketplace({ fetchJson: () => Effect.succeed({ error: 1 }) }))
    )
    expect(Result.isFailure(result)).toBe(true)
  })

  test("tells tags, the least cap and reliability", async () => {
    const pricing = { pricingModel: "PAY_PER_EVENT", minimalMaxTotalChargeUsd: 0.5 }
    const stats = { publicActorRunStats30Days: { SUCCEEDED: 3, TOTAL: 2 } }
    const item = actor(1, { categories: ["LEAD_GENERATION", "AI", "AI"], currentPricingInfo: pricing, stats })
    const { document } = Result.getOrThrow(await store([item]).read())
    expect(document.endpoints[0]).toMatchObject({
      tags: ["actor", "lead-generation", "ai"],
      cap_min: "0.50",
      reported: null
    })
  })
})

describe("prices", () => {
  test("by the pricing model", () => {
    expect(actorCost({ pricingModel: "FREE" })).toMatchObject({ model: "unpublished", estimate: null })
    expect(actorCost({ pricingModel: "FLAT_PRICE_PER_MONTH", pricePerUnitUsd: 30 })).toMatchObject({
      model: "unpublished",
      estimate: null
    })
    expect(actorCost({ pricingModel: "PRICE_PER_DATASET_ITEM", pricePerUnitUsd: 0.005 })).toMatchObject({
      model: "per_result",
      estimate: "0.60"
    })
    expect(actorCost({ pricingModel: "PRICE_PER_DATASET_ITEM" })).toMatchObject({ model: "per_result", estimate: null })
    const one = { a: { eventTitle: "Job", eventPriceUsd: 0.001 } }
    const event = { pricingModel: "PAY_PER_EVENT", pricingPerEvent: { actorChargeEvents: one } }
    expect(actorCost(event)).toMatchObject({ model: "per_event", estimate: "0.12" })
    const two = {
      pricingModel: "PAY_PER_EVENT",
      pricingPerEvent: { actorChargeEvents: { ...one, b: { eventPriceUsd: 0.00001 } } }
    }
    expect(actorCost(two)).toMatchObject({
      model: "per_event",
      estimate: null,
      note: expect.stringContaining("Job $0.001, b $0.00001")
    })
    expect(actorCost("free")).toMatchObject({ model: "unpublished" })
    expect(actorCost({ pricingModel: "NEW" })).toMatchObject({ model: "unpublished" })
  })

  test("in a title, per thousand", () => {
    expect(costInTitle("Scraper ($0.30/1k results)")).toMatchObject({ model: "per_result", estimate: "0.036" })
    expect(costInTitle("Cheapest $0.20 per 1,000")).toMatchObject({ estimate: "0.024" })
    expect(costInTitle("Costly $12.50/1000")).toMatchObject({ estimate: "1.50" })
    expect(costInTitle("Free scraper")).toBeNull()
  })
})

describe("an actor's input", () => {
  const input = (schema: object) => actorInput({ data: { actorDefinition: { input: { type: "object", ...schema } } } })

  test("is read from the definition, or from the text of older builds", () => {
    expect(actorInput(example("build_default.response.json")).body).toMatchObject({
      type: "object",
      properties: { prompt: { type: "string" }, maxTokens: { type: "integer" } },
      required: ["prompt"]
    })
    const old = actorInput(example("build_default.linkedin_job_search.response.json"))
    expect(Object.keys(Object(old.body?.["properties"]))).toContain("jobTitles")
    expect(old.example).toMatchObject({ jobTitles: ["software engineer"], maxItems: 10 })
    expect(JSON.stringify(old.body)).not.toContain('"editor"')
  })

  test("requires what the author's descriptions require, as far as the build still has it", () => {
    const read = (properties: object, actor: string) =>
      actorInput({ data: { actorDefinition: { input: { properties } } } }, actor).body
    const [url, urls] = [{ type: "string" }, { type: "array" }]
    const actor = "thescrappa/linkedin-profile-scraper"
    expect(read({ url, urls }, actor)).toMatchObject({ anyOf: [{ required: ["urls"] }, { required: ["url"] }] })
    expect(read({ urls }, actor)).toMatchObject({ required: ["urls"] })
    expect(read({ other: url }, actor)).toEqual({ type: "object", properties: { other: url } })
    expect(read({ url, urls }, "some/actor")).toEqual({ type: "object", properties: { url, urls } })
  })

  test("loses the form's own keywords, keeps unknown fields allowed, and is filled as the form is", () => {
    const {
      body,
      example: filled,
      warnings
    } = input({
      schemaVersion: 1,
      properties: {
        q: { title: "Q", type: "string", editor: "textfield", prefill: "tesla", sectionCaption: "S", isSecret: true },
        kind: { type: "string", enum: ["a", "b"], enumTitles: ["A", "B"], default: "b" },
        sizes: { type: "array", editor: "json", items: { type: "integer", unit: "MB" }, prefill: [1] },
        maybe: { type: "string", nullable: true, enum: ["x"] }
      },
      required: ["q", "kind"]
    })
    expect(warnings).toEqual([])
    expect(body).toEqual({
      type: "object",
      properties: {
        q: { title: "Q", type: "string" },
        kind: { type: "string", enum: ["a", "b"], default: "b" },
        sizes: { type: "array", items: { type: "integer" } },
        maybe: { type: ["string", "null"], enum: ["x", null] }
      },
      required: ["q", "kind"]
    })
    expect(filled).toEqual({ q: "tesla", kind: "b", sizes: [1] })
  })

  test("keeps a pattern only if it runs in linear time", () => {
    const { body, warnings } = input({
      properties: { a: { type: "string", pattern: "^[a-z]+$" }, b: { type: "string", pattern: "^(?!x)a+$" } }
    })
    expect(body?.["properties"]).toEqual({ a: { type: "string", pattern: "^[a-z]+$" }, b: { type: "string" } })
    expect(warnings).toEqual([{ where: "b", message: "its pattern is left out: it can't be run in linear time" }])
  })

  test("has no example that its schema would refuse", () => {
    expect(
      input({ properties: { a: { type: "integer", prefill: "many" }, b: { type: "string", prefill: "x" } } }).example
    ).toEqual({ b: "x" })
    expect(input({ properties: { a: { type: "string", minLength: 50 } }, required: ["a"] }).example).toBeNull()
  })

  test("survives whatever a build says", () => {
    const deep: Record<string, unknown> = { type: "object", properties: {} }
    let inner = deep
    for (let level = 0; level < 20_000; level++) {
      const next: Record<string, unknown> = { type: "object", properties: {} }
      inner["properties"] = { a: next }
      inner = next
    }
    let nested: unknown = 1
    for (let level = 0; level < 20_000; level++) nested = [nested]
    const odd = [
      undefined,
      null,
      5,
      {},
      { data: null },
      { data: { inputSchema: "{not json" } },
      { data: { inputSchema: 5, actorDefinition: { input: [] } } },
      { data: { actorDefinition: { input: { properties: 5 } } } }
    ]
    for (const build of odd) expect(actorInput(build)).toMatchObject({ body: null, example: null, warnings: [{}] })
    const strange = {
      a: 5,
      b: { type: 5, enum: [], minLength: -1, maximum: "x", required: [1, "b", "b"], items: 7 },
      c: { type: ["string", "nope"], enum: [1, 1], default: nested, prefill: nested },
      d: { type: ["string", "string"], nullable: true },
      ["__proto__"]: { type: "string" }
    }
    for (const properties of [strange, { deep }]) {
      const { body } = input({ properties })
      expect(() => new Ajv2020({ strict: false }).compile(Object(body))).not.toThrow()
    }
  })
})

describe("the listed actors", () => {
  const listing = (rows: ReadonlyArray<object>) => ({ name: "actors.json", text: JSON.stringify(rows) })
  const row = { actor: "thescrappa/x", file: "x.json", title: "X ($0.30/1k results)", description: "Finds X." }

  test("are endpoints with a body and the published price", () => {
    const schema = {
      name: "x.json",
      text: '{"type":"object","properties":{"q":{"type":"string","prefill":"a"}},"required":["q"]}'
    }
    const { document, warnings } = Effect.runSync(
      importActors(listing([row, { ...row, actor: "a/gone", file: "gone.json" }]), [schema])
    )
    expect(document.endpoints).toHaveLength(1)
    expect(document.endpoints[0]).toMatchObject({
      path: "thescrappa/x",
      body: { properties: { q: { type: "string" } } },
      example: { input: { q: "a" } },
      cost: { model: "per_result", estimate: "0.036" }
    })
    expect(warnings).toEqual([{ where: "a/gone", message: "left out: there is no source called gone.json" }])
  })

  test("fail when the listing or a schema is no JSON", () => {
    expect(Effect.runSync(Effect.flip(importActors({ name: "l", text: "[" }, []))).message).toMatch(/^l: /)
    expect(Effect.runSync(Effect.flip(importActors(listing([row]), [{ name: "x.json", text: "{" }]))).message).toBe(
      "x.json is not JSON"
    )
  })
})
