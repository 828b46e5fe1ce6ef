/** The state of a form that makes a request: fields or JSON, options of routing, and the problems that the service names. */
import { useMemo, useState } from "react"
import { isRecord } from "../../data/json.ts"
import { type Draft, draftOf, isComplete, jsonIn, type Meant, meaningOf } from "../../forms/draft.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import type { Field } from "../../forms/schema.ts"
import { isRunBody } from "../../running/request.ts"
import {
  bodyOf,
  formFits,
  type Inspected,
  isCapability,
  type Part,
  partsOf,
  valuesOf,
  wholeOf
} from "./requestParts.ts"

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
