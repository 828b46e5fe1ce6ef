/** Every shipped pack names its sources with licence and day, and has no vendor's sentences that no licence lets the package pass on. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { installedPackages, notices } from "../../../scripts/notices.ts"
import { shippedPacks } from "../../../scripts/ship-catalog.ts"
import { importManifest } from "../../../src/layers/catalog/import/manifest.ts"
import { unpack } from "../../../src/layers/catalog/import/pack.ts"
import { refusals } from "../../../src/layers/catalog/import/texts/prose.ts"
import { needsNotice, type Provenance } from "../../../src/schema/Provenance.ts"
import type { ProviderDocument } from "../../../src/schema/catalog/Endpoint.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"

const root = join(import.meta.dir, "../../..")
const packs: ReadonlyArray<ProviderDocument> = await Effect.runPromise(
  Effect.forEach([...shippedPacks().values()], unpack)
)

const source = (change: Partial<Provenance>): Provenance => ({
  source: "https://acme.example/openapi.json",
  licence: "unstated",
  read: "2026-11-22",
  takes: "facts",
  ...change
})
const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(" ")
const described = (text: string, field = "Short.") => ({
  ...documentOf("acme", [
    endpointOf({
      path: "/search",
      method: "POST",
      description: text,
      body: { type: "object", properties: { filter: { allOf: [{ type: "string", description: field }] } } }
    })
  ]),
  definitions: {}
})

describe("the licences of the shipped catalog", () => {
  for (const pack of packs)
    test(`${pack.provider} names source, licence and day, and has only texts that it may have`, () => {
      expect(refusals(pack)).toEqual([])
    })

  test("a pack without source, licence and day is refused", () => {
    expect(refusals(described("Finds widgets."))).toEqual([
      "acme: names no source, licence and date. Add provenance to its manifest"
    ])
    expect(refusals({ ...described("Finds widgets."), provenance: [] })).toHaveLength(1)
  })

  test("a vendor's prose is refused without a licence, in an endpoint and deep in a field", () => {
    const long = described(words(41), words(21))
    expect(refusals({ ...long, provenance: [source({})] })).toEqual([
      "acme POST /search: 41 words without a licence for texts; own descriptions have 40 at most",
      "acme POST /search filter: 21 words without a licence for texts; own descriptions have 20 at most"
    ])
    expect(refusals({ ...described(words(40), words(20)), provenance: [source({})] })).toEqual([])
    for (const licence of ["MIT", "Apache-2.0", "CC0-1.0"] as const)
      expect(refusals({ ...long, provenance: [source({ licence, takes: "texts" })] })).toEqual([])
    // A licence that is used for facts only, or for other endpoints, covers no sentence of this one.
    expect(refusals({ ...long, provenance: [source({ licence: "MIT" })] })).toHaveLength(2)
    const others = source({ licence: "MIT", takes: "texts", endpoints: ["GET *"] })
    expect(refusals({ ...long, provenance: [others] })).toHaveLength(2)
    expect(refusals({ ...long, provenance: [source({ takes: "texts" })] })).toEqual([
      "acme: takes texts of https://acme.example/openapi.json, which states no licence"
    ])
  })

  test("an import leaves out the sentences of a document without a licence, and takes the manifest's own", async () => {
    const openapi = JSON.stringify({
      openapi: "3.1.0",
      info: { title: "Acme", version: "1" },
      paths: {
        "/widgets": {
          get: {
            summary: "Widgets",
            description: "Our wonderful endpoint finds every widget that you have ever wanted.",
            parameters: [
              { name: "q", in: "query", schema: { type: "string" }, description: "Anything that you can dream of." },
              { name: "description", in: "query", schema: { type: "string" } }
            ]
          }
        }
      }
    })
    const manifest = (more: string) => ({
      name: "acme.yaml",
      text: `provider: acme\ntitle: Acme\nbase_url: https://acme.example\nopenapi: [acme.json]\n${more}`
    })
    const run = (more: string) =>
      Effect.runPromise(importManifest(manifest(more), [{ name: "acme.json", text: openapi }]))
    const of = async (more: string) => {
      const [endpoint] = (await run(more)).document.endpoints
      return [endpoint?.description, endpoint?.query_params["properties"]]
    }
    const provenance = (licence: string, takes: string) =>
      `provenance: [{ source: "https://acme.example", licence: ${licence}, read: "2026-11-22", takes: ${takes} }]\n`
    const own = 'describe: { "GET /widgets": Finds widgets. }\nfields: { q: The name. }\n'
    expect(await of(provenance("unstated", "facts") + own)).toEqual([
      "Finds widgets.",
      { q: { type: "string", description: "The name." }, description: { type: "string" } }
    ])
    expect(await of(provenance("MIT", "texts") + own)).toEqual([
      "Our wonderful endpoint finds every widget that you have ever wanted.",
      { q: { type: "string", description: "Anything that you can dream of." }, description: { type: "string" } }
    ])
    // Operators import for themselves: without a provenance the texts stay.
    expect((await of(own))[0]).toStartWith("Our wonderful endpoint")
    await expect(run(provenance("unstated", "texts"))).rejects.toThrow("takes texts without a licence")
  })

  test("DataForSEO's fields have the texts of its client, which is under MIT", () => {
    const pack = packs.find((one) => one.provider === "dataforseo")
    const path = "/v3/dataforseo_labs/google/keyword_suggestions/live"
    const body = JSON.stringify(pack?.endpoints.find((one) => one.path === path)?.body)
    expect(body).toContain("With this parameter enabled, you will be charged double".toLowerCase())
    expect(pack?.provenance?.find((one) => one.takes === "texts")).toMatchObject({ licence: "MIT" })
  })

  test("the package has the notices of MIT and Apache texts, of the catalog and of the bundled packages", () => {
    const text = readFileSync(join(root, "THIRD_PARTY_NOTICES"), "utf8")
    const used = packs.flatMap(({ provenance = [] }) =>
      provenance.filter((one) => one.takes === "texts" && needsNotice(one.licence))
    )
    expect(used.length).toBeGreaterThanOrEqual(6)
    for (const one of used) {
      const [repository] = /^https:\/\/github\.com\/[^/]+\/[^/]+/.exec(one.source) ?? []
      expect([one.source, text.includes(repository ?? one.source)]).toEqual([one.source, true])
    }
    for (const words of ["Permission is hereby granted, free of charge", "Apache License", "Version 2.0, January 2004"])
      expect(text).toContain(words)
    const { files, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    expect(files).toEqual(expect.arrayContaining(["THIRD_PARTY_NOTICES", "dist/THIRD_PARTY_NOTICES"]))
    expect(scripts.prepack).toContain("bun scripts/notices.ts")
    expect([...installedPackages().keys()].filter((name) => !notices().includes(name))).toEqual([])
    expect(notices()).toContain("Copyright")
  })
})
