/**
 * The identities of one person that a run ties together: its input and its result are about the same person. Pure.
 *
 * Only capabilities about one person tie, and the items of a search for people each for themselves. Other results name several people.
 */
import { isRecord } from "../json/Json.ts"
import { detect, type Subject } from "../subjects/Subject.ts"
import { readText } from "../subjects/Text.ts"
import { identityIn } from "./ContactGuard.ts"

const aboutOne = ["people.enrich", "network.profile", "email.find", "phone.find", "network.message", "network.invite"]
const search = "people.search"
/** Capabilities whose runs tie identities. */
export const tyingCapabilities: ReadonlyArray<string> = [...aboutOne, search]

/** Fields of an input, a result or an item that name the person. */
const personFields = ["email", "network_url", "identifier", "provider_member_id", "chat_id"] as const

const identitiesIn = (value: unknown): ReadonlyArray<string> => {
  if (!isRecord(value)) return []
  const identities: Array<string> = []
  for (const field of personFields) {
    const text = value[field]
    if (typeof text === "string" && text.trim() !== "")
      identities.push(
        identityIn(field === "email" ? "to" : field === "identifier" ? "network_url" : field, text.trim())
      )
  }
  const { provider_ids, profile } = value
  if (isRecord(provider_ids))
    for (const id of Object.values(provider_ids))
      if (typeof id === "string") identities.push(identityIn("provider_member_id", id))
  // The result of network.invite has the person there.
  if (isRecord(profile)) identities.push(...identitiesIn(profile))
  return identities
}

/** Groups of identities that are one person each. */
export const tiesIn = (run: {
  readonly capability: string
  readonly input: unknown
  readonly result: unknown
}): ReadonlyArray<ReadonlyArray<string>> => {
  const { capability, input, result } = run
  if (capability === search) {
    const items = isRecord(result) ? result["items"] : null
    return Array.isArray(items) ? items.map(identitiesIn) : []
  }
  return aboutOne.includes(capability) ? [[...identitiesIn(input), ...identitiesIn(result)]] : []
}

/** The subject under which history knows an identity. Null if it knows none. */
export const subjectOfIdentity = (identity: string): Subject | null => {
  const text = identity.slice(identity.indexOf(":") + 1)
  if (identity.startsWith("e:")) return { kind: "email", normalized: text }
  if (identity.startsWith("n:"))
    return /^(in|company)\//.test(text) ? { kind: "network", normalized: text } : detect(text)
  const normalized = readText(text)
  return normalized === null ? null : { kind: "text", normalized }
}
