/** The parts of a request that a form fills: the input, and for raw endpoints the values of the path and the query. */
import { isRecord } from "../../data/json.ts"
import type { AnswerOf } from "../../data/api.ts"
import { type Draft, draftOf, emptyDraft, fits, isComplete, meaningOf } from "../../forms/draft.ts"
import { type Field, formOf, groupsOf } from "../../forms/schema.ts"
import { isRunBody, type RunBody } from "../../running/request.ts"

export type Inspected = AnswerOf<"catalog", "inspect">
export type InspectedCapability = Extract<Inspected, { readonly capability: string }>
export type InspectedEndpoint = Exclude<Inspected, { readonly capability: string }>

export const isCapability = (inspected: Inspected): inspected is InspectedCapability => "capability" in inspected

export type PartName = "input" | "path" | "query"

export interface Part {
  readonly name: PartName
  readonly title: string
  readonly field: Field
  readonly groups: ReadonlyArray<ReadonlyArray<string>>
}

const hasMembers = (schema: unknown): boolean => {
  const { field } = partOf("input", "", schema)
  return field.kind === "object"
}

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
export type Values = Readonly<Partial<Record<PartName, unknown>>>
export type Drafts = Readonly<Partial<Record<PartName, Draft>>>

export const draftsOf = (parts: ReadonlyArray<Part>, values: Values): Drafts =>
  Object.fromEntries(
    parts.map(({ name, field }) => [
      name,
      values[name] === undefined ? emptyDraft(field) : draftOf(field, values[name])
    ])
  )

/** Whether the form shows all of these values. Others are edited as JSON. */
export const formFits = (parts: ReadonlyArray<Part>, values: Values): boolean =>
  parts.every(({ name, field }) => values[name] === undefined || fits(field, values[name]))

export interface Filled {
  readonly values: Values
  /** By path in the request, such as `input.titles.0`. */
  readonly problems: ReadonlyMap<string, string>
  readonly isComplete: boolean
}

export const filled = (parts: ReadonlyArray<Part>, drafts: Drafts): Filled => {
  const all = parts.map((part) => ({ part, meaning: meaningOf(part.field, drafts[part.name]) }))
  const problems = all.flatMap(({ part: { name }, meaning }) =>
    meaning.problems.map(([path, message]) => [path === "" ? name : `${name}.${path}`, message] as const)
  )
  return {
    values: Object.fromEntries(all.map(({ part, meaning }) => [part.name, meaning.value])),
    problems: new Map(problems),
    isComplete: all.every(({ part: { field, groups }, meaning }) => isComplete(field, groups, meaning.value))
  }
}

const targetOf = (inspected: Inspected) =>
  isCapability(inspected)
    ? { capability: inspected.capability }
    : { provider: inspected.provider, endpoint: inspected.endpoint, method: inspected.method }
export const bodyOf = (inspected: Inspected, values: Values, options: unknown): RunBody | null => {
  const members = Object.fromEntries(
    Object.entries({ ...values, ...Object(options) }).filter(([, value]) => value !== undefined)
  )
  const body: unknown = { ...targetOf(inspected), input: {}, ...members }
  return isRunBody(body) ? body : null
}

/** The parts of a request, such as of an earlier run or of an example. */
export const valuesOf = (request: unknown): Values => {
  const { input, path, query } = isRecord(request) ? request : {}
  return { input, path, query }
}

/** The example of a capability is its input; that of an endpoint is a whole request. */
export const exampleOf = (inspected: Inspected): Values =>
  isCapability(inspected) ? { input: inspected.example } : valuesOf(inspected.example)
