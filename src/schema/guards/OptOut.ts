/**
 * Opt-outs: addresses, domains, phone numbers and profiles that runs must not contact. Pure.
 *
 * A list has the SHA-256 of each normalized value, the form in which advertisers and mail services exchange such lists. So erasing a person
 * leaves the entry, and lists of several systems can be compared. The opt-out of a domain covers its addresses and its subdomains.
 */
import { Schema } from "effect"
import { domainOf, withParents } from "../accounts/Sender.ts"
import { readHost } from "../subjects/Domain.ts"
import { readEmail } from "../subjects/Email.ts"
import { readNetwork } from "../subjects/Network.ts"
import { readInternational } from "../subjects/Phone.ts"
import type { Contacts } from "./ContactGuard.ts"

export const optOutKinds = ["email", "domain", "phone", "profile"] as const
export type OptOutKind = (typeof optOutKinds)[number]
export const optOutSources = ["api", "console", "import", "one_click", "complaint"] as const
export type OptOutSource = (typeof optOutSources)[number]

/** Entries of one list. More than the largest senders of mail suppress; the limit keeps a script from filling the table. */
export const optOutsMax = 1_000_000
/** Values of one request, without an import. */
export const optOutsAtOnce = 1_000
export const optOutReasonMax = 500
/** Refused rows of an import that an answer names. */
export const optOutRefusalsMax = 20

export const optOutDigest = (normalized: string): string =>
  new Bun.CryptoHasher("sha256").update(normalized).digest("hex")

/** What an entry and a recipient are compared by. */
export interface OptOutKey {
  readonly kind: OptOutKind
  /** Hexadecimal. */
  readonly digest: string
}

/** The kind of a value, which its form says, and the value in its normal form. */
const readValue = (text: string): readonly [OptOutKind, string | null] => {
  if (text.includes("@") && !text.startsWith("@")) return ["email", readEmail(text, true)?.normalized ?? null]
  if (text.startsWith("+")) return ["phone", readInternational(text)]
  if (/^\/?(in|pub)\/|linkedin\.\w+\//i.test(text)) return ["profile", readNetwork(text)]
  const host = readHost(text.replace(/^@/, ""))
  // A public suffix such as co.uk is no domain of anybody.
  return ["domain", host === null || host.registrable === null ? null : host.name]
}

/** The value with the middle left out, for people. */
export const optOutHint = (kind: OptOutKind, normalized: string): string => {
  const shown = (text: string) => `${Array.from(text)[0] ?? ""}•••`
  if (kind === "email") return `${shown(normalized)}@${domainOf(normalized)}`
  if (kind === "phone") return `${normalized.slice(0, 3)}•••${normalized.slice(-2)}`
  if (kind === "profile") return normalized.replace(/[^/]+$/, shown)
  return normalized
}

/** The keys of the entries that cover a normalized value. Those of domains cover an address too. */
const keysOf = (kind: OptOutKind, text: string): ReadonlyArray<OptOutKey> => {
  if (kind === "email") return [{ kind, digest: optOutDigest(text) }, ...keysOf("domain", domainOf(text))]
  return (kind === "domain" ? withParents(text) : [text]).map((one) => ({ kind, digest: optOutDigest(one) }))
}

/** Those that cover an identity of a recipient, such as `e:ada@example.com`. Ids of providers have none. */
export const optOutKeys = (identity: string): ReadonlyArray<OptOutKey> => {
  if (identity.startsWith("e:")) return keysOf("email", identity.slice(2))
  return identity.startsWith("n:") ? keysOf("profile", identity.slice(2)) : []
}

export interface ReadOptOut extends OptOutKey {
  /** Null for an entry of which only the digest is known. */
  readonly hint: string | null
  /** The keys of the entries that cover it. A digest says nothing of its domain. */
  readonly covering: () => ReadonlyArray<OptOutKey>
}

const byDigest = /^(email|domain|phone|profile):([0-9a-f]{64})$/i

/** Reads a value, whose form says its kind, or a digest such as `email:<SHA-256>`. Null if it is none. */
export const readOptOut = (value: string): ReadOptOut | null => {
  const text = value.trim()
  const [, named = "", digest = ""] = byDigest.exec(text.toLowerCase()) ?? []
  const digested = optOutKinds.find((kind) => kind === named)
  if (digested !== undefined)
    return { kind: digested, digest, hint: null, covering: () => [{ kind: digested, digest }] }
  const [kind, normalized] = readValue(text)
  if (normalized === null) return null
  return {
    kind,
    digest: optOutDigest(normalized),
    hint: optOutHint(kind, normalized).slice(0, 200),
    covering: () => keysOf(kind, normalized)
  }
}

/** Whether the first line of a CSV names its columns. Other files begin with a value, and have the values in their first column. */
export const hasOptOutHeader = (first: ReadonlyArray<string>): boolean => {
  const names = first.map((name) => name.toLowerCase())
  const isNamed = names.includes("value") || (names.includes("kind") && names.includes("digest"))
  return isNamed || readOptOut(first[0] ?? "") === null
}

/** The entry that refused a run, as the run keeps it. */
export const OptOutMatch = Schema.Struct({
  opt_out_id: Schema.String,
  list: Schema.Literals(["organization", "service"]),
  kind: Schema.Literals(optOutKinds),
  /** Hexadecimal. */
  digest: Schema.String,
  /** ISO 8601. */
  since: Schema.String
}).annotate({
  identifier: "OptOutMatch",
  description: "the entry of the opt-out list that refused the run, with the SHA-256 of the normalized value"
})
export type OptOutMatch = typeof OptOutMatch.Type

/** The refusal of a run if one of its recipients is on a list. */
export const optOutRefusal = ({ recipients }: Contacts, matchOf: (key: OptOutKey) => OptOutMatch | undefined) => {
  for (const { shown, identities } of recipients)
    for (const key of identities.flatMap(optOutKeys)) {
      const match = matchOf(key)
      if (match === undefined) continue
      const { opt_out_id, list, kind, digest, since } = match
      const what = kind === "email" ? "address" : kind
      return {
        code: "opt_out" as const,
        message: `${shown} is on the opt-out list of this ${list}: the ${what} with the SHA-256 ${digest} is entry ${opt_out_id}, since ${since}; leave this recipient out`,
        match
      }
    }
  return null
}
export type OptOutRefusal = NonNullable<ReturnType<typeof optOutRefusal>>
