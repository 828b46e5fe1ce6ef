/**
 * A shape as the catalog publishes it: one JSON Schema (draft 2020-12) that inspect shows and that run enforces.
 *
 * Types come from an Effect schema, the published document is generated from it, and the very same document is what Ajv
 * compiles. So "run accepts exactly what inspect stated" holds by construction.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { type JsonSchema, Schema } from "effect"
import { defined } from "../defined.ts"

export interface Issue {
  /** Dotted path inside the input: `company_domain`, `titles.0`; empty for the input itself. */
  readonly path: string
  readonly message: string
}

export interface Contract<T> {
  readonly jsonSchema: JsonSchema.JsonSchema
  /** Top-level field names, in order. */
  readonly fields: ReadonlyArray<string>
  readonly accepts: (value: unknown) => value is T
  /** Empty when the value is accepted. */
  readonly issues: (value: unknown) => ReadonlyArray<Issue>
}

const ajv = new Ajv2020({ allErrors: true, strict: false, ownProperties: true, unicodeRegExp: true })
addFormats(ajv, ["email", "uri", "hostname", "date", "date-time"])

const unescaped = (segment: string): string => segment.replaceAll("~1", "/").replaceAll("~0", "~")

/** How every refusal of an input is worded, whoever compiled the schema. */
export const issueOf = (error: ErrorObject): Issue => {
  const base = error.instancePath.split("/").slice(1).map(unescaped).join(".")
  const child =
    error.keyword === "required"
      ? error.params["missingProperty"]
      : error.keyword === "additionalProperties"
        ? error.params["additionalProperty"]
        : undefined
  const path = typeof child === "string" ? (base === "" ? child : `${base}.${child}`) : base
  const message =
    error.keyword === "required"
      ? "is required"
      : error.keyword === "additionalProperties"
        ? "is not a known field"
        : error.keyword === "enum"
          ? `must be one of ${JSON.stringify(error.params["allowedValues"])}`
          : (error.message ?? "is not valid")
  return { path, message }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Keywords that mean the same beside their neighbours as inside an `allOf` of their own. */
const independent = new Set([
  ...["description", "title", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties"]
])

/** Several checks on one value arrive as a chain of `allOf`; an agent reads them better as one flat object. */
const flatten = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(flatten)
  if (!isObject(node)) return node
  const { allOf, ...rest } = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, flatten(value)]))
  if (!Array.isArray(allOf)) return allOf === undefined ? rest : { ...rest, allOf }
  const kept = allOf.filter((member) => {
    if (!isObject(member) || Object.keys(member).some((key) => key in rest || !independent.has(key))) return true
    Object.assign(rest, member)
    return false
  })
  return kept.length === 0 ? rest : { ...rest, allOf: kept }
}

/**
 * Compiles a contract. `anyOf` lists groups of fields of which at least one group must be present in full
 * (`[["email"], ["full_name", "company_domain"]]`).
 */
export const contract = <T>(
  schema: Schema.Codec<T, unknown>,
  options: { readonly anyOf?: ReadonlyArray<ReadonlyArray<string>>; readonly title?: string } = {}
): Contract<T> => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  const anyOf =
    options.anyOf === undefined ? {} : { anyOf: options.anyOf.map((required) => ({ required: [...required] })) }
  const definitions = Object.keys(document.definitions).length === 0 ? {} : { $defs: document.definitions }
  const flat = flatten({ ...document.schema, ...definitions })
  const jsonSchema: JsonSchema.JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...defined({ title: options.title }),
    ...(isObject(flat) ? flat : {}),
    ...anyOf
  }
  let compiled: ValidateFunction<T> | undefined
  // Compiled at its first use: a process meets few of them, and all at once would be most of its start.
  const validate = () => (compiled ??= ajv.compile<T>(jsonSchema))
  const properties = document.schema["properties"]
  const groups = options.anyOf?.map((group) => group.join(" + ")).join(", or ")
  return {
    jsonSchema,
    fields: typeof properties === "object" && properties !== null ? Object.keys(properties) : [],
    accepts: (value): value is T => validate()(value),
    issues: (value) => {
      const check = validate()
      if (check(value)) return []
      const errors = check.errors ?? []
      // A failed anyOf reports every branch; one sentence that names the alternatives says more.
      const lacksGroup = errors.some((error) => error.keyword === "anyOf" && error.instancePath === "")
      const own = errors.filter((error) => !(lacksGroup && error.schemaPath.startsWith("#/anyOf"))).map(issueOf)
      return lacksGroup && groups !== undefined ? [{ path: "", message: `needs ${groups}` }, ...own] : own
    }
  }
}
