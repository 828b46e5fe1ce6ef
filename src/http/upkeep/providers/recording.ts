/**
 * A provider's answer as a fixture for `npm test`: without addresses, phone numbers, secrets and account figures. Pure.
 *
 * The adapter reads the redacted answer again, so that the recording says what the adapter makes of exactly this payload.
 */
import type { Schema } from "effect"
import { isRecord, parsedOrText } from "../../../schema/json/Json.ts"
import { failure, type Offer, type Outcome } from "../../../schema/catalog/Provider.ts"

export interface Recording {
  readonly provider: string
  readonly capability: string
  readonly recorded_at: string
  readonly input: unknown
  /** The provider's last answer. */
  readonly answer: { readonly status: number; readonly body: unknown }
  /** What the adapter makes of it. Null if it needs more than this answer, as for a job that is polled. */
  readonly output: unknown
}

const secretKey = /(^|_|-)(token|secret|password|authorization|cookie|session|api_?key|webhook)s?($|_|-)/i
/** Figures about the operator's account. */
const accountKey =
  /(credits?|balance|quota)[_-]?(remaining|left|total|used)?$|^(account|team|workspace|owner)([_-]?(id|name|email))?$/i
const phone = /^\+?\(?\d[\d\s().-]{7,18}\d$/
const email = /[\w.+-]+@(?=[\w-]+(\.[\w-]+)+)/g

const redactedText = (text: string): string =>
  phone.test(text.trim()) && !/^\d{4}-\d\d-\d\d/.test(text)
    ? "+14155550100"
    : text
        .replace(email, "redacted@")
        .replace(/([?&](?:token|key|sig|signature|expires|x-[\w-]+)=)[^&#\s"]+/gi, "$1redacted")

/** Longer lists say nothing more about the format. */
const itemsMax = 3

export const redacted = (value: unknown, key = ""): unknown => {
  if (secretKey.test(key) && value !== null) return typeof value === "number" ? 0 : "redacted"
  if (accountKey.test(key)) {
    // Reported costs stay, because the adapter reads them.
    if (typeof value === "string") return /^\d+(\.\d+)?$/.test(value) ? value : "redacted"
    if (typeof value === "number") return /remaining|left|balance|quota/i.test(key) ? 0 : value
  }
  if (typeof value === "string") return redactedText(value)
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((one) => redacted(one, key))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redacted(member, name)]))
}

/** What the adapter makes of an answer. An adapter that throws has not read it. */
export const replayed = (
  offer: Offer,
  input: unknown,
  answer: Recording["answer"],
  state: Schema.Json = null
): Outcome<unknown> => {
  const text = JSON.stringify(answer.body)
  try {
    return offer.response({ status: answer.status, headers: {}, body: answer.body, text }, input, state)
  } catch {
    return failure("invalid_response", "the adapter could not read the recorded answer")
  }
}

export const recordingOf = (
  about: Pick<Recording, "provider" | "capability" | "recorded_at" | "input">,
  offer: Offer,
  raw: unknown
): Recording => {
  const body = redacted(typeof raw === "string" ? parsedOrText(raw) : raw)
  const answer = { status: 200, body }
  const outcome = replayed(offer, about.input, answer)
  return { ...about, answer, output: outcome._tag === "Match" ? outcome.output : null }
}
