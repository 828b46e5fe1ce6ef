import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Result } from "effect"
import type { SourceText } from "../../../src/layers/catalog/import/kit/Import.ts"
import { importManifest } from "../../../src/layers/catalog/import/manifest.ts"
import { anyOf, patternFor } from "../../../src/layers/catalog/import/kit/patterns.ts"
import { endpointKey } from "../../../src/schema/catalog/Endpoint.ts"
import * as Money from "../../../src/schema/money/Money.ts"
import { atPlatformRate } from "../../../src/schema/money/Pricing.ts"

const read = (text: string, sources: ReadonlyArray<SourceText> = []) =>
  Effect.runSync(Effect.result(importManifest({ name: "acme.yaml", text }, sources)))

const imported = (text: string, sources: ReadonlyArray<SourceText> = []) => Result.getOrThrow(read(text, sources))

/** The mistakes that a manifest is refused with, without the name of its file. */
const mistakes = (text: string, sources: ReadonlyArray<SourceText> = []) => {
  const result = read(text, sources)
  if (Result.isSuccess(result)) throw new Error("it was taken")
  return result.failure.message.split("\n").map((line) => line.replace(/^acme\.yaml: /, ""))
}

const head = "provider: acme\ntitle: Acme\n"
const find = (fields: string) => `${head}
endpoints:
  - method: POST
    path: /find
    title: Find
    description: Finds something.
${fields.replace(/^/gm, "    ")}`

const costOf = (rates: string, rate = "") => {
  const { document, warnings } = imported(`${find(rate)}\n${rates}`)
  return { cost: document.endpoints[0]?.cost, price: document.endpoints[0]?.price, warnings }
}

describe("the shorthand", () => {
  const body = (fields: string) =>
    imported(find(`body:\n${fields.replace(/^/gm, "  ")}\nexample: { input: {} }`)).document.endpoints[0]?.body

  test("types, bounds, lists, choices and descriptions", () => {
    const fields = [
      "a: string",
      "b: integer(1..100) How many",
      "c: x|y|z The kind",
      "d: string[](1..5)",
      "e: email",
      "f: number(..1)",
      "g: any",
      "h: date"
    ]
    expect(body(fields.join("\n"))?.["properties"]).toEqual({
      a: { type: "string" },
      b: { type: "integer", minimum: 1, maximum: 100, description: "How many" },
      c: { type: "string", enum: ["x", "y", "z"], description: "The kind" },
      d: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 5 },
      e: { type: "string", format: "email" },
      f: { type: "number", maximum: 1 },
      g: {},
      h: { type: "string", format: "date" }
    })
  })

  test("an exclamation mark and required: true ask for a field", () => {
    const text = find(
      "body:\n  a: string!\n  b: { type: object, required: true, fields: { c: integer!, d: string } }\nexample: { input: { a: x, b: { c: 1 } } }"
    )
    expect(imported(text).document.endpoints[0]?.body).toEqual({
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "object", properties: { c: { type: "integer" }, d: { type: "string" } }, required: ["c"] }
      },
      required: ["a", "b"]
    })
  })

  test("needs, closed and a verbatim schema", () => {
    const needs = imported(
      find("body: { a: string, b: string }\nneeds: [[a], [b]]\nclosed: true\nexample: { input: { b: x } }")
    )
    expect(needs.document.endpoints[0]?.body).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      additionalProperties: false,
      anyOf: [{ required: ["a"] }, { required: ["b"] }]
    })
    const verbatim = imported(find("body_schema: { type: array, items: { type: string } }\nexample: { input: [a] }"))
    expect(verbatim.document.endpoints[0]?.body).toEqual({ type: "array", items: { type: "string" } })
  })

  test("needs leave required what the schema itself requires", () => {
    const one = imported(find("body: { a: string!, b: string }\nneeds: [[b]]\nexample: { input: { a: x, b: x } }"))
    expect(one.document.endpoints[0]?.body?.["required"]).toEqual(["a", "b"])
  })

  test("placeholders are required, and queries are closed", () => {
    const text = `${head}endpoints:
  - { method: GET, path: "/a/{one}/b{two}.json", title: T, description: D, path_params: { two: integer }, query: { q: string }, example: { path: { one: x, two: 2 } } }`
    const [endpoint] = imported(text).document.endpoints
    expect(endpoint?.path_params).toEqual({
      type: "object",
      properties: { one: { type: "string" }, two: { type: "integer" } },
      additionalProperties: false,
      required: ["one", "two"]
    })
    expect(endpoint?.query_params).toEqual({
      type: "object",
      properties: { q: { type: "string" } },
      additionalProperties: false
    })
  })
})

describe("a manifest is refused", () => {
  const cases: ReadonlyArray<readonly [why: string, text: string, mistakes: ReadonlyArray<RegExp>]> = [
    ["when it is no YAML", "provider: [", [/^is not YAML/]],
    ["when it is no object", "- provider", [/^the manifest: /]],
    [
      "for unknown keys, all of them at once",
      `${head}exclud: []\nrates: { credits: "1" }\n`,
      [/^exclud: /, /^rates\.credits: /]
    ],
    [
      "for a bad slug, auth and base address",
      "provider: Acme\ntitle: A\nauth: { kind: cookie }\nbase_url: ftp://x\n",
      [/^provider: /, /^base_url: /, /^auth: /]
    ],
    ["for unknown keys of an endpoint", find("querry: {}"), [/^endpoints\.0\.querry: /]],
    ["for a wrong type in the shorthand", find("body: { a: strin! }"), [/^endpoints\.0\.body\.a: "strin!" is no type/]],
    [
      "for a wrong keyword of a field",
      find("body: { a: { type: string, maxLenght: 3 } }"),
      [/^endpoints\.0\.body\.a\.maxLenght: is no keyword/]
    ],
    [
      "for mistakes inside of fields and items",
      find("body: { a: { fields: { b: nope } }, c: { items: { fields: { d: nope } } } }"),
      [/^endpoints\.0\.body\.a\.fields\.b: /, /^endpoints\.0\.body\.c\.items\.fields\.d: /]
    ],
    [
      "for a body of a GET",
      `${head}endpoints: [{ method: GET, path: /a, title: T, description: D, body: { a: string } }]`,
      [/^endpoints\.0\.body: a GET can.t have a body/]
    ],
    [
      "for a path that is none",
      `${head}endpoints: [{ method: GET, path: a, title: T, description: D }]`,
      [/^endpoints\.0\.path: must start with/]
    ],
    [
      "for a parameter without its placeholder",
      `${head}endpoints: [{ method: GET, path: /a, title: T, description: D, path_params: { id: string } }]`,
      [/^endpoints\.0\.path_params\.id: is not a placeholder/]
    ],
    [
      "for needs that name no field",
      find("body: { a: string }\nneeds: [[b]]"),
      [/^endpoints\.0\.needs: b is not a field/]
    ],
    [
      "for a rate without a price, or with two",
      find("rate: { note: x }").concat('\nrates: { default: { usd: "1", credits: 1 } }'),
      [
        /^endpoints\.0\.rate: must have exactly one .* not none/,
        /^rates\.default: must have exactly one .* not usd and credits/
      ]
    ],
    ["for an amount that is a float", find("rate: { usd: 0.1 }"), [/^endpoints\.0\.rate\.usd: /]],
    ["for results of a price per call", find('rate: { usd: "1", results: 2 }'), [/^endpoints\.0\.rate\.results: /]],
    [
      "for two rates of one endpoint",
      find("rate: { free: true }").concat('\nrates: { endpoints: { "POST /find": { free: true } } }'),
      [/^rates\.endpoints\.POST \/find: the endpoint already has a rate/]
    ],
    [
      "for the same endpoint twice",
      `${head}endpoints: [{ method: GET, path: /a, title: T, description: D }, { method: GET, path: /a, title: T, description: D }]`,
      [/^endpoints\.1: GET \/a is listed twice/]
    ],
    [
      "for a source that is not there",
      `${head}openapi: [a.yaml]\ntables: [b.json]`,
      [/^openapi\.0: there is no source called a\.yaml/, /^tables\.0: /]
    ],
    [
      "for a file outside the folder of sources",
      `${head}openapi: [../a.yaml, /etc/b, x/../../c, ok/d.yaml]`,
      [/^openapi\.0: must be a file/, /^openapi\.1: /, /^openapi\.2: /]
    ],
    [
      "for an example that its own schema refuses",
      find("body: { a: integer! }\nexample: { input: { a: x } }"),
      [/^POST \/find: example\.input\.a: must be integer/]
    ],
    [
      "for a driver that contradicts itself or its rate",
      find(
        [
          'rate: { model: per_result, usd: "1", results: 5, drivers: [',
          '{ field: a, usd: "1", multiplies: true }, { field: b }, { field: c, usd: "1", default: 9, max: 5 }] }'
        ].join("")
      ),
      [
        /drivers\.0: must have one of .*, not usd and multiplies/,
        /rate\.results: is already counted by a driver that multiplies/,
        /drivers\.1: must have one of .*, or max; list a field that does not change the price in flat/,
        /drivers\.2\.default: is above max/
      ]
    ],
    [
      "for a priced driver of a free endpoint",
      find('rate: { free: true, drivers: [{ field: a, usd: "1" }] }'),
      [/drivers\.0: has a price, but the rate is free/]
    ],
    ["for a schema that does not compile", find("body_schema: { type: strng }"), [/^POST \/find: input: /]],
    ["for a reference to nothing", find('body: { a: { $ref: "#/$defs/nope" } }'), [/^POST \/find: input: .*nope/]]
  ]
  for (const [why, text, expected] of cases) {
    test(why, () => {
      const said = mistakes(text)
      expect(said).toHaveLength(expected.length)
      for (const [index, pattern] of expected.entries()) expect(said[index]).toMatch(pattern)
    })
  }
})

describe("rates", () => {
  test("are the provider's cost times 1.2, rounded up once", () => {
    expect(Money.usd(atPlatformRate("0.001"))).toBe("0.0012")
    expect(Money.usd(atPlatformRate("0.000994"))).toBe("0.001193")
    expect(Money.usd(atPlatformRate("0.25", "0.0245"))).toBe("0.00735")
    expect(Money.usd(atPlatformRate("0.000000001"))).toBe("0.000001")
    expect(Money.usd(atPlatformRate("0"))).toBe("0.00")
    expect(Money.usd(atPlatformRate("0.0000001", "10"))).toBe("0.000002")
    expect(Money.usd(atPlatformRate("123456.789", "1000"))).toBe("148148146.80")
  })

  test("in credits, in dollars, per result, free and unpublished", () => {
    const credit = 'rates: { credit: "0.0245" }'
    expect(costOf(credit, "rate: { credits: 1 }").cost).toEqual({
      model: "per_call",
      estimate: "0.0294",
      note: "1 credit of $0.0245 per call.",
      credit: "0.0245"
    })
    expect(costOf(credit, 'rate: { credits: "0.5", note: Sometimes. }').cost).toEqual({
      model: "per_call",
      estimate: "0.0147",
      note: "0.5 credits of $0.0245 per call. Sometimes.",
      credit: "0.0245"
    })
    expect(costOf("", 'rate: { usd: "0.0002", model: per_result, results: 100 }').cost).toEqual({
      model: "per_result",
      estimate: "0.024",
      note: "The estimate counts 100 results."
    })
    expect(costOf("", "rate: { free: true }").cost).toEqual({ model: "free", estimate: "0.00", note: null })
    expect(costOf("", "rate: { unpublished: true }").cost).toEqual({ model: "unpublished", estimate: null, note: null })
    expect(costOf("").cost).toEqual({ model: "unpublished", estimate: null, note: null })
    expect(costOf("", "rate: { credits: 2 }").cost).toEqual({
      model: "unpublished",
      estimate: null,
      note: "2 credits per call; the price of a credit is not published."
    })
  })

  test("of drivers are exact, with the platform's rate, and the estimate is an ordinary call's", () => {
    const credit = 'rates: { credit: "0.0245" }'
    const rate = (drivers: string) => `rate: { credits: "0.5", drivers: [${drivers}] }`
    const found = costOf(credit, rate('{ field: limit, credits: "0.001", per: 7, included: 3, default: 10 }'))
    expect(found.price).toEqual({
      base: "0.0147",
      drivers: [{ field: "limit", counts: "number", price: "0.0000294", per: 7, included: 3, default: 10 }]
    })
    // 0.0147 and one begun seven.
    expect(found.cost?.estimate).toBe("0.01473")
    const table = '{ field: mode, values_usd: { fast: "0.01", "*": "0.02" } }, { field: size, times: { large: "1.5" } }'
    expect(costOf(credit, rate(table)).price?.drivers).toEqual([
      { field: "mode", counts: "number", values: { fast: "0.012", "*": "0.024" } },
      { field: "size", counts: "number", times: { large: "1.5" } }
    ])
    expect(costOf(credit, rate("{ field: limit, multiplies: true }")).cost?.estimate).toBe("0.0147")
    expect(costOf(credit, rate("{ field: limit, multiplies: true, default: 20 }")).cost?.estimate).toBe("0.294")
  })

  test("of drivers in credits of an unknown price are unpublished, and still bound a request", () => {
    const found = costOf("", 'rate: { usd: "0.01", drivers: [{ field: limit, credits: "1", max: 5 }] }')
    expect(found.cost).toMatchObject({ model: "unpublished", estimate: null })
    expect(found.price).toMatchObject({ base: null, drivers: [{ field: "limit", max: 5 }] })
  })

  test("an exact key wins, then the longest pattern, then the default", () => {
    const rates = (keys: string) => `rates: { default: { usd: "1" }, endpoints: { ${keys} } }`
    expect(costOf(rates("")).cost?.estimate).toBe("1.20")
    expect(costOf(rates('"POST *": { usd: "2" }')).cost?.estimate).toBe("2.40")
    expect(costOf(rates('"POST *": { usd: "2" }, "POST /f*": { usd: "3" }')).cost?.estimate).toBe("3.60")
    const exact = costOf(rates('"*POST*/*f*i*n*d*": { usd: "2" }, "POST /find": { usd: "4" }'))
    expect(exact.cost?.estimate).toBe("4.80")
    expect(exact.warnings).toEqual([])
  })

  test("that meet no endpoint are warned of", () => {
    const { warnings } = costOf('rates: { endpoints: { "GET /gone": { free: true } } }')
    expect(warnings).toEqual([{ where: "GET /gone", message: "this rate matches no endpoint" }])
  })
})

test("patterns match pieces in their order, and only whole texts", () => {
  expect(patternFor("GET /a")("GET /a")).toBe(true)
  expect(patternFor("GET /a")("GET /ab")).toBe(false)
  expect(patternFor("* /a*")("DELETE /a/b")).toBe(true)
  expect(patternFor("*ab*ab")("xab")).toBe(false)
  expect(patternFor("*ab*ab")("ababab")).toBe(true)
  expect(patternFor("a*a")("a")).toBe(false)
  expect(patternFor("*")("")).toBe(true)
  expect(anyOf([])("GET /a")).toBe(false)
  const long = "a".repeat(20_000)
  expect(patternFor("*a".repeat(2_000) + "b")(long)).toBe(false)
})

test("a manifest with aliases of aliases is refused", () => {
  const lists = [1, 2, 3].map((n) => `x${n}: &x${n} [${`*x${n - 1},`.repeat(50)}]`)
  const text = `${head}definitions:\n  d: { x0: &x0 [${"1,".repeat(50)}], ${lists.join(", ")} }\n`
  expect(mistakes(text)).toEqual([expect.stringContaining("holds more than 5000000 values")])
})

describe("tables", () => {
  const table = (endpoints: ReadonlyArray<unknown>) => ({
    name: "t.json",
    text: JSON.stringify({ platforms: [{ id: "x", name: "X", endpoints }] })
  })
  const row = { name: "Profile", method: "GET", path: "/p", description: "A profile.", params: [] }
  const manifest = `${head}tables: [t.json]\nrates: { credit: "0.001" }\n`

  test("become endpoints with types, choices, examples and prices", () => {
    const params = [
      { name: "handle", type: "string", required: true, description: "Who", placeholder: "ann" },
      { name: "age", type: "select", options: ["1d", "3d", "3d"], placeholder: "7d" },
      { name: "trim", type: "boolean", placeholder: "false" },
      { name: "page", type: "number", placeholder: "2" }
    ]
    const { document, warnings } = imported(manifest, [table([{ ...row, params, credits: 26 }])])
    expect(warnings).toEqual([])
    expect(document.endpoints[0]).toMatchObject({
      title: "X: Profile",
      tags: ["x"],
      query_params: {
        properties: {
          handle: { type: "string", description: "Who", examples: ["ann"] },
          age: { type: "string", enum: ["1d", "3d", "7d"], examples: ["7d"] },
          trim: { type: "boolean", examples: [false] },
          page: { type: "number", examples: [2] }
        },
        required: ["handle"],
        additionalProperties: false
      },
      example: { query: { handle: "ann" } },
      cost: { model: "per_call", estimate: "0.0312" }
    })
  })

  test("leave out rows that can't be read, repeated ones and excluded ones, and say so", () => {
    const rows = [row, row, { name: "No path" }, 7, { ...row, path: "/account/x" }]
    const { document, warnings } = imported(`${manifest}exclude: ["* /account/*"]\n`, [table(rows)])
    expect(document.endpoints.map(endpointKey)).toEqual(["GET /p"])
    expect(warnings.map(({ where }) => where)).toEqual(["GET /p", "x.endpoints.2", "x.endpoints.3"])
  })

  test("of a POST are its body", () => {
    const params = [{ name: "q", type: "string", required: true, placeholder: "a" }]
    const { document } = imported(manifest, [table([{ ...row, method: "POST", params }])])
    expect(document.endpoints[0]).toMatchObject({ body: { required: ["q"] }, example: { input: { q: "a" } } })
  })

  test.each([-1, 1_000_001, 0.5])("leave out an endpoint that costs %p credits", (credits) => {
    const { document, warnings } = imported(manifest, [
      table([
        { ...row, credits },
        { ...row, path: "/q" }
      ])
    ])
    expect(document.endpoints.map(({ path }) => path)).toEqual(["/q"])
    expect(warnings).toEqual([{ where: "x.endpoints.0", message: "left out: this row can't be read" }])
  })

  test("that are no tables fail", () => {
    expect(mistakes(manifest, [{ name: "t.json", text: "{}" }])[0]).toMatch(/t\.json/)
  })
})

describe("an OpenAPI document", () => {
  const source = {
    name: "a.json",
    text: JSON.stringify({
      openapi: "3.0.3",
      info: { title: "A", version: "1" },
      servers: [{ url: "https://api.acme.test/v1" }],
      paths: {
        "/find": { post: { summary: "Old", responses: { 200: { description: "ok" } } } },
        "/keep": { get: { summary: "Keep", responses: { 200: { description: "ok" } } } },
        "/drop": { get: { summary: "Drop", responses: { 200: { description: "ok" } } } }
      }
    })
  }

  test("is sifted and priced, and the manifest's own endpoints win", () => {
    const { document } = imported(
      `${find("rate: { free: true }")}\nopenapi: [a.json]\nexclude: ["GET /drop"]\nrates: { default: { usd: "1" } }`,
      [source]
    )
    expect(document.endpoints.map((one) => [endpointKey(one), one.title, one.cost.estimate])).toEqual([
      ["POST /find", "Find", "0.00"],
      ["GET /keep", "Keep", "1.20"]
    ])
    expect(document.base_url).toBe("https://api.acme.test/v1")
    expect(document.source).toEqual(["acme.yaml", "a.json"])
  })
})

describe("amendments", () => {
  const row = {
    name: "Profile",
    method: "GET",
    path: "/p",
    description: "A profile.",
    params: [{ name: "q", type: "string" }]
  }
  const table = { name: "t.json", text: JSON.stringify({ platforms: [{ id: "x", name: "X", endpoints: [row] }] }) }
  const amend = (text: string) => `${head}tables: [t.json]\namend:\n  "GET /p": ${text}\n`

  test("replace words and examples, and add tags", () => {
    const { document, warnings } = imported(
      `${amend('{ title: T, tags: [y], example: { query: { q: "b" } } }')}  "GET /gone": { title: G }\n`,
      [table]
    )
    expect(document.endpoints[0]).toMatchObject({
      title: "T",
      description: "A profile.",
      tags: ["x", "y"],
      example: { query: { q: "b" } }
    })
    expect(warnings).toEqual([{ where: "GET /gone", message: "this amendment matches no endpoint" }])
  })

  test("have to fit the document's schema", () => {
    expect(mistakes(amend("{ example: { query: { q: 5 } } }"), [table])).toEqual([
      "GET /p: example.query.q: must be string"
    ])
    expect(mistakes(amend("{ cost: 5 }"), [table])[0]).toMatch(/^amend\.GET \/p\.cost: /)
  })
})

describe("every manifest of the package", () => {
  const folder = join(import.meta.dir, "..", "..", "..", "src", "layers", "catalog", "import", "manifests")
  for (const name of readdirSync(folder)) {
    test(`${name} is named after its provider and has no unread key`, () => {
      const text = readFileSync(join(folder, name), "utf8")
      expect(text).toMatch(new RegExp(`^provider: ${name.replace(".yaml", "")}$`, "m"))
      expect(text.split("\n")[0]).toMatch(/^# /)
    })
  }
})
