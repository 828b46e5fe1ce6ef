/**
 * The kind of a capability's input, under which the outcomes of its offers are counted: the names of the given fields. Pure.
 *
 * Providers find a person by name and company less often than by profile URL, so a quote compares an input with inputs of its kind. A kind
 * holds no value of a customer except a platform, which the capability lists, and the sandbox's scenario.
 */
import type { Accept } from "../catalog/Acceptance.ts"
import { isRecord } from "../json/Json.ts"
import { findScenario } from "./Scenario.ts"

/** Counts of all inputs of an offer, whatever their kind. */
export const anyKind = ""

/** They choose a page of the results, and do not change whether there are any. */
const paging = ["cursor", "limit"]
/** Longer than the names of all fields of a capability. A longer kind is counted with all inputs only. */
const kindCharsMax = 400

/** Providers have fewer answers that are accepted too. */
const acceptedKind = (accept: Accept | undefined): ReadonlyArray<string> =>
  accept === undefined ? [] : [`accept:${[...accept.fields, ...Object.keys(accept).slice(1)].join(",")}`]

/** A raw request has one kind: its fields are the provider's. */
export const inputKindOf = (input: unknown, accept?: Accept): string => {
  if (!isRecord(input)) return anyKind
  const fields: Array<string> = []
  for (const name of Object.keys(input)) {
    const value = input[name]
    if (value === null || paging.includes(name)) continue
    fields.push(name === "platform" && typeof value === "string" ? `platform=${value}` : name)
  }
  const kind = [fields.sort().join(","), ...acceptedKind(accept)].join(" ")
  return kind.length > kindCharsMax ? anyKind : kind
}

/** The kind of an input that names a scenario of the sandbox. Null without a scenario. */
export const rehearsedKind = (kind: string, request: unknown): string | null => {
  const scenario = findScenario(request)
  return scenario === null ? null : `${kind} sandbox:${scenario.word}${scenario.once ? "_once" : ""}`
}
