/**
 * Makes the input of a capability from the cells of a row, and names what is wrong with it.
 *
 * The check covers what the JSON Schema of a capability says about one field, and which fields it needs together. The service checks each
 * row again; a row that it refuses costs nothing.
 */
import { isRecord } from "../../../data/json.ts"
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
const sizeOf = (value: unknown): number | null => (typeof value === "number" ? value : null)

/** The form of a JSON Schema as POST /v1/inspect has it. */
export const formOf = (schema: Fields): InputForm => {
  const required = textsOf(schema["required"])
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  const fields = Object.entries(properties).flatMap(([name, property]): ReadonlyArray<InputField> => {
    if (!isRecord(property)) return []
    const { description } = property
    return [
      {
        ...{ name, required: required.includes(name), schema: property },
        type: cellTypeOf(property) ?? "string",
        description: typeof description === "string" ? description : ""
      }
    ]
  })
  const anyOf = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  const together = anyOf.map((one) => (isRecord(one) ? textsOf(one["required"]) : []))
  return { fields, together: together.some((one) => one.length === 0) ? [] : together }
}

/** Columns by field. A field without a column is left out. */
export type Mapping = Readonly<Record<string, string>>
const placesOf = (form: InputForm, header: ReadonlyArray<string>, mapping: Mapping) =>
  form.fields.flatMap((field) => {
    const at = header.indexOf(mapping[field.name] ?? "")
    return at < 0 || (mapping[field.name] ?? "") === "" ? [] : [[field, at] as const]
  })

export const inputsOf = (
  form: InputForm,
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  mapping: Mapping
): ReadonlyArray<Input> => {
  const places = placesOf(form, header, mapping)
  return rows.map((row) =>
    Object.fromEntries(
      places.flatMap(([field, at]) => {
        const cell = row[at] ?? ""
        return cell === "" ? [] : [[field.name, cellValue(cell, field.type)]]
      })
    )
  )
}

const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** Lists of companies have websites where a domain is asked for. The service takes their hosts. */
const hostname = /^(https?:\/\/\S+|[^\s./@:]+(\.[^\s./@:]+)+)$/i

const textProblem = (value: string, schema: Fields): string | null => {
  const [least, most] = [sizeOf(schema["minLength"]), sizeOf(schema["maxLength"])]
  const allowed = textsOf(schema["enum"])
  if (!value.isWellFormed()) return "has half of a character"
  const length = [...value].length
  if (least !== null && length < least) return `is shorter than ${least} characters`
  if (most !== null && length > most) return `is longer than ${most} characters`
  if (allowed.length > 0 && !allowed.includes(value)) return `is none of ${allowed.join(", ")}`
  if (schema["format"] === "email" && !email.test(value)) return "is no e-mail address"
  if (schema["format"] === "hostname" && !hostname.test(value)) return "is no domain such as example.com"
  return null
}

const numberProblem = (value: number, type: string, schema: Fields): string | null => {
  const [least, most] = [sizeOf(schema["minimum"]), sizeOf(schema["maximum"])]
  if (type === "integer" && !Number.isInteger(value)) return "is no whole number"
  if (least !== null && value < least) return `is less than ${least}`
  if (most !== null && value > most) return `is more than ${most}`
  return null
}

const listProblem = (value: ReadonlyArray<string>, schema: Fields): string | null => {
  const [least, most] = [sizeOf(schema["minItems"]), sizeOf(schema["maxItems"])]
  if (least !== null && value.length < least) return `has fewer than ${least} values`
  if (most !== null && value.length > most) return `has more than ${most} values`
  const items = isRecord(schema["items"]) ? schema["items"] : {}
  return value.map((one) => textProblem(one, items)).find((one) => one !== null) ?? null
}

const fieldProblem = (value: CellValue, { type, schema }: InputField): string | null => {
  if (typeof value === "number") return numberProblem(value, type, schema)
  if (typeof value === "boolean") return null
  if (type === "integer" || type === "number") return "is no number"
  if (type === "boolean") return "is neither true nor false"
  if (type === "object") return "can't come from a cell"
  return typeof value === "string" ? textProblem(value, schema) : listProblem(value, schema)
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
