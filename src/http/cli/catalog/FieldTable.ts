/** The fields of an input as a table for people. Programs read the JSON Schema itself, with `--json`. */
import { isRecord } from "../../../schema/json/Json.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { type Lines } from "../answers/show.ts"
import { table } from "../terminal/table.ts"
import { harmless, wrap } from "../terminal/text.ts"

interface Field {
  /** `data.email`; `contacts[].name` for a field of the objects in a list. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly about: string
}

type Node = Readonly<Record<string, unknown>>

const depthMax = 3
/** A longer table is not read. */
const fieldsMax = 60

const nodeOf = (value: unknown): Node => (isRecord(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const texts = (value: unknown): ReadonlyArray<string> => list(value).filter((one) => typeof one === "string")

const typeOf = (node: Node): string => {
  const choices = list(node["anyOf"] ?? node["oneOf"]).map(nodeOf)
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(" or ")
  if (node["enum"] !== undefined) return "choice"
  const names = typeof node["type"] === "string" ? [node["type"]] : texts(node["type"])
  const [name = "any"] = names.filter((one) => one !== "null")
  if (name === "array") return `list of ${typeOf(nodeOf(node["items"]))}`
  return name === "string" ? "text" : name
}

const aboutOf = (node: Node): string => {
  const { description, minimum, maximum, default: preset } = node
  const bounds = [
    minimum === undefined ? "" : `from ${String(minimum)}`,
    maximum === undefined ? "" : `up to ${String(maximum)}`
  ]
  const choices = list(node["enum"]).map(String).join(", ")
  const shown = isRecord(preset) || preset === undefined || preset === null ? "" : `default ${String(preset)}`
  return [
    typeof description === "string" ? description : "",
    choices,
    bounds.filter((one) => one !== "").join(" "),
    shown
  ]
    .filter((one) => one !== "")
    .join("; ")
}

const fieldsOf = (schema: Node, prefix: string, depth: number): ReadonlyArray<Field> => {
  const required = texts(schema["required"])
  return Object.entries(nodeOf(schema["properties"])).flatMap(([key, value]) => {
    const node = nodeOf(value)
    const name = `${prefix}${key}`
    const field = { name, type: typeOf(node), required: required.includes(key), about: aboutOf(node) }
    const inside = depth >= depthMax ? [] : fieldsOf(node, `${name}.`, depth + 1)
    const ofItems = depth >= depthMax ? [] : fieldsOf(nodeOf(node["items"]), `${name}[].`, depth + 1)
    return [field, ...inside, ...ofItems]
  })
}

/** "full_name + company_domain, or …" for alternatives that only require fields. */
const alternativesOf = (schema: Node): string | null => {
  const groups = list(schema["anyOf"]).map((one) => texts(nodeOf(one)["required"]))
  return groups.length === 0 || groups.some((names) => names.length === 0)
    ? null
    : groups.map((names) => names.join(" + ")).join(", or ")
}

/** The table of the fields of a JSON Schema. Empty for an input without fields. */
export const fieldLines = (schema: unknown, screen: ScreenShape): Lines => {
  const root = nodeOf(schema)
  const fields = fieldsOf(root, "", 1)
  if (fields.length === 0) return []
  const alternatives = alternativesOf(root)
  const left = fields.length - fieldsMax
  return [
    ...table(
      fields.slice(0, fieldsMax),
      [
        { title: "FIELD", of: ({ name }) => name, least: 14 },
        { title: "TYPE", of: ({ type }) => type, least: 8 },
        { title: "REQUIRED", of: ({ required }) => (required ? "yes" : "") },
        { title: "WHAT IT IS", of: ({ about }) => about, least: 20 }
      ],
      screen.width,
      (line) => screen.paint("dim", line)
    ),
    ...(left > 0 ? [`… and ${left} more. All of them: --json`] : []),
    ...(alternatives === null ? [] : ["", ...wrap(`At least one of these: ${harmless(alternatives)}`, screen.width)])
  ]
}
