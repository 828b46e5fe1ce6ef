/**
 * Run enforces exactly what inspect stated: for every capability, whatever the published schema accepts is run, and whatever it
 * refuses is refused with the same path. The judge is a validator of its own, over the schema as inspect answered it.
 */
import { beforeAll, expect, test } from "bun:test"
import addFormats from "ajv-formats"
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js"
import fc from "fast-check"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import { figures, type Tenant, withApp } from "../../kit/app.ts"
import { exhaustive, howMany, sampleSeed } from "../../kit/input-samples.ts"
import { accepted, spoilt } from "../../kit/schema-inputs.ts"

/** Of every capability: with 35 of them eight hundred runs in all, or three hundred. */
const acceptedEach = howMany(8, 3)
const spoiltEach = howMany(15, 6)

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("1000000.00")
})

/** Where a standard validator sees a problem, as the service spells it. */
const pathOf = ({ instancePath, keyword, params }: ErrorObject): string => {
  const child =
    keyword === "required"
      ? params["missingProperty"]
      : keyword === "additionalProperties"
        ? params["additionalProperty"]
        : undefined
  return ["input", ...instancePath.split("/").slice(1), ...(child === undefined ? [] : [child])].join(".")
}

/** A cursor is no value that a schema describes: only an earlier answer has one. */
const withoutCursor = (schema: Record<string, unknown>) => {
  const { cursor: _cursor, ...properties } = Object(schema["properties"])
  return { ...schema, properties }
}

let ran = 0
let refused = 0

for (const { slug } of capabilities) {
  test(`${slug}: what its schema accepts is run, what it refuses is refused at the same place`, async () => {
    const { body: inspected } = await org.post("/v1/inspect", { capability: slug })
    const ajv = new Ajv2020({ allErrors: true, strict: false, code: { optimize: false } })
    addFormats(ajv)
    const validate = ajv.compile(inspected.input_schema)
    const schema = withoutCursor(inspected.input_schema)
    for (const input of fc.sample(accepted(schema), { seed: exhaustive ? 7 : sampleSeed, numRuns: acceptedEach })) {
      expect([input, validate(input)]).toEqual([input, true])
      const { status, body } = await org.run({ capability: slug, input })
      expect([status, body.status, input]).toEqual([200, "succeeded", input])
      for (const field of inspected.output_fields) expect(body.result).toHaveProperty([field])
      ran += 1
    }
    for (const input of fc.sample(spoilt(schema), { seed: exhaustive ? 7 : sampleSeed, numRuns: spoiltEach })) {
      // null in an optional field is the same as leaving it out.
      const meant = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
      const good = validate(meant)
      const { status, body } = await org.run({ capability: slug, input })
      if (good) {
        expect([status, input]).toEqual([200, input])
        continue
      }
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
      const places = new Set(validate.errors?.map(pathOf))
      for (const { path } of body.error.details) expect([...places]).toContain(path)
      refused += 1
    }
  })
}

test("a cursor of nobody is refused at its place", async () => {
  const { body: inspected } = await org.post("/v1/inspect", { capability: "people.search" })
  const { status, body } = await org.run({
    capability: "people.search",
    input: { ...inspected.example, cursor: "nobody:1" }
  })
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "input.cursor"])
})

test("nothing of it moved a cent that the books can't explain", async () => {
  const { violations } = await app.books()
  figures("run enforces what inspect stated", {
    capabilities: capabilities.length,
    ran,
    refused,
    violations: violations.length
  })
})
