import { expect, test } from "bun:test"
import { join } from "node:path"
import { Effect, type Schema } from "effect"
import { build, undescribedLines } from "../../../../scripts/ship-catalog.ts"
import { suspects } from "../../../../src/layers/catalog/import/cost/costFields.ts"
import { importManifest } from "../../../../src/layers/catalog/import/manifest.ts"

const specs = join(import.meta.dir, "..", "..", "..", "..", "..", "shared", "specs")

const built = await Effect.runPromise(build(specs))
/** Whether manifests name drivers at all. */
const described = built.some(({ document }) => document.endpoints.some((endpoint) => endpoint.price !== undefined))

test.skipIf(!described)("no endpoint ships with a field that looks like a cost driver and is not described", () => {
  expect(undescribedLines(built)).toEqual([])
})

const schemaOf = (properties: Readonly<Record<string, Schema.Json>>) => ({ type: "object", properties })

test("finds drivers by name, whatever the style of the name", () => {
  const found = suspects(
    schemaOf({
      max_crawl_pages: { type: "integer" },
      numResults: { type: "integer" },
      "per-page": { type: "string" },
      include_clickstream_data: { type: "boolean" },
      search_depth: { enum: ["basic", "advanced"] },
      urls: { type: "array", items: { type: "string" } },
      emails: { type: "string" },
      To: { type: "string" },
      jobs_to_do: { type: "array", items: { type: "object" } },
      keyword: { type: "string", description: "with operators the charge per task will be multiplied by 5" },
      // None of these.
      name: { type: "string" },
      date_to: { type: "string", format: "date" },
      max_price: { type: "number" },
      location_code: { type: "integer" },
      country: { enum: ["de", "at"] }
    }),
    {}
  )
  expect([...found]).toEqual([
    "max_crawl_pages",
    "numResults",
    "per-page",
    "include_clickstream_data",
    "search_depth",
    "urls",
    "emails",
    "To",
    "jobs_to_do",
    "keyword"
  ])
})

test("looks into references, branches, lists and maps, and ends on circles", () => {
  const definitions = {
    options: schemaOf({ formats: { type: "array", items: { type: "string" } }, again: { $ref: "#/$defs/options" } })
  }
  expect(
    suspects(
      {
        type: "array",
        items: {
          allOf: [
            schemaOf({ options: { $ref: "#/$defs/options" } }),
            schemaOf({ deep: { anyOf: [{ type: "boolean" }] } })
          ],
          additionalProperties: schemaOf({ limit: { type: "integer" } })
        }
      },
      definitions
    )
  ).toEqual([".", "*.options.formats", "*.deep", "*.*.limit"])
  // Schemas that refer to each other in all ways.
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`)
  const all = schemaOf(Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])))
  const tangle = Object.fromEntries(names.map((name) => [name, all]))
  expect(suspects(all, tangle)).toEqual(["(the schema is too large to be checked)"])
})

const manifest = (rate: string) =>
  Effect.runPromise(
    importManifest(
      {
        name: "acme.yaml",
        text: `
provider: acme
title: Acme
endpoints:
  - method: POST
    path: /crawl
    title: Crawl
    description: Crawls.
    body:
      url: string!
      limit: integer
      options: { type: object, fields: { formats: "string[]" } }
    rate: ${rate}
`
      },
      []
    )
  )

test("a paid endpoint's suspects are drivers, flat, or undescribed; a free one's do not matter", async () => {
  const fieldsOf = async (rate: string) =>
    (await manifest(rate)).undescribed.map(({ where, field }) => `${where} ${field}`)
  expect(await fieldsOf('{ usd: "0.01" }')).toEqual(["POST /crawl limit", "POST /crawl options.formats"])
  expect(await fieldsOf("{ unpublished: true }")).toHaveLength(2)
  expect(
    await fieldsOf('{ usd: "0.01", drivers: [{ field: limit, usd: "0.01", default: 10 }], flat: [options] }')
  ).toEqual([])
  expect(await fieldsOf("{ free: true }")).toEqual([])
})
