import { describe, expect, test } from "bun:test"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import fc from "fast-check"
import { shipped } from "../../src/layers/catalog/Endpoints.ts"
import { withTopLevelFields } from "../../src/schema/catalog/TopLevelFields.ts"

const string = { type: "string" }
const integer = { type: "integer" }
const definitions = {
  base: { type: "object", properties: { a: string, b: integer }, required: ["a"], description: "base" },
  closed: { type: "object", properties: { c: string }, additionalProperties: false },
  loop: { allOf: [{ $ref: "#/$defs/loop" }, { properties: { a: string } }] },
  list: { type: "array", items: string }
}
const part = (required: ReadonlyArray<string>) => ({
  type: "object",
  properties: { b: { minimum: 0 }, d: string },
  required
})

const schemas: Readonly<Record<string, Record<string, unknown>>> = {
  reference: { $ref: "#/$defs/base" },
  "reference beside fields": { $ref: "#/$defs/base", properties: { d: integer }, required: ["d"] },
  "several parts": { allOf: [{ $ref: "#/$defs/base" }, part(["d"])] },
  "nested parts": { allOf: [{ allOf: [{ $ref: "#/$defs/base" }, part([])] }, part(["b"])], type: "object" },
  alternatives: { allOf: [{ $ref: "#/$defs/base" }, { anyOf: [{ required: ["b"] }, { required: ["d"] }] }] },
  "a closed part": { allOf: [{ $ref: "#/$defs/closed" }, { properties: { a: string } }] },
  "a closed whole": { allOf: [{ $ref: "#/$defs/base" }], properties: { a: string }, unevaluatedProperties: false },
  "no type": { allOf: [{ properties: { a: string }, required: ["a"] }] }
}

const value = fc.oneof(fc.constantFrom("x", 1, -1, null), fc.constant([]))
const values = fc.oneof(
  fc.record({ a: value, b: value, c: value, d: value, e: value }, { requiredKeys: [] }),
  fc.record({ a: fc.constant("x"), b: fc.integer(), d: fc.constant("x") }, { requiredKeys: [] }),
  value
)

describe("withTopLevelFields", () => {
  const accepts = (schema: object) => new Ajv2020({ strict: false }).compile({ ...schema, $defs: definitions })

  test.each(Object.entries(schemas))("%s: has its fields at the top, and accepts the same values", (_name, schema) => {
    const lifted = withTopLevelFields(schema, definitions)
    expect(lifted).toContainKeys(["properties", "required"])
    const [before, after] = [accepts(schema), accepts(lifted)]
    fc.assert(
      fc.property(values, (one) => after(one) === before(one)),
      { numRuns: 1_000 }
    )
  })

  test("merges parts, and leaves no allOf where nothing needs it", () => {
    expect<unknown>(withTopLevelFields(schemas["several parts"] ?? {}, definitions)).toEqual({
      type: "object",
      description: "base",
      properties: { a: string, b: { allOf: [integer, { minimum: 0 }] }, d: string },
      required: ["a", "d"]
    })
  })

  test("ends where a schema refers to itself", () => {
    expect<unknown>(withTopLevelFields({ $ref: "#/$defs/loop" }, definitions)).toEqual({
      properties: { a: string },
      required: [],
      allOf: [{ $ref: "#/$defs/loop" }]
    })
  })

  test("leaves other schemas as they are", () => {
    for (const schema of [definitions.base, { $ref: "#/$defs/list" }, { $ref: "#/$defs/nowhere" }, {}])
      expect<unknown>(withTopLevelFields(schema, definitions)).toBe(schema)
  })

  test("every object body of the shipped catalog has its fields at the top", async () => {
    const without = (await Effect.runPromise(shipped)).flatMap(({ provider, endpoints, definitions: shared }) =>
      endpoints.flatMap(({ path, body }) => {
        if (body === null) return []
        const lifted = withTopLevelFields(body, shared)
        return lifted["type"] === "array" || "properties" in lifted ? [] : [`${provider} ${path}`]
      })
    )
    expect(without).toEqual([])
  })
})
