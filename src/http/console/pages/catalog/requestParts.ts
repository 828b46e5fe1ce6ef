/** The parts of a request that a form fills: the input, and for raw endpoints the values of the path and the query. */
import { isRecord } from "../../data/json.ts"
import type { AnswerOf } from "../../data/api.ts"
import { fits, meaningOf } from "../../forms/draft.ts"
import { type Field, formOf, groupsOf, type ObjectField } from "../../forms/schema.ts"
import { isRunBody, type RunBody } from "../../running/request.ts"

export type Inspected = AnswerOf<"catalog", "inspect">
export type InspectedCapability = Extract<Inspected, { readonly capability: string }>
export type InspectedEndpoint = Exclude<Inspected, { readonly capability: string }>

export const isCapability = (inspected: Inspected): inspected is InspectedCapability => "capability" in inspected

type PartName = "input" | "path" | "query"

export interface Part {
  readonly name: PartName
  readonly title: string
  readonly field: Field
  readonly groups: ReadonlyArray<ReadonlyArray<string>>
}

const hasMembers = (schema: unknown): boolean => formOf(schema).kind === "object"

const partOf = (name: PartName, title: string, schema: unknown): Part => ({
  name,
  title,
  field: formOf(schema),
  groups: groupsOf(schema)
})

/** On GET, the input becomes the query. An endpoint without a body takes an empty input. */
const partsOfEndpoint = ({ method, input }: InspectedEndpoint): ReadonlyArray<Part> => {
  const { pathParams, queryParams, body, bodyType } = input
  const path = hasMembers(pathParams) ? [partOf("path", "Path", pathParams)] : []
  if (method === "GET") return hasMembers(queryParams) ? [...path, partOf("input", "Query", queryParams)] : path
  const query = hasMembers(queryParams) ? [partOf("query", "Query", queryParams)] : []
  const title = bodyType === "task" ? "Task" : "Body"
  const takesBody = body !== null || bodyType !== "json"
  return [...path, ...query, ...(takesBody ? [partOf("input", title, body ?? {})] : [])]
}

export const partsOf = (inspected: Inspected): ReadonlyArray<Part> =>
  isCapability(inspected) ? [partOf("input", "Input", inspected.input_schema)] : partsOfEndpoint(inspected)

/** The form of all parts, each of which is a member of the request. */
export const wholeOf = (parts: ReadonlyArray<Part>): ObjectField => ({
  ...{ name: "", hint: "", required: true, kind: "object" },
  fields: parts.map(({ name, field }) => ({ ...field, name }))
})

type Values = Readonly<Record<string, unknown>>

/** The values of the parts in a request, such as of an earlier run or of an example. */
export const valuesOf = (parts: ReadonlyArray<Part>, request: unknown): Values => {
  const members = isRecord(request) ? request : {}
  const names = parts.map(({ name }) => name).filter((name) => members[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, members[name]]))
}

/** Whether the form shows all of these values. Others are edited as JSON. */
export const formFits = (parts: ReadonlyArray<Part>, values: Values): boolean => {
  const whole = wholeOf(parts)
  return fits(whole, { ...Object(meaningOf(whole, {}).value), ...values })
}

const targetOf = (inspected: Inspected) =>
  isCapability(inspected)
    ? { capability: inspected.capability }
    : { provider: inspected.provider, endpoint: inspected.endpoint, method: inspected.method }
export const bodyOf = (inspected: Inspected, values: unknown, options: unknown): RunBody | null => {
  const body: unknown = { ...targetOf(inspected), input: {}, ...Object(values), ...Object(options) }
  return isRunBody(body) ? body : null
}

/** The example of a capability is its input; that of an endpoint is a whole request. */
export const exampleOf = (inspected: Inspected): unknown =>
  isCapability(inspected) ? { input: inspected.example } : inspected.example
