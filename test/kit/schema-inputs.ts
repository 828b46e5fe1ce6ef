/**
 * Inputs made from a published JSON Schema: what it accepts, and what it refuses.
 *
 * Reads the document as any client could, so it knows nothing of how the service checks it.
 */
import fc from "fast-check"

type Schema = Record<string, any>

const hosts = fc
  .tuple(fc.stringMatching(/^[a-z][a-z0-9-]{0,12}[a-z0-9]$/), fc.constantFrom("com", "org", "io", "co.uk"))
  .map(([name, tld]) => `${name}.${tld}`)
const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  hostname: hosts,
  email: fc
    .tuple(fc.stringMatching(/^[a-z0-9][a-z0-9.+_-]{0,10}[a-z0-9]$/), hosts)
    .map(([name, host]) => `${name.replace(/\.{2,}/g, ".")}@${host}`),
  date: fc
    .date({ min: new Date("1990-01-01"), max: new Date("2030-12-31"), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10)),
  "date-time": fc
    .date({ min: new Date("1990-01-01"), max: new Date("2030-12-31"), noInvalidDate: true })
    .map((day) => day.toISOString()),
  uri: hosts.map((host) => `https://${host}/page`)
}

const texts = ({ minLength = 0, maxLength = 200, pattern, format }: Schema): fc.Arbitrary<string> => {
  if (format !== undefined && formats[format] !== undefined)
    return formats[format].filter((text) => text.length <= maxLength)
  if (pattern !== undefined)
    return fc
      .stringMatching(new RegExp(pattern))
      .filter((text) => !text.includes("\0") && text.isWellFormed() && [...text].length <= maxLength)
  const longest = Math.max(minLength, Math.min(maxLength, 60))
  return (
    fc
      .string({ unit: "grapheme", minLength, maxLength: longest })
      .map((text) => text.normalize("NFC").slice(0, maxLength) || "x")
      // A NUL is refused at every door.
      .filter((text) => text.isWellFormed() && !text.includes("\0") && [...text].length >= minLength)
  )
}

/** Anything that the schema accepts. Alternatives at the top (`anyOf` of required groups) are honoured. */
export const accepted = (schema: Schema): fc.Arbitrary<any> => {
  if (schema["enum"] !== undefined) return fc.constantFrom(...schema["enum"])
  if (schema["const"] !== undefined) return fc.constant(schema["const"])
  if (schema["anyOf"] !== undefined && schema["properties"] === undefined)
    return fc.oneof(...schema["anyOf"].map((one: Schema) => accepted(one)))
  switch (schema["type"]) {
    case "string":
      return texts(schema)
    case "integer":
      return fc.integer({ min: schema["minimum"] ?? -1_000, max: schema["maximum"] ?? 1_000 })
    case "number":
      return fc.integer({ min: Math.ceil(schema["minimum"] ?? -1_000), max: Math.floor(schema["maximum"] ?? 1_000) })
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(accepted(schema["items"] ?? {}), {
        minLength: schema["minItems"] ?? 0,
        maxLength: Math.min(schema["maxItems"] ?? 3, Math.max(3, schema["minItems"] ?? 0))
      })
    case "object":
      return objects(schema)
    case undefined:
      return fc.jsonValue({ maxDepth: 2 })
    default:
      throw new Error(`no generator for ${JSON.stringify(schema).slice(0, 200)}`)
  }
}

const objects = (schema: Schema): fc.Arbitrary<any> => {
  const properties: Record<string, Schema> = schema["properties"] ?? {}
  const required: ReadonlyArray<string> = schema["required"] ?? []
  const groups: ReadonlyArray<ReadonlyArray<string>> = (schema["anyOf"] ?? [{}]).map(
    (one: Schema) => one["required"] ?? []
  )
  const extra = schema["additionalProperties"]
  const known = fc.constantFrom(...groups).chain((group) =>
    fc.record(Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, accepted(child)])), {
      requiredKeys: [...new Set([...required, ...group])]
    })
  )
  if (typeof extra !== "object" || Object.keys(properties).length > 0) return known
  return fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/), accepted(extra), {
    maxKeys: schema["maxProperties"] ?? 3
  })
}

/** A value of another kind than the schema wants, or one beyond its bounds. */
const spoiled: ReadonlyArray<unknown> = [
  "",
  null,
  0,
  -1,
  1.5,
  1e9,
  true,
  [],
  {},
  ["x"],
  { x: 1 },
  "x".repeat(600_001),
  [[]],
  [null]
]

/** An accepted input with one field spoiled, removed or added: mostly refused, and by chance accepted. */
export const spoilt = (schema: Schema): fc.Arbitrary<any> =>
  fc
    .tuple(
      accepted(schema),
      fc.constantFrom(...Object.keys(schema["properties"])),
      fc.constantFrom(...spoiled),
      fc.constantFrom("set", "set", "set", "drop", "add")
    )
    .map(([input, name, value, how]) => {
      if (how === "drop") return Object.fromEntries(Object.entries(input).filter(([key]) => key !== name))
      return how === "add" ? { ...input, [`${name}x`]: value } : { ...input, [name]: value }
    })
