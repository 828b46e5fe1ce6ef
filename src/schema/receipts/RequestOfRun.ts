/**
 * The body of `POST /v1/run` that asks for a run again, from what the run stored. Pure.
 *
 * The input is the text that the caller sent, digit for digit. A raw run stores its request as the provider gets it, so its query and path
 * values come back as texts, and on GET the input is left out of the query.
 */
import type { Accept } from "../catalog/Acceptance.ts"
import { bodyOf } from "../json/JsonText.ts"
import { isRecord } from "../json/Json.ts"
import type { Plan } from "../runs/Plan.ts"
import type { RawPlan } from "../runs/RawPlan.ts"
import { strategyDefault } from "../runs/Seen.ts"
import { decisionOf } from "./Decision.ts"

export interface StoredRun {
  readonly capability: string | null
  readonly routing_reason: string
  readonly plan: Plan
  /** JSON texts. */
  readonly input: string
  readonly metadata: string | null
}

const isEmpty = (value: object) => Object.keys(value).length === 0
const unlessEmpty = (name: string, value: object) => (isEmpty(value) ? {} : { [name]: value })

const routingOf = ({ plan, routing_reason }: StoredRun) => {
  const { strategy, max_cost, max_total } = decisionOf(plan, routing_reason)
  const caps = { ...(max_cost === null ? {} : { max_cost }), ...(max_total === null ? {} : { max_total }) }
  if (plan.raw !== undefined) return caps
  const [pinned] = plan.providers
  return {
    ...(plan.routing === "pinned" && pinned !== undefined ? { provider: pinned } : {}),
    ...(strategy === null || strategy === strategyDefault ? {} : { strategy }),
    ...caps,
    ...(plan.routing === "no_fallback" ? { allow_fallback: false } : {})
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
const placeholder = /\{([^{}]+)\}/g

/** What the placeholders of a path were filled with. */
export const valuesOfPath = (template: string, filled: string): Readonly<Record<string, string>> => {
  const names = Array.from(template.matchAll(placeholder), ([, name]) => name ?? "")
  const pattern = template.split(placeholder).map((part, index) => (index % 2 === 0 ? escaped(part) : "([^/]+?)"))
  const values = new RegExp(`^${pattern.join("")}$`).exec(filled)?.slice(1) ?? []
  return Object.fromEntries(values.map((value, index) => [names[index] ?? "", decodeURIComponent(value)]))
}

/** A name that occurs several times has a list of values. */
const queryOf = ({ query, method }: RawPlan, input: unknown) => {
  const ofInput = method === "GET" && isRecord(input) ? input : {}
  const own = query.filter(([name]) => !Object.hasOwn(ofInput, name))
  return Object.fromEntries(
    [...Map.groupBy(own, ([name]) => name)].map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value)
      return [name, values.length === 1 ? values[0] : values]
    })
  )
}

const targetOf = ({ plan: { raw, providers }, capability, input }: StoredRun) =>
  raw === undefined
    ? { capability }
    : {
        provider: providers[0],
        endpoint: raw.endpoint,
        method: raw.method,
        ...unlessEmpty("path", raw.body_type === "actor_input" ? {} : valuesOfPath(raw.endpoint, raw.path)),
        ...unlessEmpty("query", queryOf(raw, JSON.parse(input)))
      }

/** A request has a list of fields only if it names some. */
const withFields = ({ fields, ...rest }: Accept) => (fields.length === 0 ? rest : { fields, ...rest })

const guardsOf = ({ plan: { reuse, contacts, accept } }: StoredRun) => {
  const within = contacts?.within_seconds ?? null
  return {
    ...(accept === undefined ? {} : { accept: withFields(accept) }),
    ...(reuse === undefined ? {} : { reuse: { mode: reuse.mode, max_age_seconds: reuse.max_age_seconds } }),
    ...(within === null ? {} : { unless_contacted_within_seconds: within })
  }
}

/** JSON text. */
export const requestText = (run: StoredRun): string => {
  const { plan, input, metadata } = run
  const members = {
    ...targetOf(run),
    ...unlessEmpty("routing", routingOf(run)),
    ...guardsOf(run),
    ...(plan.include_raw ? { response: { include_raw: true } } : {})
  }
  return bodyOf(members, { input, ...(metadata === null || metadata === "{}" ? {} : { metadata }) })
}
