import { describe, expect, test } from "bun:test"
import { compileEndpoint, tasksMax } from "../../src/layers/catalog/input/EndpointInput.ts"
import { linearPattern, patternCharactersMax } from "../../src/layers/catalog/input/LinearPatterns.ts"
import type { Endpoint, ProviderDocument } from "../../src/schema/catalog/Endpoint.ts"

const nothing = { type: "object", properties: {}, additionalProperties: false }
const compile = (
  body: Endpoint["body"],
  changes: Partial<Endpoint> = {},
  definitions: ProviderDocument["definitions"] = {}
) => compileEndpoint({ body_type: "json", path_params: nothing, query_params: nothing, body, ...changes }, definitions)

const search = {
  type: "object",
  properties: {
    keyword: { type: "string", pattern: "^[a-z ]+$" },
    depth: { type: ["integer", "null"], maximum: 700 },
    filters: { type: "array", items: { $ref: "#/$defs/Filter" } }
  },
  required: ["keyword"],
  additionalProperties: false
}
const definitions = {
  Filter: {
    type: "object",
    properties: { field: { type: "string" }, and: { $ref: "#/$defs/Filter" } },
    required: ["field"]
  },
  Broken: { type: "no such type" }
}

describe("a request against its endpoint", () => {
  test("issues name the field", () => {
    const { input } = compile(search, {}, definitions)
    expect(input({ keyword: "coffee", depth: null, filters: [{ field: "a", and: { field: "b" } }] })).toEqual([])
    expect(input({ filters: [{ field: 1 }, { field: "a", and: {} }], extra: 1 })).toEqual([
      { path: "keyword", message: "is required" },
      { path: "extra", message: "is not a known field" },
      { path: "filters.0.field", message: "must be string" },
      { path: "filters.1.and.field", message: "is required" }
    ])
    expect(input({ keyword: "Ü" })).toEqual([{ path: "keyword", message: 'must match pattern "^[a-z ]+$"' }])
    expect(input(undefined)).toEqual([{ path: "keyword", message: "is required" }])
    expect(input("coffee")).toEqual([{ path: "", message: "must be a JSON object" }])
  })

  test("an unknown field is told the nearest known one, also in a referred schema and in a query", () => {
    const closed = { Filter: { ...definitions.Filter, additionalProperties: false } }
    const country = { type: "object", properties: { country: { type: "string" } }, additionalProperties: false }
    const { input, query } = compile(search, { query_params: country }, closed)
    const unknown = "is not a known field"
    expect(input({ keyword: "coffee", dept: 1, filters: [{ field: "a", fields: "b" }] })).toEqual([
      { path: "dept", message: `${unknown}. Did you mean \`depth\`?` },
      { path: "filters.0.fields", message: unknown }
    ])
    expect(input({ keyword: "coffee", filters: [{ feild: "a" }] })).toContainEqual({
      path: "filters.0.feild",
      message: `${unknown}. Did you mean \`field\`?`
    })
    expect(query({ contry: "de" })).toEqual([{ path: "contry", message: `${unknown}. Did you mean \`country\`?` }])
  })

  test("an undescribed count is told the nearest described one, and of very many only twenty are", () => {
    const paid: Partial<Endpoint> = { cost: { model: "per_call", estimate: "0.01", note: null } }
    const { input } = compile({ type: "object", properties: { max_results: { type: "integer" } } }, paid)
    expect(input({ max_result: 5 })).toEqual([
      { path: "max_result", message: "is not a described field. Did you mean `max_results`?" }
    ])
    expect(input({ maxResults: 5 })).toEqual([
      { path: "maxResults", message: "is not a described field. Did you mean `max_results`?" }
    ])
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`limit_${n}`, n]))
    expect(input(many)).toHaveLength(20)
  })

  test("names with slashes and dots", () => {
    const { query } = compile(null, {
      query_params: {
        type: "object",
        properties: { "a/b": { type: "integer" }, "revenue_range[min]": { type: "integer" } }
      }
    })
    expect(query({ "a/b": "1", "revenue_range[min]": "x" }).map(({ path }) => path)).toEqual([
      "a/b",
      "revenue_range[min]"
    ])
  })

  test("parts that are left out count as empty", () => {
    const id = { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false }
    const { path, query, input } = compile(null, { path_params: id })
    expect(path(undefined)).toEqual([{ path: "id", message: "is required" }])
    expect(path({ id: "1", constructor: 1 })).toEqual([{ path: "constructor", message: "is not a known field" }])
    expect(query(undefined)).toEqual([])
    expect(query({ a: 1 })).toEqual([{ path: "a", message: "is not a known field" }])
    // Nobody knows the body's shape, so nobody refuses it.
    expect(input({ anything: [1] })).toEqual([])
  })

  test("a task, or one to ten of them", () => {
    const { input } = compile(search, { body_type: "task" }, definitions)
    const task = { keyword: "coffee" }
    expect(input(task)).toEqual([])
    expect(input(Array.from({ length: tasksMax }, () => task))).toEqual([])
    for (const tasks of [[], Array.from({ length: tasksMax + 1 }, () => task)]) {
      expect(input(tasks)).toEqual([{ path: "", message: "must be one task object or an array of 1 to 10" }])
    }
    expect(input([task, {}, 1])).toEqual([
      { path: "1.keyword", message: "is required" },
      { path: "2", message: "must be a JSON object" }
    ])
  })

  test("unknown formats are ignored, known ones are not", () => {
    const { input } = compile({
      properties: {
        a: { type: "string", format: "phone-number" },
        b: { type: "string", format: "email" },
        c: { format: "int32" }
      }
    })
    expect(input({ a: "x", b: "x", c: 2 ** 40 }).map(({ path }) => path)).toEqual(["b"])
  })

  test("a schema that can't be compiled refuses nothing, and one that nobody reaches harms nobody", () => {
    expect(compile({ $ref: "#/$defs/Broken" }, {}, definitions).input(1)).toEqual([])
    expect(compile({ $ref: "#/$defs/Nowhere" }, {}, definitions).input(1)).toEqual([])
    expect(compile(search, {}, definitions).input({ keyword: 1 })).toHaveLength(1)
  })
})

describe("hostile values", () => {
  test("a megabyte of wrong items is a handful of issues", () => {
    const { input } = compile({ type: "array", items: { type: "string" } })
    expect(input(Array.from({ length: 300_000 }, () => 1)).length).toBe(1)
    expect(input(Array.from({ length: 1_000 }, () => 1)).length).toBe(20)
  })

  test("nesting ends as an issue", () => {
    const tree = { Tree: { type: "array", items: { $ref: "#/$defs/Tree" } } }
    const { input } = compile({ $ref: "#/$defs/Tree" }, {}, tree)
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000))
    expect(input(deep)).toEqual([{ path: "", message: "must not be nested deeper than 100 levels" }])
    expect(input([[[]]])).toEqual([])
  })

  test("a definition that is nothing but itself ends as an issue", () => {
    const { input } = compile({ $ref: "#/$defs/A" }, {}, { A: { allOf: [{ $ref: "#/$defs/A" }] } })
    expect(input(1)).toEqual([{ path: "", message: "is nested too deeply" }])
  })

  test("unique items are found in linear time, in any order of fields", () => {
    const { input } = compile({ type: "array", uniqueItems: true })
    const many = Array.from({ length: 50_000 }, (_, id) => ({ id, x: 1 }))
    const began = performance.now()
    expect(input(many)).toEqual([])
    expect(input([...many, { x: 1, id: 7 }])).toEqual([{ path: "", message: "must not have duplicate items" }])
    // Comparing every item with every other takes minutes.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(input([1, "1", true, [1], null])).toEqual([])
  })

  test("patterns are read by RE2", () => {
    expect(linearPattern("^(a+)+$")?.test(`${"a".repeat(100_000)}!`)).toBe(false)
    expect(linearPattern("^\\d{4}-\\u00e9/$")?.test("2025-é/")).toBe(true)
    for (const pattern of ["(?=a)", "(a)\\1", "[", "a".repeat(patternCharactersMax + 1), "(\\p{L}{1,1000}){5}"]) {
      expect(linearPattern(pattern)).toBeNull()
    }
  })
})
