/** Reads a table as inputs: which column fills which field, and what a cell means. Console, command and API read alike. */
import { isRecord } from "../../schema/json/Json.ts"

/** The fields of a capability's input, with the types of their cells. */
export type InputFields = ReadonlyMap<string, string | null>

/** The JSON type of a field, or `several` for one that takes one text or a list. */
export const cellTypeOf = (property: unknown): string | null => {
  const { type, anyOf = [] } = isRecord(property) ? property : {}
  if (typeof type === "string") return type
  return Array.isArray(anyOf) && anyOf.some((one) => isRecord(one) && one["type"] === "array") ? "several" : null
}

/** The fields of a JSON Schema. */
export const inputFieldsOf = (jsonSchema: unknown): InputFields => {
  const properties = isRecord(jsonSchema) && isRecord(jsonSchema["properties"]) ? jsonSchema["properties"] : {}
  return new Map(Object.entries(properties).map(([name, property]) => [name, cellTypeOf(property)]))
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** Names that spreadsheets and CRMs give to these fields. */
const others: Readonly<Record<string, ReadonlyArray<string>>> = {
  full_name: ["name", "contact", "contactname", "person", "fullname"],
  first_name: ["first", "firstname", "givenname", "forename"],
  last_name: ["last", "lastname", "surname", "familyname"],
  email: ["mail", "emailaddress", "workemail", "businessemail"],
  company_domain: ["domain", "website", "companywebsite", "companydomain", "companyurl"],
  company_name: ["company", "organization", "organisation", "account", "employer", "companyname", "accountname"],
  domain: ["website", "companydomain", "companywebsite"],
  network_url: ["linkedin", "linkedinurl", "profile", "profileurl", "personlinkedinurl"],
  phone: ["phonenumber", "mobile", "telephone", "tel"],
  url: ["website", "link", "page", "address"]
}

/** Columns by field. An equal name wins over another name, and no column fills two fields. */
export const guessedColumns = (
  fields: ReadonlyArray<string>,
  header: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const mapping: Record<string, string> = {}
  const taken = new Set<string>()
  const take = (field: string, isMeant: (letters: string) => boolean) => {
    if (mapping[field] !== undefined) return
    const column = header.find((name) => name !== "" && !taken.has(name) && isMeant(lettersOf(name)))
    if (column === undefined) return
    mapping[field] = column
    taken.add(column)
  }
  for (const name of fields) take(name, (letters) => letters === lettersOf(name))
  for (const name of fields) take(name, (letters) => others[name]?.includes(letters) === true)
  return mapping
}

export type CellValue = string | number | boolean | ReadonlyArray<string>

const number = /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/

/**
 * A cell as the value of a field of this type. Several values of a list stand in one cell, separated by semicolons. A field that takes one
 * text or a list takes a cell with a semicolon as a list.
 */
export const cellValue = (cell: string, type: string | null): CellValue => {
  if ((type === "integer" || type === "number") && number.test(cell)) return Number(cell)
  if (type === "boolean" && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === "true"
  if (type === "array" || (type === "several" && cell.includes(";")))
    return cell
      .split(";")
      .map((one) => one.trim())
      .filter((one) => one !== "")
  return cell
}

/** Prices of most capabilities are the same for all rows; those that depend on the input differ little in one file. */
const sampleSize = 6

/** The rows that are quoted for all: from the whole length of the file, the first and the last among them. */
export const sampleOf = <A>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (rows.length <= sampleSize) return rows
  const step = (rows.length - 1) / (sampleSize - 1)
  const places = new Set(Array.from({ length: sampleSize }, (_, at) => Math.round(at * step)))
  return rows.filter((_, index) => places.has(index))
}
