import { describe, expect, test } from "bun:test"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { compileEndpoint } from "../../../../src/layers/catalog/input/EndpointInput.ts"
import { ImportFailed, type ImportOptions, operationsMax } from "../../../../src/layers/catalog/import/kit/Import.ts"
import { importOpenApi } from "../../../../src/layers/catalog/import/openapi/index.ts"
import { howMany } from "../../../kit/input-samples.ts"

const options: ImportOptions = {
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

const load = (text: string, name = "acme.json") => Effect.runPromise(importOpenApi([{ name, text }], options))
const attempt = (text: string, name = "acme.json") =>
  Effect.runPromise(Effect.result(importOpenApi([{ name, text }], options)))
const refusal = async (text: string, name?: string) => {
  const result = await attempt(text, name)
  if (Result.isSuccess(result)) throw new Error("it was imported")
  expect(result.failure).toBeInstanceOf(ImportFailed)
  return result.failure.message
}

const post = (schema: unknown, more: object = {}) =>
  JSON.stringify({
    openapi: "3.1.0",
    paths: { "/a": { post: { requestBody: { content: { "application/json": { schema } } } } } },
    ...more
  })
/** Set as text, because an object literal would set the prototype. */
const raw = (schema: string) => post("HERE").replace('"HERE"', schema)

const messages = (warnings: ReadonlyArray<{ message: string }>) => warnings.map(({ message }) => message).join("\n")

describe("a text that is no OpenAPI document is refused, and says what to give", () => {
  const cases: ReadonlyArray<readonly [string, string, RegExp]> = [
    ["nothing", "", /acme\.json: this is not an OpenAPI document: it is not an object\. Give an OpenAPI/],
    ["broken JSON", '{"openapi": "3.0.0", ', /acme\.json: the text is not valid JSON/],
    ["broken YAML", "paths: [1,", /acme\.json: the text is not valid YAML/],
    ["a list", "[]", /not an object/],
    ["HTML", "<html><body>404</body></html>", /acme\.json/],
    ["another document", '{"hello": 1}', /it has no `paths`/],
    ["an old Swagger", '{"swagger": "1.2", "paths": {}}', /version 1\.2 .* not supported/],
    ["nesting in JSON", post(null).replace("null", "[".repeat(10_000) + "]".repeat(10_000)), /nested deeper than/],
    ["nesting in YAML", `paths: ${"[".repeat(10_000)}${"]".repeat(10_000)}`, /nested too deeply/],
    ["nesting in a YAML block", `${"- ".repeat(10_000)}1`, /nested too deeply|not an object/],
    ["an alias that holds itself", "openapi: 3.0.0\npaths: &a\n  /x: *a\n", /nested deeper than/]
  ]
  for (const [name, text, message] of cases) test(name, async () => expect(await refusal(text)).toMatch(message))

  const bomb = (levels: number, width: number) => {
    let text = `openapi: 3.0.0\npaths: {}\na0: &a0 [${"x,".repeat(width)}x]\n`
    for (let level = 1; level < levels; level++) {
      text += `a${level}: &a${level} [${Array.from({ length: width }, () => `*a${level - 1}`).join(",")}]\n`
    }
    return text
  }
  test("alias bombs, those that the parser refuses and those that it doesn't", async () => {
    expect(await refusal(bomb(12, 10))).toMatch(/aliasing|aliases/)
    expect(await refusal(bomb(5, 30))).toMatch(/aliasing|aliases/)
  })

  test("a text that is too large is not even parsed", async () => {
    expect(await refusal(`{"openapi": "3.0.0", "x": "${"a".repeat(64 * 1024 * 1024)}`)).toMatch(/larger than/)
  })
})

describe("references", () => {
  const outside = [
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "../../../etc/passwd",
    "other.yaml#/X"
  ]
  for (const $ref of outside) {
    test(`${$ref} is not followed`, async () => {
      const { document, warnings } = await load(post({ type: "object", properties: { a: { $ref } } }))
      expect(document.endpoints[0]?.body).toEqual({ type: "object", properties: { a: {} } })
      expect(messages(warnings)).toContain("leads out of the given documents and is not followed")
    })
  }

  test("nothing is fetched, wherever an address stands", async () => {
    let calls = 0
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(++calls)) })
    const $ref = `http://127.0.0.1:${server.port}/x.json#/a`
    const text = JSON.stringify({
      openapi: "3.0.0",
      servers: [{ url: $ref }],
      paths: {
        "/p": { $ref },
        "/a": {
          post: {
            parameters: [{ $ref }, { name: "q", in: "query", schema: { $ref } }],
            requestBody: { $ref }
          },
          put: { requestBody: { content: { "application/json": { schema: { $ref }, examples: { one: { $ref } } } } } }
        }
      },
      components: { securitySchemes: { a: { $ref } } }
    })
    const { document, warnings } = await load(text)
    await server.stop(true)
    expect(calls).toBe(0)
    expect(document.endpoints.map(({ method }) => method)).toEqual(["POST", "PUT"])
    expect(warnings.length).toBeGreaterThanOrEqual(4)
  })

  test("dangling, circular and self-referential ones are left open", async () => {
    const text = JSON.stringify({
      openapi: "3.0.0",
      paths: {
        "/a/{x}": {
          post: {
            parameters: [{ $ref: "#/components/parameters/Self" }, { $ref: "#/components/parameters/None" }],
            requestBody: {
              content: {
                "application/json": {
                  schema: {
                    properties: {
                      none: { $ref: "#/components/schemas/None" },
                      anchor: { $ref: "#anchor" },
                      a: { $ref: "#/components/schemas/A" },
                      mad: { $ref: "#/components/schemas/Mad" },
                      tree: { $ref: "#/components/schemas/Tree" },
                      proto: { $ref: "#/__proto__/toString" }
                    }
                  }
                }
              }
            }
          }
        }
      },
      components: {
        parameters: { Self: { $ref: "#/components/parameters/Self" } },
        schemas: {
          A: { $ref: "#/components/schemas/B" },
          B: { $ref: "#/components/schemas/A" },
          Mad: { anyOf: [{ type: "string" }, { allOf: [{ $ref: "#/components/schemas/Mad" }] }] },
          Tree: { properties: { children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } } }
        }
      }
    })
    const { document, warnings } = await load(text)
    const [endpoint] = document.endpoints
    if (endpoint === undefined) throw new Error("no endpoint")
    const { input } = compileEndpoint(endpoint, document.definitions)
    expect(input({ a: 1, mad: 2, none: 3, tree: { children: [{ children: [] }] } })).toEqual([])
    expect(input({ tree: { children: [{ children: 1 }] } })).toEqual([
      { path: "tree.children.0.children", message: "must be array" }
    ])
    expect(messages(warnings)).toContain("leads in a circle")
    expect(messages(warnings)).toContain("leads nowhere")
    expect(messages(warnings)).toContain("names an anchor")
    expect(messages(warnings)).toContain("in a circle that never ends")
  })
})

test("references that each lead through two others end soon", async () => {
  const levels = 24
  let schemas = {}
  let inner: object = { x: {}, u: {} }
  for (let level = 1; level <= levels; level++) inner = { x: { $ref: `#/A${level}/x/x/u` }, u: { x: inner } }
  for (let level = 0; level < levels; level++) schemas = { ...schemas, [`A${level}`]: { $ref: `#/A${level + 1}/x/x` } }
  const began = performance.now()
  const text = post({ $ref: "#/A0/x/x" }, { ...schemas, [`A${levels}`]: { x: { x: inner } } })
  expect(messages((await load(text)).warnings)).toContain("leads through more than 32 others")
  // Followed one by one, they would be 2^24.
  expect(performance.now() - began).toBeLessThan(20_000)
})

describe("schemas", () => {
  const bodyOf = async (schema: unknown) => {
    const { document, warnings } = await load(post(schema))
    return { body: document.endpoints[0]?.body, endpoint: document.endpoints[0], document, warnings }
  }

  test("a catastrophic pattern is matched in linear time", async () => {
    const { endpoint, document, warnings } = await bodyOf({
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" } }
    })
    expect(warnings).toEqual([])
    if (endpoint === undefined) throw new Error("no endpoint")
    const { input } = compileEndpoint(endpoint, document.definitions)
    const began = performance.now()
    expect(input({ a: `${"a".repeat(200_000)}!` })).toEqual([{ path: "a", message: 'must match pattern "^(a+)+$"' }])
    // A backtracking engine would not end at all.
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(input({ a: "aaa" })).toEqual([])
  })

  test("alternatives of alternatives are bounded", async () => {
    const levels = 24
    const named = (level: number) => ({ $ref: `#/components/schemas/S${level}` })
    const schemas = Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        `S${level}`,
        { anyOf: [named(level + 1), { allOf: [named(level + 1), { minimum: 0 }] }] }
      ])
    )
    const components = { schemas: { ...schemas, [`S${levels}`]: { type: "string" } } }
    const began = performance.now()
    const { document, warnings } = await load(post({ properties: { a: named(0) } }, { components }))
    expect(messages(warnings)).toContain("compares a value with more than 10000 schemas and is left open")
    const [endpoint] = document.endpoints
    if (endpoint === undefined) throw new Error("no endpoint")
    expect(compileEndpoint(endpoint, document.definitions).input({ a: 1 })).toEqual([])
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  test("patterns that RE2 can't run are dropped", async () => {
    const patterns = ["(?=a)b", "(a)\\1", "(", `${"a".repeat(1_001)}`, "(\\p{L}{1,1000}){9}"]
    const { body, warnings } = await bodyOf({
      type: "object",
      properties: Object.fromEntries(patterns.map((pattern, index) => [`p${index}`, { type: "string", pattern }])),
      patternProperties: { "(?!x)": { type: "string" }, "^x": { type: "string" } }
    })
    expect(JSON.stringify(body)).not.toContain('"pattern":')
    expect(body?.["patternProperties"]).toEqual({ "^x": { type: "string" } })
    expect(warnings.length).toBe(6)
  })

  test("names that are special in JavaScript are names", async () => {
    const text = raw(
      '{"type": "object", "properties": {"__proto__": {"type": "string"}, "constructor": {"type": "integer"}, "toString": {"$ref": "#/components/schemas/constructor"}}, "required": ["constructor", "__proto__"]}'
    ).replace(/}$/, ',"components": {"schemas": {"constructor": {"type": "boolean"}}}}')
    const { document, warnings } = await load(text)
    const [endpoint] = document.endpoints
    if (endpoint === undefined) throw new Error("no endpoint")
    expect(Object.keys(Object(endpoint.body?.["properties"]))).toEqual(["constructor", "toString"])
    expect(endpoint.body?.["required"]).toEqual(["constructor"])
    expect(messages(warnings)).toContain("__proto__")
    const { input } = compileEndpoint(endpoint, document.definitions)
    expect(input({})).toEqual([{ path: "constructor", message: "is required" }])
    expect(input({ constructor: 1, toString: "x" })).toEqual([{ path: "toString", message: "must be boolean" }])
    expect(Object.prototype).not.toHaveProperty("type")
  })

  test("what is nested or large beyond bounds stays open", async () => {
    let deep: object = { type: "string" }
    for (let level = 0; level < 100; level++) deep = { type: "object", properties: { a: deep } }
    expect(messages((await bodyOf(deep)).warnings)).toContain("nested deeper than 64 levels")
    const wide = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`f${index}`, { type: "string" }]))
    const { endpoint, document, warnings } = await bodyOf({ type: "object", properties: wide })
    expect(messages(warnings)).toContain("subschemas beyond 5000 in one schema are left open")
    if (endpoint === undefined) throw new Error("no endpoint")
    expect(compileEndpoint(endpoint, document.definitions).input({ f1: 1 })).toHaveLength(1)
  })

  test("an example stays small, whatever the schema asks for", async () => {
    const levels = Array.from({ length: 14 }, (_, level) => {
      const names = Array.from({ length: 10 }, (_, index) => `p${index}`)
      const next = level === 13 ? { type: "string" } : { $ref: `#/components/schemas/L${level + 1}` }
      const properties = Object.fromEntries(names.map((name) => [name, next]))
      return [`L${level}`, { type: "object", required: names, properties }] as const
    })
    const schema = {
      type: "object",
      required: ["tree", "items", "text"],
      properties: {
        tree: { $ref: "#/components/schemas/L0" },
        items: { type: "array", minItems: 1_000_000_000, items: { type: "string" } },
        text: { type: "string", minLength: 1_000_000_000 }
      }
    }
    // Without limits this would be 10^14 texts.
    const { document, warnings } = await load(post(schema, { components: { schemas: Object.fromEntries(levels) } }))
    expect(document.endpoints.map(({ example }) => example)).toEqual([{}])
    expect(messages(warnings)).toBe("input: no example fits its schema, so none is shown")
  })

  test("nonsense is dropped with a warning, and what is left compiles", async () => {
    const { body, warnings } = await bodyOf({
      type: ["object", "any"],
      minProperties: -1,
      required: [1, "a", "a"],
      properties: { a: { type: "text", enum: [], minLength: "3", frobnicate: 1, id: "x" }, b: 7, c: false },
      allOf: [],
      items: [{ type: "string" }],
      $id: "http://evil.test/"
    })
    expect(body).toEqual({
      type: "object",
      required: ["a"],
      properties: { a: {}, b: {}, c: false },
      prefixItems: [{ type: "string" }]
    })
    expect(warnings.length).toBe(9)
  })
})

describe("operations", () => {
  test("a hundred thousand end soon, and others get their turn", async () => {
    const paths: Record<string, unknown> = {}
    for (let index = 0; index < 100_000; index++) {
      paths[`/things/${index}/{id}`] = {
        get: { parameters: [{ name: "limit", in: "query", schema: { type: "integer", maximum: index } }] }
      }
    }
    const text = JSON.stringify({ openapi: "3.0.0", paths })
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const began = performance.now()
    const { document, warnings } = await load(text)
    const millis = performance.now() - began
    clearInterval(timer)
    console.log(JSON.stringify({ openapi_100k: { millis: Math.round(millis), turns, bytes: text.length } }))
    expect(document.endpoints.length).toBe(operationsMax)
    expect(messages(warnings)).toContain(`80000 operations beyond the first ${operationsMax} are left out`)
    expect(turns).toBeGreaterThan(50)
    // It ends after 2 to 5 s on an idle machine. A time that grows with the square of the operations would be hours.
  })

  test("described twice, at wrong paths, by wrong methods", async () => {
    const one = {
      openapi: "3.0.0",
      paths: { "/a": { get: { summary: "First" }, head: {} }, "/b?c": { get: {} }, d: { get: {} } }
    }
    const two = { openapi: "3.0.0", paths: { "/a": { get: { summary: "Second" }, post: 1 } } }
    const texts = [one, two].map((document, index) => ({ name: `${index}.json`, text: JSON.stringify(document) }))
    const { document, warnings } = await Effect.runPromise(importOpenApi(texts, options))
    expect(document.endpoints.map(({ method, path, title }) => `${method} ${path} ${title}`)).toEqual(["GET /a First"])
    expect(warnings).toEqual([
      { where: "/a", message: "HEAD can't be called and is left out" },
      { where: "/b?c", message: "the path holds what can't be in a path and is left out" },
      { where: "d", message: "the path doesn't start with / and is left out" },
      { where: "GET /a", message: "is described twice; the one in 1.json is left out" },
      { where: "POST /a", message: "is no operation and is left out" }
    ])
  })

  test("one that is broken in Swagger 2 costs the others nothing", async () => {
    const text = JSON.stringify({
      swagger: "2.0",
      parameters: { Body: { name: "body", in: "body", schema: { properties: { a: { type: "string" } } } } },
      paths: {
        "/a": { get: null },
        "/b": { get: { parameters: [null, { name: "x" }] }, post: { parameters: { a: 1 } } },
        "/c": { post: { parameters: [{ $ref: "#/parameters/Body" }] } }
      }
    })
    const { document, warnings } = await load(text)
    expect(document.endpoints.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /b", "POST /b", "POST /c"])
    expect(document.endpoints[2]?.body).toEqual({ type: "object", properties: { a: { type: "string" } } })
    expect(warnings).toEqual([
      { where: "GET /a", message: "is no operation and is left out" },
      { where: "GET /b", message: "a parameter without a name or a place is left out" }
    ])
  })

  test("warnings end", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`f${index}`, { type: `t${index}` }])
    )
    const { warnings } = await load(post({ properties }))
    expect(warnings.length).toBe(1_001)
    expect(warnings[1_000]?.message).toBe("2000 more warnings are not shown")
  })
})

describe("anything else", () => {
  const seed = JSON.parse(
    JSON.stringify({
      openapi: "3.0.0",
      servers: [{ url: "https://{a}.test", variables: { a: { default: "b" } } }],
      security: [{ k: [] }],
      paths: {
        "/a/{id}": {
          parameters: [{ $ref: "#/components/parameters/P" }],
          post: {
            summary: "S",
            tags: ["t"],
            parameters: [{ name: "q", in: "query", schema: { type: "array", items: { type: "string" } } }],
            requestBody: {
              content: {
                "application/json": {
                  schema: { allOf: [{ $ref: "#/components/schemas/A" }, { properties: { x: { enum: [1, "a"] } } }] },
                  example: { n: 1 }
                }
              }
            }
          }
        }
      },
      components: {
        securitySchemes: { k: { type: "apiKey", in: "header", name: "X" } },
        parameters: { P: { name: "id", in: "path", schema: { type: "integer" } } },
        schemas: {
          A: {
            type: "object",
            required: ["n"],
            properties: { n: { type: "number", minimum: 0 }, a: { $ref: "#/components/schemas/A" } }
          }
        }
      }
    })
  )
  const paths: Array<ReadonlyArray<string>> = []
  const collect = (node: unknown, path: ReadonlyArray<string>): void => {
    paths.push(path)
    if (typeof node !== "object" || node === null) return
    for (const [key, child] of Object.entries(node)) collect(child, [...path, key])
  }
  collect(seed, [])
  const keywords = [
    ...[
      "$ref",
      "allOf",
      "anyOf",
      "items",
      "properties",
      "required",
      "type",
      "enum",
      "pattern",
      "schema",
      "content",
      "in"
    ],
    ...[
      "name",
      "parameters",
      "requestBody",
      "example",
      "examples",
      "nullable",
      "not",
      "default",
      "__proto__",
      "constructor"
    ]
  ]
  const refs = paths.map((path) => ({ $ref: `#/${path.join("/").replaceAll("/a/{", "~1a~1{")}` }))
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(...refs, {}, [], null, true, -1, "", "object", "#/"),
    fc.dictionary(
      fc.constantFrom(...keywords),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom<unknown>(...refs)),
      { maxKeys: 4 }
    )
  )
  const mutation = fc.record({
    path: fc.constantFrom(...paths),
    key: fc.option(fc.constantFrom(...keywords), { nil: undefined }),
    value: anything
  })

  test("a small document with anything anywhere never throws, and what is imported compiles", async () => {
    let imported = 0
    const mutated = howMany(400, 160)
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        let document = structuredClone(seed)
        for (const { path, key, value } of mutations) {
          const places = key === undefined ? path : [...path, key]
          if (places.length === 0) document = structuredClone(value)
          let node: unknown = document
          for (const step of places.slice(0, -1)) node = Object(node)[step]
          const last = places.at(-1)
          if (typeof node === "object" && node !== null && last !== undefined) {
            Object.defineProperty(node, last === "length" ? "x" : last, {
              value,
              enumerable: true,
              configurable: true,
              writable: true
            })
          }
        }
        const result = await attempt(JSON.stringify(document) ?? "null")
        if (Result.isFailure(result)) return expect(result.failure).toBeInstanceOf(ImportFailed)
        imported++
        for (const endpoint of result.success.document.endpoints) {
          const check = compileEndpoint(endpoint, result.success.document.definitions)
          expect(check.path(endpoint.example.path ?? {})).toBeArray()
          if (endpoint.example.input !== undefined) expect(check.input(endpoint.example.input)).toEqual([])
        }
      }),
      { numRuns: mutated }
    )
    expect(imported).toBeGreaterThan((mutated * 3) / 8)
  })

  test("any text at all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.json()), async (text) => {
        const result = await attempt(text)
        expect(Result.isSuccess(result) || result.failure instanceof ImportFailed).toBe(true)
      }),
      { numRuns: howMany(200, 80) }
    )
  })
})
