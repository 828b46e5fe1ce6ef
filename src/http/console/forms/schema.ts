/**
 * Fields of a form, read from a JSON Schema (draft 2020-12) as inspect shows it. Pure.
 *
 * Schemas of raw endpoints come from third parties. What a form can't show, such as a choice between objects, becomes a field for JSON, so
 * every request can be written. The service checks each value; the form only helps.
 */
import { isRecord } from "../data/json.ts"
import { isCalledRequired, labelWords, plainText } from "./providerText.ts"

type Node = Readonly<Record<string, unknown>>

interface Common {
  /** The member of the object that it belongs to. Empty for the form itself, and for items of a list. */
  readonly name: string
  readonly hint: string
  readonly required: boolean
}

export type Field = Common &
  (
    | { readonly kind: "text"; readonly format: string; readonly long: boolean; readonly lengthMax: number | null }
    | { readonly kind: "number"; readonly whole: boolean }
    | { readonly kind: "choice"; readonly options: ReadonlyArray<string> }
    | { readonly kind: "boolean" }
    /** A list of texts or numbers, one a line. `single`: one alone may stand without a list. `options`: what it chooses from. */
    | {
        readonly kind: "lines"
        readonly numbers: boolean
        readonly single: boolean
        readonly options?: ReadonlyArray<string>
      }
    /** Three kinds of our own operations: yes or left out, decimal USD, and a moment, which is typed in local time. */
    | { readonly kind: "flag" }
    | { readonly kind: "amount" }
    | { readonly kind: "time" }
    | { readonly kind: "list"; readonly item: Field }
    /** `core`: the member without which the others say nothing, such as the limit of a budget. */
    | { readonly kind: "object"; readonly fields: ReadonlyArray<Field>; readonly core?: string | undefined }
    | { readonly kind: "json" }
  )

export type ObjectField = Extract<Field, { kind: "object" }>

const nestingMax = 4
const referencesMax = 8
/** Alternatives of alternatives multiply, so each level counts as several references. */
const alternativesCost = 4
/** A schema that contains itself several times would have more fields than a page can show. The others become JSON. */
const fieldsMax = 400

/** The schema that references point into, and how many more fields the form may have. */
interface Whole {
  readonly root: Node
  left: number
}
/** Longer texts get a larger box. */
const longChars = 1_000

const record = (value: unknown): Node => (isRecord(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const texts = (value: unknown): ReadonlyArray<string> => list(value).filter((one) => typeof one === "string")
const isEmpty = (node: Node) => Object.keys(node).length === 0

const pointed = (root: Node, reference: string): Node =>
  record(
    reference
      .replace(/^#\/?/, "")
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((at, part) => record(at)[part], root)
  )

const typesOf = (node: Node): ReadonlyArray<string> => {
  const { type } = node
  return (typeof type === "string" ? [type] : texts(type)).filter((one) => one !== "null")
}
const optionsOf = (node: Node): ReadonlyArray<unknown> => ("const" in node ? [node["const"]] : list(node["enum"]))
const isNull = (node: Node) => node["type"] === "null" || ("const" in node && node["const"] === null)

const merged = (a: Node, b: Node): Node => ({
  ...a,
  ...b,
  properties: { ...record(a["properties"]), ...record(b["properties"]) },
  required: [...texts(a["required"]), ...texts(b["required"])]
})

/** The same schema without references, without null as an alternative, and with the parts of `allOf` in one. */
const resolved = (node: Node, root: Node, references = 0): Node => {
  const { $ref: reference, allOf, anyOf, oneOf, ...rest } = node
  if (references > referencesMax) return {}
  if (typeof reference === "string") return resolved({ ...pointed(root, reference), ...rest }, root, references + 1)
  const parts = list(allOf).map((one) => resolved(record(one), root, references + alternativesCost))
  if (parts.length > 0)
    return resolved(parts.reduce(merged, { ...rest, anyOf, oneOf }), root, references + alternativesCost)
  // Alternatives of an object with members are rules about them, such as "one of these is required".
  if (!isEmpty(record(rest["properties"]))) return rest
  const choices = list(anyOf ?? oneOf)
    .map((one) => resolved(record(one), root, references + alternativesCost))
    .filter((one) => !isNull(one))
  const [only] = choices
  if (choices.length === 0) return rest
  if (choices.length === 1 && only !== undefined) return { ...only, ...rest }
  const options = choices.map(optionsOf)
  return options.every((one) => one.length > 0) ? { ...rest, enum: options.flat() } : { ...rest, mixed: choices }
}

const bounds: ReadonlyArray<readonly [string, (value: string) => string]> = [
  ["minimum", (value) => `at least ${value}`],
  ["maximum", (value) => `at most ${value}`],
  ["maxItems", (value) => `at most ${value} items`],
  ["default", (value) => `default: ${value}`]
]

/** The description, and the bounds that it may leave out. */
const hintOf = (node: Node): string => {
  const { description } = node
  const words = typeof description === "string" ? plainText(description) : ""
  const limits = bounds.flatMap(([name, sentence]) => {
    const value = node[name]
    const isShown =
      typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value !== "")
    return isShown ? [sentence(String(value))] : []
  })
  const limit = limits.length === 0 ? "" : `(${limits.join(", ")})`
  return [words, limit].filter((one) => one !== "").join(" ")
}

const isScalar = ({ kind }: Field) => kind === "text" || kind === "number"

/** Hints name other fields of the form as their labels do. */
const withLabels = (field: Field, names: ReadonlyArray<string>): Field => ({
  ...field,
  hint: field.hint.replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g, (name) =>
    names.includes(name) ? labelWords(name) : name
  )
})

const fieldsIn = (node: Node, whole: Whole, depth: number): ReadonlyArray<Field> => {
  const needed = new Set(texts(node["required"]))
  const names = Object.keys(record(node["properties"]))
  return Object.entries(record(node["properties"])).map(([name, child]) =>
    withLabels(
      fieldOf(
        record(child),
        whole,
        {
          name,
          required: needed.has(name) || (needed.size === 0 && isCalledRequired(String(record(child)["description"])))
        },
        depth
      ),
      names
    )
  )
}

/** Either a text or a list of texts, such as one recipient or several. */
const isOneOrMany = (node: Node, whole: Whole, depth: number): boolean => {
  const choices = list(node["mixed"])
  if (choices.length !== 2 || depth >= nestingMax) return false
  const fields = choices.map((one) => fieldOf(record(one), whole, { name: "", required: true }, depth + 1))
  return (
    fields.some(({ kind }) => kind === "text") &&
    fields.some((one) => one.kind === "lines" && !one.numbers && !one.single)
  )
}

const fieldOf = (
  given: Node,
  whole: Whole,
  { name, required }: { readonly name: string; readonly required: boolean },
  depth: number
): Field => {
  whole.left -= 1
  const node = resolved(given, whole.root)
  const common = { name, required, hint: hintOf(node) || hintOf(given) }
  const options = optionsOf(node)
  const [type, other] = typesOf(node)
  if (options.length > 0) return { ...common, kind: "choice", options: options.map((one) => JSON.stringify(one)) }
  if (isOneOrMany(node, whole, depth)) return { ...common, kind: "lines", numbers: false, single: true }
  if (other !== undefined || "mixed" in node || whole.left <= 0) return { ...common, kind: "json" }
  if (type === "boolean") return { ...common, kind: "boolean" }
  if (type === "integer" || type === "number") return { ...common, kind: "number", whole: type === "integer" }
  if (type === "string") {
    const { format, maxLength } = node
    return {
      ...common,
      kind: "text",
      format: typeof format === "string" ? format : "",
      lengthMax: typeof maxLength === "number" ? maxLength : null,
      long: typeof maxLength === "number" && maxLength > longChars && format !== "uri" && !/(url|cursor)$/i.test(name)
    }
  }
  // A text or a number of the deepest level still has its own input.
  if (depth >= nestingMax) return { ...common, kind: "json" }
  if (type === "array") {
    const item = fieldOf(record(node["items"]), whole, { name: "", required: true }, depth + 1)
    if (isScalar(item)) return { ...common, kind: "lines", numbers: item.kind === "number", single: false }
    return item.kind === "json" ? { ...common, kind: "json" } : { ...common, kind: "list", item }
  }
  const fields = fieldsIn(node, whole, depth + 1)
  return fields.length === 0 ? { ...common, kind: "json" } : { ...common, kind: "object", fields }
}

/** The field of a whole input. A schema without members is written as JSON. */
export const formOf = (schema: unknown): Field =>
  fieldOf(record(schema), { root: record(schema), left: fieldsMax }, { name: "", required: true }, 0)

/** Groups of members of which one is needed, such as first and last name, or the full name. */
export const groupsOf = (schema: unknown): ReadonlyArray<ReadonlyArray<string>> => {
  const { anyOf, oneOf } = record(schema)
  return list(anyOf ?? oneOf)
    .map((one) => texts(record(one)["required"]))
    .filter((names) => names.length > 0)
}

/**
 * The same groups as a list of choices, each said once: full name or its parts, and domain or company. Members that never or always come
 * together are in one choice. Null if the groups are not all combinations of the choices.
 */
export const choicesOf = (
  groups: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> | null => {
  const signOf = (name: string) => groups.map((group) => group.includes(name))
  const belongs = (one: string, other: string) => {
    const [a, b] = [signOf(one), signOf(other)]
    return a.every((has, at) => has === b[at]) || a.every((has, at) => !has || b[at] !== true)
  }
  const names = [...new Set(groups.flat())]
  const choices = names.reduce<ReadonlyArray<ReadonlyArray<string>>>((before, name) => {
    const near = before.filter((choice) => choice.some((other) => belongs(name, other)))
    return [...before.filter((choice) => !near.includes(choice)), [...near.flat(), name]]
  }, [])
  const placeOf = ([first = ""]: ReadonlyArray<string>) => names.indexOf(first)
  const ways = choices
    .toSorted((one, other) => placeOf(one) - placeOf(other))
    .map((choice) => [
      ...new Map(
        groups.map((group) => {
          const part = group.filter((name) => choice.includes(name))
          return [part.join(" "), part] as const
        })
      ).values()
    ])
  const isWhole = ways.every((alternatives) => alternatives.every((part) => part.length > 0))
  return isWhole && ways.reduce((count, { length }) => count * length, 1) === groups.length ? ways : null
}
