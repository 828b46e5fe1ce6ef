/** The state of a form that makes a request: fields or JSON, options of routing, and the problems that the service names. */
import { useMemo, useState } from "react"
import { type Draft, draftOf, meaningOf } from "../../forms/draft.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import type { Field } from "../../forms/schema.ts"
import { isRunBody } from "../../running/request.ts"
import {
  bodyOf,
  type Drafts,
  draftsOf,
  type Filled,
  filled,
  formFits,
  type Inspected,
  isCapability,
  type Part,
  partsOf,
  type Values,
  valuesOf
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

const jsonOf = (values: Values) =>
  JSON.stringify(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)), null, 2)

const wrong = (message: string): Filled => ({ values: {}, problems: new Map([["json", message]]), isComplete: false })

const ofJson = (parts: ReadonlyArray<Part>, text: string): Filled => {
  try {
    const json: unknown = JSON.parse(text)
    const names = parts.map(({ name }) => String(name))
    if (typeof json !== "object" || json === null || Array.isArray(json))
      return wrong(`must be an object with ${names.join(", ")}`)
    const unknown = Object.keys(json).find((name) => !names.includes(name))
    if (unknown !== undefined)
      return wrong(`has the member ${JSON.stringify(unknown)}, which is not ${names.join(" or ")}`)
    return { values: valuesOf(json), problems: new Map(), isComplete: true }
  } catch (error) {
    return wrong(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

interface State {
  readonly drafts: Drafts
  /** The JSON of all parts while they are edited as JSON; null while the form is. */
  readonly json: string | null
  readonly options: Draft
}

export const begin = (parts: ReadonlyArray<Part>, values: Values, options: Draft): State => ({
  drafts: draftsOf(parts, values),
  json: formFits(parts, values) ? null : jsonOf(values),
  options
})

/** What the form means, and the body of its run: null while a field is wrong. */
export const requestOf = (inspected: Inspected, parts: ReadonlyArray<Part>, { drafts, json, options }: State) => {
  const { values, problems, isComplete } = json === null ? filled(parts, drafts) : ofJson(parts, json)
  const chosen = meaningOf(optionsOf(inspected), options)
  const content = { values, isComplete, problems: new Map([...problems, ...chosen.problems]) }
  return { content, body: content.problems.size > 0 ? null : bodyOf(inspected, values, chosen.value) }
}

export const useForm = (inspected: Inspected, initial: Values, given: Draft) => {
  const parts = useMemo(() => partsOf(inspected), [inspected])
  const [state, setState] = useState(() => begin(parts, initial, given))
  const { json } = state
  const { content, body } = useMemo(() => requestOf(inspected, parts, state), [inspected, parts, state])
  return {
    ...state,
    parts,
    content,
    body,
    setDraft: (name: Part["name"], draft: Drafts[Part["name"]]) =>
      setState((before) => ({ ...before, drafts: { ...before.drafts, [name]: draft } })),
    setJson: (text: string) => setState((before) => ({ ...before, json: text })),
    setOptions: (options: Draft) => setState((before) => ({ ...before, options })),
    fill: (values: Values) => setState((before) => begin(parts, values, before.options)),
    /** To JSON, or back to the form if it shows all of the JSON. */
    canUseForm: json === null || (content.problems.size === 0 && formFits(parts, content.values)),
    toggleJson: () =>
      setState((before) =>
        before.json === null
          ? { ...before, json: jsonOf(content.values) }
          : { ...before, json: null, drafts: draftsOf(parts, content.values) }
      )
  }
}

export type Form = ReturnType<typeof useForm>
