/** The state of a form that makes a request: its parts as fields or JSON, options of routing, and the problems that the service names. */
import { useMemo, useState } from "react"
import type { AnswerOf } from "../../data/api.ts"
import { isRecord } from "../../data/json.ts"
import { type Draft, draftOf, fits, isComplete, jsonIn, meaningOf, type Meant } from "../../forms/draft.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
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
const wholeOf = (parts: ReadonlyArray<Part>): ObjectField => ({
  ...{ name: "", hint: "", required: true, kind: "object" },
  fields: parts.map(({ name, field }) => ({ ...field, name }))
})

type Values = Readonly<Record<string, unknown>>

/** The values of the parts in a request, such as of an earlier run or of an example. */
const valuesOf = (parts: ReadonlyArray<Part>, request: unknown): Values => {
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
const bodyOf = (inspected: Inspected, values: unknown, options: unknown): RunBody | null => {
  const body: unknown = { ...targetOf(inspected), input: {}, ...Object(values), ...Object(options) }
  return isRunBody(body) ? body : null
}

/** The example of a capability is its input; that of an endpoint is a whole request. */
export const exampleOf = (inspected: Inspected): unknown =>
  isCapability(inspected) ? { input: inspected.example } : inspected.example

const without = (field: Field, names: ReadonlyArray<string>): Field =>
  field.kind === "object"
    ? {
        ...field,
        fields: field.fields.filter(({ name }) => !names.includes(name)).map((one) => without(one, names))
      }
    : field

/** The members of a run that are neither its target nor its input. The page decides how long it waits. */
const fields = payloadForm("runs", "run", [
  "capability",
  "provider",
  "endpoint",
  "method",
  "input",
  "path",
  "query",
  "wait_seconds",
  "async"
])
/** A raw endpoint has one provider, contacts nobody, and answers what it answers. */
const ofCapabilities = [
  "provider",
  "strategy",
  "allow_fallback",
  "response",
  "unless_contacted_within_seconds",
  "accept"
]
const lackedBy = (inspected: Inspected): ReadonlyArray<string> => {
  if (!isCapability(inspected)) return ofCapabilities
  const { accept } = inspected
  if (accept === undefined) return ["accept"]
  const types = accept.phone_types.length === 0 ? ["phone_type"] : []
  return [...types, ...(accept.max_age_days === null ? ["max_age_days"] : []), ...(accept.agree ? [] : ["agree"])]
}
export const optionsOf = (inspected: Inspected): Field => without(fields, lackedBy(inspected))

/** The options of an earlier request, but its caps: prices may have changed since. */
export const optionsFrom = (request: unknown): Draft => {
  if (!isRunBody(request)) return {}
  const { max_cost: _cost, max_total: _total, provider = null, ...routing } = request.routing ?? {}
  return draftOf(fields, { ...request, routing: { ...routing, ...(provider === "auto" ? {} : { provider }) } })
}

const jsonOf = (values: unknown) => JSON.stringify(values, null, 2)

const wrong = (message: string): Meant => ({ value: {}, problems: [["json", message]] })

const ofJson = (parts: ReadonlyArray<Part>, text: string): Meant => {
  const { value, problems } = jsonIn(text)
  const [problem] = problems
  if (problem !== undefined) return wrong(problem[1])
  const names = parts.map(({ name }) => String(name))
  if (!isRecord(value)) return wrong(`must be an object with ${names.join(", ")}`)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined)
    return wrong(`has the member ${JSON.stringify(unknown)}, which is not ${names.join(" or ")}`)
  return { value, problems: [] }
}

interface State {
  readonly draft: Draft
  /** The JSON of all parts while they are edited as JSON; null while the form is. */
  readonly json: string | null
  readonly options: Draft
}

export const begin = (parts: ReadonlyArray<Part>, request: unknown, options: Draft): State => {
  const values = valuesOf(parts, request)
  return {
    draft: draftOf(wholeOf(parts), values),
    json: formFits(parts, values) ? null : jsonOf(values),
    options
  }
}

/** What the form means, and the body of its run: null while a field is wrong. */
export const requestOf = (inspected: Inspected, parts: ReadonlyArray<Part>, { draft, json, options }: State) => {
  const filled = json === null ? meaningOf(wholeOf(parts), draft) : ofJson(parts, json)
  const chosen = meaningOf(optionsOf(inspected), options)
  const values = valuesOf(parts, filled.value)
  const problems = new Map([...filled.problems, ...chosen.problems])
  return {
    values,
    /** By path in the request, such as `input.titles.0`. */
    problems,
    isComplete: json !== null || parts.every(({ name, field, groups }) => isComplete(field, groups, values[name])),
    body: problems.size > 0 ? null : bodyOf(inspected, values, chosen.value)
  }
}

export const useForm = (inspected: Inspected, initial: unknown, given: Draft) => {
  const parts = useMemo(() => partsOf(inspected), [inspected])
  const [state, setState] = useState(() => begin(parts, initial, given))
  const { json, options } = state
  const request = useMemo(() => requestOf(inspected, parts, state), [inspected, parts, state])
  const { values, problems } = request
  return {
    ...state,
    ...request,
    parts,
    change: (some: Partial<State>) => setState((before) => ({ ...before, ...some })),
    fill: (example: unknown) => setState(begin(parts, example, options)),
    /** To JSON, or back to the form if it shows all of the JSON. */
    canUseForm: json === null || (problems.size === 0 && formFits(parts, values)),
    toggleJson: () => setState(json === null ? { ...state, json: jsonOf(values) } : begin(parts, values, options))
  }
}

export type Form = ReturnType<typeof useForm>
