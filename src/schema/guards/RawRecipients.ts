/** Whom a raw call that acts contacts, by the names that providers of messages give such fields. Pure. */
import { isRecord } from "../json/Json.ts"
import { readEmail } from "../subjects/Email.ts"
import { type Contacts, identityIn, type Recipient } from "./ContactGuard.ts"

/** In lower case. What a field with another name holds is no recipient. */
const fields: Readonly<Record<string, string>> = {
  to: "to",
  cc: "cc",
  bcc: "bcc",
  linkedin_profile_url: "network_url",
  provider_id: "provider_member_id",
  attendees_ids: "provider_member_id",
  chat_id: "chat_id"
}
const isNamed = (name: string) => Object.hasOwn(fields, name.toLowerCase())
/** A list of messages, each with a list of recipients. */
const depthMax = 5

const recipientsIn = (field: string, value: unknown): ReadonlyArray<Recipient> => {
  if (Array.isArray(value)) return value.flatMap((one) => recipientsIn(field, one))
  // Some have `{"email": "ada@example.com", "name": "Ada"}`.
  if (isRecord(value)) return recipientsIn(field, value["email"])
  if (typeof value !== "string" || value.trim() === "") return []
  if (/url|member|chat/.test(field)) return [{ shown: value, identities: [identityIn(field, value.trim())] }]
  // Both: a name may have a comma ("Doe, Jane" <jane@example.com>), and a local part quotes ("jane"@example.com).
  const parts = [...value.split(/[,;]/), ...value.split(/[\s<>,;:"()]+/)]
  const emails = new Set(parts.flatMap((part) => readEmail(part, true)?.normalized ?? []))
  return [...emails].map((email) => ({ shown: email, identities: [`e:${email}`] }))
}

const rawRecipients = (input: unknown, depth = 0): ReadonlyArray<Recipient> => {
  if (depth > depthMax) return []
  if (Array.isArray(input)) return input.flatMap((one) => rawRecipients(one, depth + 1))
  if (!isRecord(input)) return []
  return Object.entries(input).flatMap(([name, value]) => {
    const field = fields[name.toLowerCase()]
    return field === undefined ? rawRecipients(value, depth + 1) : recipientsIn(field, value)
  })
}

/** Whether an input by this JSON Schema, with the definitions that it refers to, may name recipients. Fields that the schema does not name are not known. */
export const mayNameRecipients = (schema: unknown): boolean => {
  if (Array.isArray(schema)) return schema.some(mayNameRecipients)
  if (!isRecord(schema)) return false
  const { properties } = schema
  return (
    (isRecord(properties) && Object.keys(properties).some(isNamed)) || Object.values(schema).some(mayNameRecipients)
  )
}

/** The member of a raw run's plan that says whom it contacts. The contact guard does not count raw runs; opt-outs do. */
export const rawContacts = (input: unknown): { readonly contacts?: Contacts } => {
  const recipients = rawRecipients(input)
  return recipients.length === 0 ? {} : { contacts: { within_seconds: null, recipients } }
}
