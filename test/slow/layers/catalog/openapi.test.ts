import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { foreignAjv } from "../../../../src/layers/catalog/input/EndpointInput.ts"
import type { ImportOptions } from "../../../../src/layers/catalog/import/kit/Import.ts"
import { importOpenApi } from "../../../../src/layers/catalog/import/openapi/index.ts"
import { reachable } from "../../../../src/schema/catalog/Definitions.ts"
import { endpointKey, ProviderDocument } from "../../../../src/schema/catalog/Endpoint.ts"
import { sampled } from "../../../kit/input-samples.ts"

const specs = join(import.meta.dir, "..", "..", "..", "..", "..", "shared", "specs")
const read = (name: string) => ({ name, text: readFileSync(join(specs, name), "utf8") })

export const options: ImportOptions = {
  provider: "acme",
  title: "Acme",
  homepage: null,
  base_url: null,
  auth: null,
  body_type: "json",
  include: [],
  exclude: [],
  tags: []
}

const load = (texts: ReadonlyArray<{ name: string; text: string }>, changes: Partial<ImportOptions> = {}) =>
  Effect.runPromise(importOpenApi(texts, { ...options, ...changes }))

/** Operations, and warnings at most. */
const documents: ReadonlyArray<readonly [name: string, operations: number, warnings: number]> = [
  ["dataforseo.yaml", 548, 6],
  ["apollo.json", 80, 0],
  ["peopledatalabs.json", 21, 0],
  ["leadmagic.json", 19, 0],
  ["firecrawl.json", 51, 1],
  ["exa.yaml", 7, 0],
  ["resend.yaml", 104, 0],
  ["twilio_lookups_v2.json", 10, 0],
  ["tavily.json", 9, 0],
  ["serper.yaml", 10, 0],
  ["sec_edgar.yaml", 5, 1],
  ["agentmail.json", 62, 0],
  ["apify.json", 229, 2],
  ["fal_platform.json", 82, 0],
  ["importer/discord_3_1.json", 242, 3],
  ["importer/slack_web_swagger2.json", 174, 0],
  ["importer/twilio_api_v2010.json", 197, 30],
  ["hunter", 15, 0]
]

/** All are read and counted. Those of the sample are also read twice, stored, and have every schema and example checked. */
const thorough = new Set(sampled(documents, 9).map(([name]) => name))

describe("the providers' own documents", () => {
  const figures: Array<object> = []
  for (const [name, operations, warningsMax] of documents) {
    test(name, async () => {
      const texts =
        name === "hunter" ? readdirSync(join(specs, name)).map((file) => read(join(name, file))) : [read(name)]
      const body_type = name.startsWith("dataforseo") ? "task" : "json"
      const began = performance.now()
      const { document, warnings, undescribed } = await load(texts, { body_type })
      const millis = Math.round(performance.now() - began)
      expect(document.endpoints.length).toBe(operations)
      expect(warnings.length).toBeLessThanOrEqual(warningsMax)
      if (!thorough.has(name)) return
      const keys = document.endpoints.map(endpointKey)
      expect(new Set(keys).size).toBe(operations)
      const order = document.endpoints.map(({ path, method }) => [path, method].join("\n"))
      expect(order).toEqual([...order].sort((a, b) => (a < b ? -1 : 1)))
      // What is stored is what is read.
      expect(Schema.decodeUnknownSync(ProviderDocument)(JSON.parse(JSON.stringify(document)))).toEqual(document)
      expect(Bun.deepEquals(await load(texts, { body_type }), { document, warnings, undescribed }, true)).toBe(true)

      const bodies = document.endpoints.flatMap((one) => [one.path_params, one.query_params, one.body])
      expect(Object.keys(reachable(document.definitions, bodies))).toEqual(Object.keys(document.definitions))
      // All in one, so that each definition is compiled once.
      const ajv = foreignAjv({ allErrors: false, validateSchema: true })
      const root = { $id: "all", $schema: "https://json-schema.org/draft/2020-12/schema", $defs: document.definitions }
      ajv.addSchema({ ...root, bodies: bodies.map((schema) => schema ?? {}) })
      for (const schema of bodies)
        if (ajv.validateSchema(schema ?? {}) !== true) throw new Error(ajv.errorsText(ajv.errors))
      for (const definition of Object.keys(document.definitions)) {
        if (ajv.getSchema(`all#/$defs/${definition}`) === undefined) throw new Error(definition)
      }
      let examples = 0
      let withInput = 0
      for (const [index, endpoint] of document.endpoints.entries()) {
        const { path, query, input } = endpoint.example
        for (const [part, value] of [path ?? {}, query, input].entries()) {
          const validate = ajv.getSchema(`all#/bodies/${index * 3 + part}`)
          if (validate === undefined) throw new Error(`${endpointKey(endpoint)} has no schema`)
          if (value !== undefined && !validate(value)) {
            throw new Error(`${endpointKey(endpoint)}: ${ajv.errorsText(validate.errors)}`)
          }
        }
        if (endpoint.method === "GET") expect(endpoint.body).toBeNull()
        expect(Object.keys(endpoint.path_params["properties"] ?? {}).length).toBe(
          new Set(endpoint.path.match(/\{[^{}/]+\}/g)).size
        )
        if (endpoint.body !== null) withInput++
        if (endpoint.body !== null && input !== undefined) examples++
      }
      expect(withInput - examples).toBeLessThanOrEqual(1)
      figures.push({ name, operations, millis, warnings: warnings.length, bodies: withInput, examples })
    })
  }

  afterAll(() => console.log(JSON.stringify({ openapi: figures })))

  test("DataForSEO takes tasks and shows their documented examples", async () => {
    const { document } = await load([read("dataforseo.yaml")], {
      body_type: "task",
      include: ["* /v3/backlinks/summary/*"]
    })
    const [endpoint, ...others] = document.endpoints
    expect(others).toEqual([])
    expect(endpoint).toMatchObject({
      method: "POST",
      path: "/v3/backlinks/summary/live",
      body_type: "task",
      encoding: "json"
    })
    // The document writes the operator as a plain scalar, and the list as a list of objects.
    expect(endpoint?.example.input).toMatchObject({ backlinks_filters: ["dofollow", "=", true] })
    expect(document.auth).toEqual({ kind: "basic" })
  })

  test("names stay verbatim, keys stay out", async () => {
    const apollo = await load([read("apollo.json")])
    const search = apollo.document.endpoints.find((one) => one.path === "/mixed_people/api_search")
    const names = Object.keys(search?.query_params["properties"] ?? {})
    expect(names).toContain("person_titles[]")
    expect(names).toContain("revenue_range[min]")
    const slack = await load([read("importer/slack_web_swagger2.json")])
    for (const endpoint of slack.document.endpoints) {
      expect(Object.keys(endpoint.query_params["properties"] ?? {})).not.toContain("token")
    }
    const approve = slack.document.endpoints.find((one) => one.path === "/admin.apps.approve")
    expect(approve?.encoding).toBe("form")
    expect(Object.keys(Object(approve?.body?.["properties"]))).toEqual(["app_id", "request_id", "team_id"])
    expect(slack.document.base_url).toBe("https://slack.com/api")
  })

  test("credentials are sent as the documents say", async () => {
    const auths = async (name: string) => (await load([read(name)])).document.auth
    expect(await auths("fal_platform.json")).toEqual({ kind: "header", name: "Authorization", prefix: "Key " })
    expect(await auths("hunter/leads.yaml")).toEqual({ kind: "header", name: "X-API-KEY" })
    expect(await auths("sec_edgar.yaml")).toEqual({ kind: "none" })
  })
})

const small = (parts: object) => ({
  name: "acme.json",
  text: JSON.stringify({ openapi: "3.0.3", info: {}, servers: [{ url: "https://api.acme.test/v1/" }], ...parts })
})

describe("reading", () => {
  test("merges parameters, fills placeholders, opens the body, keeps cycles as references", async () => {
    const { document, warnings } = await load([
      small({
        paths: {
          "/people/{id}/notes/{note}": {
            parameters: [
              { name: "id", in: "path", required: true, schema: { type: "string" } },
              { name: "limit", in: "query", schema: { type: "integer" } },
              { name: "ghost", in: "path", schema: { type: "string" } }
            ],
            post: {
              summary: "Write a [note](https://acme.test)",
              description: "First <b>bold</b> sentence. See [the docs](https://acme.test/x_(y)).",
              parameters: [
                { $ref: "#/components/parameters/Limit" },
                { name: "X-Tenant", in: "header", required: true, schema: { type: "string" } },
                { name: "api_key", in: "query", required: true, schema: { type: "string" } }
              ],
              requestBody: {
                content: { "text/csv": {}, "application/json": { schema: { $ref: "#/components/schemas/Note" } } }
              }
            }
          }
        },
        components: {
          parameters: {
            Limit: {
              name: "limit",
              in: "query",
              required: true,
              schema: { type: "integer", maximum: 5, exclusiveMaximum: true }
            }
          },
          schemas: {
            Note: {
              properties: {
                text: { type: "string", nullable: true, pattern: "^a", "x-internal": 1, xml: {} },
                parent: { allOf: [{ $ref: "#/components/schemas/Note" }], nullable: true },
                kind: { type: "string", enum: ["a", "b"], nullable: true }
              },
              required: ["text"]
            },
            Unused: { type: "object" }
          }
        }
      })
    ])
    const [endpoint] = document.endpoints
    expect(document.base_url).toBe("https://api.acme.test/v1")
    expect(endpoint).toMatchObject({ title: "Write a note", description: "First bold sentence. See the docs." })
    expect(endpoint?.path_params).toEqual({
      type: "object",
      properties: { id: { type: "string" }, note: { type: "string" } },
      required: ["id", "note"],
      additionalProperties: false
    })
    expect(endpoint?.query_params).toEqual({
      type: "object",
      properties: { limit: { type: "integer", exclusiveMaximum: 5 } },
      required: ["limit"],
      additionalProperties: false
    })
    expect(endpoint?.body).toEqual({
      type: "object",
      properties: {
        text: { type: ["string", "null"], pattern: "^a" },
        parent: { anyOf: [{ $ref: "#/$defs/Note" }, { type: "null" }] },
        kind: { type: ["string", "null"], enum: ["a", "b", null] }
      },
      required: ["text"]
    })
    expect(Object.keys(document.definitions)).toEqual(["Note"])
    expect(warnings.map(({ message }) => message)).toEqual([
      "the required header X-Tenant can't be given and is left out",
      "the path parameter ghost has no placeholder and is left out"
    ])
  })

  test("paths and operations with a server of their own are marked, also when it is relative", async () => {
    const at = (url: string) => ({ servers: [{ url }], get: {} })
    const { document, warnings } = await load([
      small({
        paths: {
          "/same": at("/v1"),
          "/here": { get: {} },
          "/newer": at("/v2/"),
          "/other": { get: { servers: [{ url: "//files.acme.test/v1" }] } },
          "/open": at("/{region}")
        }
      })
    ])
    expect(document.endpoints.map(({ path, origin }) => [path, origin])).toEqual([
      ["/here", undefined],
      ["/newer", "https://api.acme.test"],
      ["/open", undefined],
      ["/other", "https://files.acme.test"],
      ["/same", undefined]
    ])
    expect(warnings.map(({ where }) => where)).toEqual(["GET /newer", "GET /other"])
  })

  test("Swagger 2: bodies, forms and files", async () => {
    const text = JSON.stringify({
      swagger: "2.0",
      host: "acme.test",
      basePath: "/v2/",
      securityDefinitions: { key: { type: "apiKey", in: "query", name: "k" } },
      security: [{ key: [] }],
      paths: {
        "/a": {
          post: {
            parameters: [
              { name: "k", in: "query", required: true, type: "string" },
              { name: "ids", in: "query", type: "array", items: { type: "integer" }, collectionFormat: "csv" },
              { name: "thing", in: "body", schema: { $ref: "#/definitions/Thing" } }
            ]
          }
        },
        "/b": { post: { parameters: [{ name: "file", in: "formData", type: "file", required: true }] } }
      },
      definitions: {
        Thing: { type: "object", properties: { many: { type: "array", items: { $ref: "#/definitions/Thing" } } } }
      }
    })
    const { document, warnings } = await load([{ name: "acme.json", text }])
    const [body, form] = document.endpoints
    expect(warnings).toEqual([])
    expect(document).toMatchObject({ base_url: "https://acme.test/v2", auth: { kind: "query", name: "k" } })
    expect(body?.query_params["properties"]).toEqual({ ids: { type: "array", items: { type: "integer" } } })
    expect(body?.body?.["properties"]).toEqual({ many: { type: "array", items: { $ref: "#/$defs/Thing" } } })
    expect(form).toMatchObject({ encoding: "multipart", body: { required: ["file"], additionalProperties: false } })
  })

  test("references between the given documents", async () => {
    const { document, warnings } = await load([
      small({
        paths: {
          "/a": {
            post: { requestBody: { content: { "application/json": { schema: { $ref: "./schemas.yaml#/Thing" } } } } }
          }
        }
      }),
      { name: "schemas.yaml", text: "Thing:\n  type: object\n  properties:\n    next: {$ref: '#/Thing'}\n" }
    ])
    expect(warnings).toEqual([])
    expect(document.endpoints[0]?.body).toEqual({ type: "object", properties: { next: { $ref: "#/$defs/Thing" } } })
    expect(document.source).toEqual(["acme.json", "schemas.yaml"])
  })

  test("examples: quoted JSON is read, secrets are not shown, the rest is made up", async () => {
    const { document } = await load([
      small({
        paths: {
          "/a": {
            post: {
              requestBody: {
                content: {
                  "application/json": {
                    schema: {
                      type: "object",
                      properties: {
                        name: { type: "string" },
                        password: { type: "string" },
                        at: { type: "string", format: "date-time" }
                      },
                      required: ["name", "at"]
                    },
                    example: '{"name": "Ada", "password": "hunter2"}'
                  }
                }
              }
            }
          }
        }
      })
    ])
    expect(document.endpoints[0]?.example.input).toEqual({
      name: "Ada",
      password: "your-secret",
      at: "2025-01-31T12:00:00Z"
    })
  })

  test("include, exclude and tags", async () => {
    const get = { get: { tags: ["own"] } }
    const { document } = await load([small({ paths: { "/a/x": get, "/a/y": get, "/b": get } })], {
      include: ["GET /a/*"],
      exclude: ["*y"],
      tags: ["added"]
    })
    expect(document.endpoints.map((one) => [one.path, one.tags])).toEqual([["/a/x", ["own", "added"]]])
    expect(document.endpoints[0]).toMatchObject({ title: "GET /a/x", body: null, cost: { model: "unpublished" } })
  })
})
