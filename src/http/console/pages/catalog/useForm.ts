/** The state of a form that makes a request: fields or JSON, options of routing, and the problems that the service names. */
import { useMemo, useState } from "react"
import { isRunBody, type RunBody } from "../../running/request.ts"
import {
  bodyOf,
  type Drafts,
  draftsOf,
  type Filled,
  filled,
  formFits,
  type Inspected,
  type InspectedCapability,
  type Part,
  partsOf,
  type Values,
  valuesOf
} from "./requestParts.ts"

export interface Options {
  readonly provider: string
  readonly strategy: string
  readonly max_cost: string
  readonly include_raw: boolean
  /** Names of fields, with commas between them. */
  readonly accept: string
  readonly phone_type: string
  readonly max_age_days: string
  readonly agree: boolean
}

const strategies = ["best_value", "cheapest", "fastest", "highest_success_rate"] as const
type Strategy = (typeof strategies)[number]
const strategyOf = (text: string): Strategy | null => strategies.find((one) => one === text) ?? null

export const noOptions: Options = {
  provider: "",
  strategy: "",
  max_cost: "",
  include_raw: false,
  accept: "",
  phone_type: "",
  max_age_days: "",
  agree: false
}

/** The options of an earlier request, but its cap: prices may have changed since. */
export const optionsFrom = (request: unknown): Options => {
  if (!isRunBody(request)) return noOptions
  const { routing, response, accept } = request
  const provider = routing?.provider ?? ""
  return {
    ...noOptions,
    provider: provider === "auto" ? "" : provider,
    strategy: routing?.strategy ?? "",
    include_raw: response?.include_raw === true,
    accept: accept?.fields?.join(", ") ?? "",
    phone_type: accept?.phone_type ?? "",
    max_age_days: String(accept?.max_age_days ?? ""),
    agree: accept?.agree === 2
  }
}

type Accept = NonNullable<RunBody["accept"]>

const acceptOf = (
  phone_types: NonNullable<InspectedCapability["accept"]>["phone_types"],
  { accept, phone_type, max_age_days, agree }: Options
): Accept | null => {
  const fields = accept.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]))
  const type = phone_types.find((one) => one === phone_type)
  const members = {
    ...(fields.length === 0 ? {} : { fields }),
    ...(type === undefined ? {} : { phone_type: type }),
    // What is no number becomes 0, which the service refuses with the field.
    ...(max_age_days.trim() === "" ? {} : { max_age_days: Number(max_age_days) || 0 }),
    ...(agree ? { agree: 2 as const } : {})
  }
  return Object.keys(members).length === 0 ? null : members
}

const optionsOf = (inspected: Inspected, options: Options) => {
  const { provider, strategy, max_cost, include_raw } = options
  const accept = "accept" in inspected ? acceptOf(inspected.accept.phone_types, options) : null
  const chosen = strategyOf(strategy)
  const routing: RunBody["routing"] = {
    ...(provider === "" ? {} : { provider }),
    ...(chosen === null ? {} : { strategy: chosen }),
    ...(max_cost.trim() === "" ? {} : { max_cost: max_cost.trim() })
  }
  return {
    ...(Object.keys(routing).length === 0 ? {} : { routing }),
    ...(include_raw && "capability" in inspected ? { response: { include_raw } } : {}),
    ...(accept === null ? {} : { accept })
  }
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
  readonly options: Options
}

export const begin = (parts: ReadonlyArray<Part>, values: Values, options: Options): State => ({
  drafts: draftsOf(parts, values),
  json: formFits(parts, values) ? null : jsonOf(values),
  options
})

/** What the form means, and the body of its run: null while a field is wrong. */
export const requestOf = (inspected: Inspected, parts: ReadonlyArray<Part>, { drafts, json, options }: State) => {
  const content = json === null ? filled(parts, drafts) : ofJson(parts, json)
  const body = content.problems.size > 0 ? null : bodyOf(inspected, content.values, optionsOf(inspected, options))
  return { content, body }
}

export const useForm = (inspected: Inspected, initial: Values, given: Options) => {
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
    setOptions: (changes: Partial<Options>) =>
      setState((before) => ({ ...before, options: { ...before.options, ...changes } })),
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
