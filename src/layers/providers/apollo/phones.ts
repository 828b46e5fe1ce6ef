/**
 * Apollo's phone numbers, which it looks up after it has answered, and keeps for whoever asks with the request's id.
 *
 * The look-up is a job: its id is stored before the first pause, so a restart asks for the number instead of buying another.
 */
import { phoneFind } from "../../../schema/capabilities/phone.find.ts"
import { flat } from "../../../schema/money/Pricing.ts"
import { failure, type Outcome, offer, type Reply } from "../../../schema/catalog/Provider.ts"
import { note } from "./answer.ts"
import { matchCall } from "./people.ts"
import { cost, match, noMatch } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import { at, isRecord, list, number, segment, text } from "../kit/read.ts"
import { said, unreadable } from "../kit/httpErrors.ts"

/**
 * The provider demands an address to send the number to, and would send a person's number to whoever owns it. Nobody can
 * own a name that ends in `.invalid`, so the number stays where it is until it is asked for.
 */
const nowhere = "https://results.invalid/phone"

/** "It can take several minutes for the phone numbers to be delivered." */
const patienceMillis = 300_000
const pauseMillis = 5_000
const pauseSecondsMax = 30

/** The look-up still runs, or was asked about too often: it is paid for, so neither is a reason to give it up. */
export const isPending = (reply: Reply): boolean =>
  reply.status === 429
    ? said(reply).includes("webhook_result")
    : reply.status === 404 && text(reply.body, "error_code") === "result_pending"

/** As text: the id has up to 19 digits, and a number of JavaScript holds 15 of them. It is the last of its name. */
const requestId = (reply: Reply): string | null =>
  [...reply.text.matchAll(/"request_id"\s*:\s*"?(-?\d{1,19})(?!\d)"?/g)].at(-1)?.[1] ?? null

const again = (request_id: string, afterMillis: number): Outcome<never> => ({
  _tag: "Again",
  state: { request_id },
  afterMillis,
  job: true
})

/** High is what the provider says of numbers that its own users have reached. */
const confidences: Readonly<Record<string, number>> = { high: 90, medium: 60, low: 30 }

const ask = (reply: Reply): Outcome<never> => {
  const self = at(reply.body, "person")
  if (self === null || (self === undefined && isRecord(reply.body))) return noMatch("nobody found")
  const id = requestId(reply)
  return isRecord(self) && id !== null ? again(id, pauseMillis) : unreadable("request_id")
}

export const findPhone = offer(phoneFind, {
  // 9 credits × $0.025 × 1.2
  price: flat("0.27"),
  note: `${note} Numbers arrive some time after the request.`,
  wraps: [
    { method: "POST", path: "/people/match" },
    { method: "GET", path: "/webhook_result/{request_id}" }
  ],
  timeoutMillis: patienceMillis,
  request: (input) => matchCall(input, { reveal_phone_number: true, webhook_url: nowhere }),
  next: (state) => ({ method: "GET", path: `/webhook_result/${segment(text(state, "request_id") ?? "0")}` }),
  response: (reply, _input, state) => {
    if (state === null) return ask(reply)
    const id = text(state, "request_id")
    if (id === null) return unreadable("state")
    if (isPending(reply)) {
      const seconds = number(reply.body, "retry_after_seconds") ?? 0
      return again(id, Math.max(pauseMillis, Math.min(seconds, pauseSecondsMax) * 1000))
    }
    const status = text(reply.body, "webhook_status")
    if (status === "in_progress") return again(id, pauseMillis)
    const result = at(reply.body, "webhook_result")
    // "failed" is what becomes of an address that nobody owns; the result is there all the same.
    if (!isRecord(result)) {
      return status === "failed"
        ? failure("provider_error", text(reply.body, "failure_reason") ?? "the look-up failed")
        : unreadable("webhook_result")
    }
    const spent = cost("credit", result, "credits_consumed")
    const people = list(result, "people")
    if (people === null) return unreadable("people")
    const numbers = list(people[0], "phone_numbers") ?? []
    const valid = numbers.find((one) => text(one, "status_cd") === "valid_number") ?? numbers[0]
    const phone = international(text(valid, "sanitized_number") ?? text(valid, "raw_number"))
    if (phone === null) return noMatch("no number found", spent)
    return match(
      {
        phone,
        phone_type: text(valid, "type_cd"),
        confidence: confidences[text(valid, "confidence_cd") ?? ""] ?? null
      },
      spent
    )
  }
})
