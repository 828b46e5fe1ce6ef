/**
 * States a limit for every text and list of the OpenAPI document whose schema states none, and the width of whole numbers.
 *
 * Requests never hold more than is stated: their schema, the router, Bun or the limit of a body refuses it. The limits of answers are
 * generous, so that a later version keeps them; a client may size its memory and its columns by them.
 */
import { isRecord } from "../../../schema/json/Json.ts"
import { timeCharsMax } from "../../../schema/Period.ts"

type Node = Readonly<Record<string, unknown>>

/** The router answers 404 to a longer part of a path (`maxParamLength`). */
const pathCharsMax = 100
/** Bun answers 431 if the request line and the headers have more bytes. */
const headBytesMax = 16_384
/** A body has up to 1 MiB (middleware/Body.ts). What providers answer is any JSON, and is not about here. */
const textCharsMax = 1_048_576
/** A batch in CSV has up to 8 MiB. */
const requestCharsMax = 8 * textCharsMax
/** A whole answer that is no JSON, such as a list in CSV. */
const answerCharsMax = 2_147_483_647
/** A page has up to 200 items. The other lists have what a run, a provider or an import has. */
const itemsMax = 100_000

/** Texts of a known format. */
const charsByFormat: Readonly<Record<string, number>> = { "date-time": timeCharsMax, date: 10, decimal: 40 }
/** Texts of a known form, by the name of their field. */
const charsByName: ReadonlyArray<readonly [RegExp, number]> = [
  [/^idempotency-key$|(^|_)id$|^(capability|provider|category)$/, 255],
  [/cursor$/, 200]
]

interface Place {
  /** The nearest field, parameter or component. */
  readonly name: string
  /** The limit of a text here. */
  readonly chars: number
  /** The limit of a body here that is one text. */
  readonly bodyChars: number
}

const withLimit = (schema: Node, { name, chars }: Place): Node => {
  const { type } = schema
  if (type === "integer") return { ...schema, format: schema["format"] ?? "int64" }
  if (type === "array") return { ...schema, maxItems: schema["maxItems"] ?? itemsMax }
  if (type !== "string" || ["maxLength", "enum", "const"].some((key) => key in schema)) return schema
  const ofFormat = charsByFormat[String(schema["format"])]
  const max = ofFormat ?? charsByName.find(([names]) => names.test(name))?.[1] ?? chars
  return { ...schema, maxLength: Math.min(chars, max) }
}

/** Members that hold a value and no schema. */
const values = new Set(["example", "examples", "default", "const", "enum"])
/** Members that hold schemas by name. */
const named = new Set(["properties", "patternProperties", "schemas"])
/** Members that hold texts of the head of a request or an answer. */
const heads = new Set(["headers", "parameters"])

const inside = (key: string, place: Place): Place => {
  if (heads.has(key)) return { ...place, chars: headBytesMax }
  if (key === "requestBody") return { ...place, bodyChars: requestCharsMax }
  return /^(application|text)\/(?!json$)/.test(key) ? { ...place, chars: place.bodyChars } : place
}

const limited = (node: unknown, place: Place): unknown => {
  if (Array.isArray(node)) return node.map((one) => limited(one, place))
  if (!isRecord(node)) return node
  const isParameter = place.chars === headBytesMax && typeof node["name"] === "string"
  const chars = isParameter && node["in"] === "path" ? pathCharsMax : place.chars
  const here = isParameter ? { ...place, name: String(node["name"]), chars } : place
  const members = Object.entries(node).map(([key, value]) => {
    if (values.has(key)) return [key, value]
    if (!named.has(key) || !isRecord(value)) return [key, limited(value, inside(key, here))]
    const fields = Object.entries(value).map(([name, one]) => [name, limited(one, { ...here, name })])
    return [key, Object.fromEntries(fields)]
  })
  return withLimit(Object.fromEntries(members), here)
}

const everywhere: Place = { name: "", chars: textCharsMax, bodyChars: answerCharsMax }

/** `document` with limits everywhere. */
export const withLimits = (document: Node): Node =>
  Object.fromEntries(Object.entries(document).map(([key, value]) => [key, limited(value, everywhere)]))
