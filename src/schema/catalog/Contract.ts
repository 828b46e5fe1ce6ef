/**
 * The input or output contract of a capability: one JSON Schema (draft 2020-12) that inspect shows and that run enforces.
 *
 * Types come from an Effect schema, the published document is generated from it, and the very same document is what Ajv
 * compiles. So "run accepts exactly what inspect stated" holds by construction.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { type JsonSchema, Schema } from "effect"
import { defined } from "../defined.ts"
import { shownName } from "../json/StorableText.ts"
import { didYouMean } from "../suggestion.ts"

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

let madeAjv: Ajv2020 | undefined
const ajv = (): Ajv2020 => {
  if (madeAjv === undefined) {
    // Verbose: `issueOf` needs the schema and the value around an unknown field.
    madeAjv = new Ajv2020({ allErrors: true, strict: false, ownProperties: true, unicodeRegExp: true, verbose: true })
    addFormats(madeAjv, ["email", "uri", "hostname", "date", "date-time"])
  }
  return madeAjv
}

const unescaped = (segment: string): string => segment.replaceAll("~1", "/").replaceAll("~0", "~")

/** Nobody reads more issues than this. A hostile input may have as many unknown fields as fit into a body. */
const issuesMax = 20

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isUnknownField = ({ keyword }: ErrorObject): boolean => keyword === "additionalProperties"

/** The nearest known field to an unknown one, among those that the value does not have yet. */
const meantBy = (name: unknown, { parentSchema, data }: ErrorObject): string => {
  const properties: unknown = parentSchema?.["properties"]
  if (typeof name !== "string" || !isObject(properties)) return ""
  const members = isObject(data) ? data : {}
  return didYouMean(
    name,
    Object.keys(properties).filter((one) => !Object.hasOwn(members, one))
  )
}

/** The groups of an `anyOf` that only requires fields, as "a + b, or c"; null for every other error. Needs `verbose`. */
const groupsIn = ({ keyword, schema }: ErrorObject): string | null => {
  if (keyword !== "anyOf" || !Array.isArray(schema)) return null
  const groups = schema.map((one) => (isObject(one) && Object.keys(one).length === 1 ? one["required"] : null))
  return groups.every(Array.isArray) ? groups.map((names) => names.join(" + ")).join(", or ") : null
}

/** A failed `anyOf` of groups reports every branch too. One sentence that names the groups replaces them. */
export const withoutBranches = (errors: ReadonlyArray<ErrorObject>): ReadonlyArray<ErrorObject> => {
  const place = ({ instancePath, schemaPath }: ErrorObject) => `${instancePath} ${schemaPath}`
  const lacking = new Set(errors.filter((error) => groupsIn(error) !== null).map(place))
  return errors.filter(
    (error) => !lacking.has(place(error).replace(/\/\d+\/required$/u, "")) || groupsIn(error) !== null
  )
}

/** Ajv says `must match format "hostname"`. */
const formats: Readonly<Record<string, string>> = {
  hostname: "must be a domain such as example.com",
  email: "must be an e-mail address such as ada@example.com",
  uri: "must be an address such as https://example.com/about",
  date: "must be a date such as 2026-11-22",
  "date-time": "must be a time such as 2026-11-22T09:30:00Z"
}

/** The rule that a value breaks. */
const ruleOf = ({ keyword, params, message = "is not valid" }: ErrorObject): string =>
  keyword === "enum"
    ? `must be one of ${JSON.stringify(params["allowedValues"])}`
    : keyword === "type" && params["type"] === "object"
      ? "must be a JSON object"
      : keyword === "format"
        ? (formats[String(params["format"])] ?? message)
        : message

/** The message for an Ajv error. All refused inputs use it. It suggests names only if the schema was compiled as `verbose`. */
export const issueOf = (error: ErrorObject): Issue => {
  const base = error.instancePath
    .split("/")
    .slice(1)
    .map((segment) => shownName(unescaped(segment)))
    .join(".")
  const child =
    error.keyword === "required"
      ? error.params["missingProperty"]
      : error.keyword === "additionalProperties"
        ? error.params["additionalProperty"]
        : undefined
  const name = typeof child === "string" ? shownName(child) : null
  const path = name === null ? base : base === "" ? name : `${base}.${name}`
  const groups = groupsIn(error)
  const suggested = isUnknownField(error) ? meantBy(child, error) : ""
  const message =
    error.keyword === "required"
      ? "is required"
      : error.keyword === "additionalProperties"
        ? `is not a known field${suggested === "" ? "" : `.${suggested}`}`
        : groups === null
          ? ruleOf(error)
          : `needs ${groups}`
  return { path, message }
}

/** Keywords that mean the same inside and outside of an `allOf`. */
const independent = new Set([
  ...["description", "title", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties"]
])

/** Merges a chain of `allOf`, which Effect generates for several checks on one value. A flat object is easier to read. */
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

interface ContractOptions {
  readonly anyOf?: ReadonlyArray<ReadonlyArray<string>>
  readonly title?: string
}

const published = <T>(schema: Schema.Codec<T, unknown>, options: ContractOptions) => {
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
  const properties = document.schema["properties"]
  const fields = typeof properties === "object" && properties !== null ? Object.keys(properties) : []
  return { jsonSchema, fields }
}

/**
 * Makes a contract. `anyOf` lists groups of fields of which at least one group must be present in full
 * (`[["email"], ["full_name", "company_domain"]]`).
 *
 * The document is generated, and compiled, on first use: a process uses few contracts, and all of them would take most of its start.
 */
export const contract = <T>(schema: Schema.Codec<T, unknown>, options: ContractOptions = {}): Contract<T> => {
  let document: ReturnType<typeof published> | undefined
  const generated = () => (document ??= published(schema, options))
  let compiled: ValidateFunction<T> | undefined
  const validate = () => (compiled ??= ajv().compile<T>(generated().jsonSchema))
  /** A run asks for its input once for each offer. Nobody changes a value that was accepted. */
  const accepted = new WeakSet<object>()
  const accepts = (value: unknown): value is T => {
    if (typeof value !== "object" || value === null) return validate()(value)
    if (accepted.has(value)) return true
    const isValid = validate()(value)
    if (isValid) accepted.add(value)
    return isValid
  }
  return {
    get jsonSchema() {
      return generated().jsonSchema
    },
    get fields() {
      return generated().fields
    },
    accepts,
    issues: (value) => {
      if (accepts(value)) return []
      const errors = withoutBranches(validate().errors ?? [])
      // A misspelled field is often the one that a group lacks, so it comes first.
      const group = errors.filter((error) => error.instancePath === "" && groupsIn(error) !== null)
      const unknown = group.length === 0 ? [] : errors.filter(isUnknownField)
      const others = errors.filter((error) => !group.includes(error) && !(group.length > 0 && isUnknownField(error)))
      return [...unknown, ...group, ...others].slice(0, issuesMax).map(issueOf)
    }
  }
}
