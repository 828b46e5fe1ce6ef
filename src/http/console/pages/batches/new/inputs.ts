/**
 * Makes the input of a capability from the cells of a row, and names what is wrong with it.
 *
 * The check covers what the JSON Schema of a capability says about one field, and which fields it needs together. The service checks each
 * row again; a row that it refuses costs nothing.
 */
import { isRecord } from "../../../data/json.ts"
import { groupsOf } from "../../../forms/schema.ts"
import { type CellValue, cellTypeOf, cellValue } from "../../../../client/Columns.ts"

export interface InputField {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly required: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

export interface InputForm {
  readonly fields: ReadonlyArray<InputField>
  /** Sets of fields of which a row needs one. Empty if there is no such rule. */
  readonly together: ReadonlyArray<ReadonlyArray<string>>
}

export type Input = Readonly<Record<string, CellValue>>

type Fields = Readonly<Record<string, unknown>>
const textsOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : []

/** The form of a JSON Schema as POST /v1/inspect has it. */
export const formOf = (schema: Fields): InputForm => {
  const required = textsOf(schema["required"])
  const fields = Object.entries(Object(schema["properties"])).map(([name, property]): InputField => {
    const field = isRecord(property) ? property : {}
    const { description } = field
    return {
      ...{ name, required: required.includes(name), schema: field, type: cellTypeOf(field) ?? "string" },
      description: typeof description === "string" ? description : ""
    }
  })
  return { fields, together: groupsOf(schema) }
}

/** Columns by field. A field without a column is left out. */
export type Mapping = Readonly<Record<string, string>>

export const inputsOf = (
  form: InputForm,
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  mapping: Mapping
): ReadonlyArray<Input> => {
  const places = form.fields.map(({ name, type }) => ({
    name,
    type,
    at: mapping[name] ? header.indexOf(mapping[name]) : -1
  }))
  return rows.map((row) =>
    Object.fromEntries(
      places.flatMap(({ name, type, at }) => {
        const cell = row[at] ?? ""
        return cell === "" ? [] : [[name, cellValue(cell, type)]]
      })
    )
  )
}

const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** Lists of companies have websites where a domain is asked for. The service takes their hosts. */
const hostname = /^(https?:\/\/\S+|[^\s./@:]+(\.[^\s./@:]+)+)$/i

/** The keywords that bound a value of a JavaScript type, and what is said of one below or above them. */
const bounds = {
  string: ["minLength", "is shorter than", "maxLength", "is longer than", " characters"],
  number: ["minimum", "is less than", "maximum", "is more than", ""],
  object: ["minItems", "has fewer than", "maxItems", "has more than", " values"]
} as const

const boundProblem = (kind: keyof typeof bounds, size: number, schema: Fields): string | null => {
  const [min, below, max, above, noun] = bounds[kind]
  const [least, most] = [schema[min], schema[max]]
  if (typeof least === "number" && size < least) return `${below} ${least}${noun}`
  return typeof most === "number" && size > most ? `${above} ${most}${noun}` : null
}

const textProblem = (value: string, schema: Fields): string | null => {
  const allowed = textsOf(schema["enum"])
  if (!value.isWellFormed()) return "has half of a character"
  const outside = boundProblem("string", [...value].length, schema)
  if (outside !== null) return outside
  if (allowed.length > 0 && !allowed.includes(value)) return `is none of ${allowed.join(", ")}`
  if (schema["format"] === "email" && !email.test(value)) return "is no e-mail address"
  if (schema["format"] === "hostname" && !hostname.test(value)) return "is no domain such as example.com"
  return null
}

const fieldProblem = (value: CellValue, { type, schema }: InputField): string | null => {
  if (typeof value === "boolean") return null
  if (typeof value === "number")
    return type === "integer" && !Number.isInteger(value) ? "is no whole number" : boundProblem("number", value, schema)
  if (type === "integer" || type === "number") return "is no number"
  if (type === "boolean") return "is neither true nor false"
  if (type === "object") return "can't come from a cell"
  if (typeof value === "string") return textProblem(value, schema)
  const items = isRecord(schema["items"]) ? schema["items"] : {}
  const problems = [boundProblem("object", value.length, schema), ...value.map((one) => textProblem(one, items))]
  return problems.find((one) => one !== null) ?? null
}

/** What is wrong with the input of a row. Empty if nothing was found. */
export const problemsOf = (form: InputForm, input: Input): ReadonlyArray<string> => {
  const has = (name: string) => input[name] !== undefined
  const missing = form.fields
    .filter(({ name, required }) => required && !has(name))
    .map(({ name }) => `${name} is empty`)
  const wrong = form.fields.flatMap((field) => {
    const value = input[field.name]
    const problem = value === undefined ? null : fieldProblem(value, field)
    return problem === null ? [] : [`${field.name} ${problem}`]
  })
  const lacksSet = form.together.length > 0 && !form.together.some((names) => names.every(has))
  const sets = form.together.map((names) => names.join(" and ")).join("; or ")
  return [...missing, ...wrong, ...(lacksSet ? [`needs ${sets}`] : [])]
}
