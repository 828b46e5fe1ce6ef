/**
 * Apollo's phone offer. Apollo looks the number up after it has answered, and returns it later for the request's id.
 *
 * The request's id is stored before the first pause, so a restarted worker polls for the number and does not buy it again.
 */
import { phoneFind } from "../../../schema/capabilities/phone.find.ts"
import { inCredits } from "../../../schema/money/Rates.ts"
import { failure, offer, type Outcome, type Reply } from "../../../schema/catalog/Provider.ts"
import { note } from "./answer.ts"
import { matchCall } from "./people.ts"
import { cost, errorText, match, noMatch, unreadable } from "../kit/outcome.ts"
import { international } from "../kit/phone.ts"
import { at, entryIn, isRecord, list, number, segmentOf, text } from "../kit/read.ts"

/**
 * Apollo requires a webhook URL and would send the person's number to its owner. Nobody can own a domain that ends in `.invalid`, so
 * Apollo sends the number to nobody, and polling returns it.
 */
const unusedWebhook = "https://results.invalid/phone"

/** Apollo's documentation: "It can take several minutes for the phone numbers to be delivered." */
const timeoutMillis = 300_000
const pauseMillis = 5_000
const pauseSecondsMax = 30

/** The look-up still runs, or we polled too often. It is already paid for, so polling continues. */
export const isPending = (reply: Reply): boolean =>
  reply.status === 429
    ? errorText(reply).includes("webhook_result")
    : reply.status === 404 && text(reply.body, "error_code") === "result_pending"

/** Read from the text, because the id has up to 19 digits and a JavaScript number only 15. The last `request_id` is the right one. */
const requestId = (reply: Reply): string | null =>
  [...reply.text.matchAll(/"request_id"\s*:\s*"?(-?\d{1,19})(?!\d)"?/g)].at(-1)?.[1] ?? null

const again = (request_id: string, afterMillis: number): Outcome<never> => ({
  _tag: "Again",
  state: { request_id },
  afterMillis,
  job: true
})

/** Our percentages for Apollo's words. `high` means that Apollo's users have reached the number. */
const confidences: Readonly<Record<string, number>> = { high: 90, medium: 60, low: 30 }

const readRequest = (reply: Reply): Outcome<never> => {
  const self = at(reply.body, "person")
  if (self === null || (self === undefined && isRecord(reply.body))) return noMatch("nobody found")
  const id = requestId(reply)
  return isRecord(self) && id !== null ? again(id, pauseMillis) : unreadable("request_id")
}

export const findPhone = offer(phoneFind, {
  price: inCredits.flat("9"),
  note: `${note} Numbers arrive some time after the request.`,
  wraps: ["POST /people/match", "GET /webhook_result/{request_id}"],
  timeoutMillis,
  request: (input) => matchCall(input, { reveal_phone_number: true, webhook_url: unusedWebhook }),
  next: (state) => ({ method: "GET", path: `/webhook_result/${segmentOf(text(state, "request_id") ?? "0")}` }),
  response: (reply, _input, state) => {
    if (state === null) return readRequest(reply)
    const id = text(state, "request_id")
    if (id === null) return unreadable("state")
    if (isPending(reply)) {
      const seconds = number(reply.body, "retry_after_seconds") ?? 0
      return again(id, Math.max(pauseMillis, Math.min(seconds, pauseSecondsMax) * 1000))
    }
    const status = text(reply.body, "webhook_status")
    if (status === "in_progress") return again(id, pauseMillis)
    const result = at(reply.body, "webhook_result")
    // The status is "failed" if Apollo could not call the webhook URL. The result is there anyway.
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
        confidence: entryIn(confidences, text(valid, "confidence_cd")) ?? null
      },
      spent
    )
  }
})
