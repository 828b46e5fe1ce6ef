/** Makes one valid example request per endpoint: the documented one, a reduced form of it, or a generated one. */
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js"
import { foreignAjv } from "../../input/EndpointInput.ts"
import { isJsonObject, type Json, type JsonObject } from "../kit/json.ts"
import { type Definitions, sample } from "../schema/sample.ts"
import { withoutSecrets } from "../schema/secrets.ts"

/** A wrong part is taken out, then the rest is looked at again. */
const roundsMax = 6
/** Bytes of JSON; longer ones show nothing more. */
const exampleBytesMax = 20_000
/** Optional query fields in an example: some providers document thirty filters that exclude each other. */
const optionalFieldsMax = 5

/** What an endpoint must show an example of. */
export interface Part {
  /** Its name among the parts that were given. */
  readonly index: string
  readonly schema: JsonObject
  readonly documented: Json | undefined
}

/** `reduced`: the documented example doesn't fit the schema, so parts of it are missing. */
export type Checked = { readonly example: Json; readonly reduced: boolean } | { readonly problem: string }

export interface Examples {
  /** Compiles the schema as a by-product; `broken` when it can't be compiled. */
  readonly find: (part: Part) => Checked | { readonly broken: string }
}

/** The names and positions that lead to what an error is about. */
const placeOf = (error: ErrorObject): ReadonlyArray<string> => {
  const steps = error.instancePath.split("/").slice(1)
  const extra: unknown = error.params["additionalProperty"] ?? error.params["unevaluatedProperty"]
  const names = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  return typeof extra === "string" ? [...names, extra] : names
}

/** The value with one part of it changed; undefined takes the part out. */
const change = (value: Json, place: ReadonlyArray<string>, to: (part: Json) => Json | undefined): Json | undefined => {
  const [step, ...rest] = place
  if (step === undefined) return to(value)
  const within = (key: string, child: Json): ReadonlyArray<Json> => {
    const next = key === step ? change(child, rest, to) : child
    return next === undefined ? [] : [next]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => within(String(index), item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => within(key, child).map((next) => [key, next]))
  )
}

/** `"true"` where a boolean belongs: documents quote what is sent as text anyway. */
const mended =
  ({ keyword, params }: ErrorObject) =>
  (part: Json): Json | undefined => {
    const types: ReadonlyArray<unknown> = [params["type"]].flat()
    if (keyword !== "type" || typeof part !== "string") return undefined
    if ((part === "true" || part === "false") && types.includes("boolean")) return part === "true"
    const numeric = /^-?\d{1,15}(\.\d{1,10})?$/.test(part) && (types.includes("number") || types.includes("integer"))
    return numeric ? Number(part) : undefined
  }

const accepts = (validate: ValidateFunction, value: Json): boolean => {
  try {
    return validate(value)
  } catch {
    return false
  }
}

/** The value without its wrong parts, if anything is left that fits. */
const reduced = (
  validate: ValidateFunction,
  value: Json
): { readonly value: Json; readonly cut: boolean } | undefined => {
  let current = value
  let cut = false
  for (let round = 0; round < roundsMax; round++) {
    if (accepts(validate, current)) return { value: current, cut }
    const parts = (validate.errors ?? [])
      .map((error) => ({ place: placeOf(error), to: mended(error) }))
      .filter(({ place }) => place.length > 0)
    // From the back, so that positions in a list stay right.
    const next = parts.reverse().reduce<Json>((whole, { place, to }) => {
      const part = (old: Json) => {
        const next = to(old)
        cut ||= next === undefined
        return next
      }
      return change(whole, place, part) ?? whole
    }, current)
    if (JSON.stringify(next) === JSON.stringify(current)) return undefined
    current = next
  }
  return undefined
}

/** Required fields, and the first few of the others. */
export const fewOf = (schema: JsonObject, examples: ReadonlyMap<string, Json>): JsonObject | undefined => {
  const { required } = schema
  const names = Array.isArray(required) ? required : []
  const mandatory = [...examples].filter(([name]) => names.includes(name))
  const optional = [...examples].filter(([name]) => !names.includes(name)).slice(0, optionalFieldsMax)
  return examples.size === 0 ? undefined : Object.fromEntries([...mandatory, ...optional])
}

const both = (madeUp: Json | undefined, documented: Json): ReadonlyArray<Json> =>
  madeUp !== undefined && isJsonObject(madeUp) && isJsonObject(documented) ? [{ ...madeUp, ...documented }] : []

/** All schemas that share definitions, so that each definition is compiled once. */
export const examples = (definitions: Definitions, parts: ReadonlyMap<string, JsonObject>): Examples => {
  const ajv = foreignAjv({ allErrors: true, validateSchema: false })
  const compile = (index: string): ValidateFunction | string => {
    try {
      const validate = ajv.getSchema(`document#/parts/${index}`)
      return validate ?? "it is not there"
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 200) : "it is unreadable"
    }
  }
  ajv.addSchema({ $id: "document", $defs: definitions, parts: Object.fromEntries(parts) })
  return {
    find: ({ index, schema, documented }) => {
      const validate = compile(index)
      if (typeof validate === "string") return { broken: validate }
      const shownValue = documented === undefined ? undefined : withoutSecrets(documented)
      const shortExample =
        shownValue !== undefined && JSON.stringify(shownValue).length <= exampleBytesMax ? shownValue : undefined
      const first = sample(schema, definitions)
      const madeUp = first === undefined ? undefined : withoutSecrets(first)
      const documentedOnes = shortExample === undefined ? [] : [shortExample, ...both(madeUp, shortExample)]
      const contradicts = shortExample !== undefined
      for (const candidates of [documentedOnes, madeUp === undefined ? [] : [madeUp]]) {
        const other = contradicts && candidates !== documentedOnes
        const whole = candidates.find((candidate) => accepts(validate, candidate))
        if (whole !== undefined) return { example: whole, reduced: other }
        for (const candidate of candidates) {
          const fitting = reduced(validate, candidate)
          if (fitting === undefined || JSON.stringify(fitting.value) === "{}") continue
          return { example: fitting.value, reduced: other || (contradicts && fitting.cut) }
        }
      }
      return accepts(validate, {}) ? { example: {}, reduced: contradicts } : { problem: "no example fits its schema" }
    }
  }
}
