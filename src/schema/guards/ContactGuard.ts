/**
 * The contact guard refuses a run that would contact somebody whom the organization has contacted a short time before.
 *
 * Every run that contacts people claims its recipients when it is admitted, whether it asks for the guard or not. A claim goes when the run
 * surely contacted nobody. A run whose outcome is unknown keeps it.
 */
import { Schema } from "effect"
import { isRecord } from "../json/Json.ts"
import { readEmail } from "../subjects/Email.ts"
import { readNetwork } from "../subjects/Network.ts"
import { recipientFields, touchCapabilities } from "./Touches.ts"

export const contactDaysMax = 365
export const contactSecondsMax = contactDaysMax * 86_400

/** Seconds of `unless_contacted_within_seconds`. */
export const ContactSeconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: contactSecondsMax }))

export const Recipient = Schema.Struct({
  /** As the caller wrote it. */
  shown: Schema.String,
  /** The person's identities, such as `e:ada@example.com` and `n:in/ada-lovelace`. */
  identities: Schema.Array(Schema.String),
  /** The latest contact from before runs claimed their recipients, from history. `at` is in microseconds since 1970. */
  contacted: Schema.optionalKey(Schema.Struct({ run_id: Schema.String, at: Schema.String }))
})
export type Recipient = typeof Recipient.Type

/** Whom a run contacts, fixed at admission. */
export const Contacts = Schema.Struct({
  /** Refuses the run if one of them was contacted within these seconds. Null: the run asks for no guard. */
  within_seconds: Schema.NullOr(Schema.Int),
  recipients: Schema.Array(Recipient)
})
export type Contacts = typeof Contacts.Type

export const contactsPeople = (capability: string | null): boolean =>
  capability !== null && touchCapabilities.includes(capability)

/** Whom a run would contact, from its plan. Undefined for a run that contacts nobody; the plan of most of them is not read. */
export const plannedContacts = ({
  capability,
  method,
  plan
}: {
  readonly capability: string | null
  readonly method: string | null
  readonly plan: () => { readonly contacts?: Contacts }
}): Contacts | undefined =>
  contactsPeople(capability) || (capability === null && method !== "GET") ? plan().contacts : undefined

/** The kinds of identity that a person has as a recipient. History's index has the same keys for the first two. */
export const identityIn = (field: string, text: string): string => {
  if (field === "provider_member_id") return `member:${text}`
  if (field === "chat_id") return `chat:${text}`
  if (field === "network_url") return `n:${readNetwork(text) ?? text.toLowerCase()}`
  return `e:${readEmail(text, true)?.normalized ?? text.toLowerCase()}`
}

/** Each recipient of a run once. */
export const recipientsOf = (capability: string, input: unknown): ReadonlyArray<Recipient> => {
  if (!contactsPeople(capability) || !isRecord(input)) return []
  const recipients = new Map<string, Recipient>()
  for (const field of recipientFields) {
    const value = input[field]
    for (const text of Array.isArray(value) ? value : [value]) {
      if (typeof text !== "string") continue
      const identity = identityIn(field, text.trim())
      if (!recipients.has(identity)) recipients.set(identity, { shown: text, identities: [identity] })
    }
  }
  return [...recipients.values()]
}

/** Times of two turns may differ by this much. */
const clockMicros = 10_000_000n

/** The latest contact of an identity. */
export interface Contact {
  readonly run_id: string
  /** Microseconds since 1970. In the future for a run that waits: when its approval expires. */
  readonly at: bigint
}

export interface ContactRefusal {
  readonly code: "contact_guard"
  readonly message: string
}

const timeOf = (micros: bigint): string => `${new Date(Number(micros / 1000n)).toISOString().slice(0, 19)}Z`

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`
const timeSpan = (seconds: number): string =>
  seconds % 86_400 === 0 ? counted(seconds / 86_400, "day") : counted(seconds, "second")

/** The seconds for which a run is guarded: its own or the organization's, whichever is longer. Null without any. */
export const guardedSeconds = ({ within_seconds }: Contacts, days: number | null): number | null =>
  within_seconds === null && days === null ? null : Math.max(within_seconds ?? 0, (days ?? 0) * 86_400)

/** The refusal of a run if one of its recipients was contacted. Null if it may contact all of them. */
export const contactRefusal = (
  contacts: Contacts,
  {
    days,
    latest,
    now
  }: { readonly days: number | null; readonly latest: (identity: string) => Contact | null; readonly now: bigint }
): ContactRefusal | null => {
  const seconds = guardedSeconds(contacts, days)
  if (seconds === null) return null
  const window = BigInt(seconds) * 1_000_000n
  for (const { shown, identities, contacted } of contacts.recipients) {
    const before = contacted === undefined ? [] : [{ run_id: contacted.run_id, at: BigInt(contacted.at) }]
    const latestContacts = [...identities.flatMap((identity) => latest(identity) ?? []), ...before]
    const contact = latestContacts.sort((a, b) => (a.at < b.at ? 1 : -1))[0]
    if (contact === undefined || contact.at <= now - window) continue
    const [by, at] = [contact.run_id, timeOf(contact.at)]
    const why =
      contact.at > now + clockMicros
        ? `will be contacted by ${by} if that is approved before ${at}`
        : `was contacted by ${by} at ${at}, which is within ${timeSpan(seconds)}`
    return {
      code: "contact_guard",
      message: `${shown} ${why}; leave this recipient out, or write again after ${timeOf(contact.at + window)}`
    }
  }
  return null
}

/** Whether a run that ended has contacted nobody for sure. */
export const contactedNobody = (status: string, error_code: string | null): boolean =>
  status !== "succeeded" && error_code !== "outcome_unknown"
