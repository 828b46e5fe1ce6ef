/**
 * The standard reading of HTTP failures, which a provider's own peculiarities override.
 *
 * Whatever a provider answers ends as one of five reasons, so nothing above an adapter has to know status codes.
 */
import { type Failure, failure, type Reply } from "../../../schema/catalog/Provider.ts"
import { text } from "./read.ts"

export interface ErrorRules {
  /** Statuses outside 200 that the provider's offers read themselves, such as a 404 that means "nobody found". */
  readonly answers?: ReadonlyArray<number>
  /** Statuses that mean something else here than elsewhere. */
  readonly reasons?: Readonly<Record<number, Failure["reason"]>>
  /** Error shapes that need a look into the reply; consulted before the status. */
  readonly reason?: (reply: Reply) => Failure["reason"] | undefined
}

/** Enough to recognize the problem; provider texts can be whole pages. */
const detailLengthMax = 200

const messagePaths = [
  ["errors", 0, "details"],
  ["errors", 0, "title"],
  ["error", "message"],
  ["detail", "error"],
  ["message"],
  ["Message"],
  ["error"],
  ["error_code"],
  ["detail"]
] as const

/** What the provider said about it, shortened. */
export const said = (reply: Reply): string => {
  for (const path of messagePaths) {
    const found = text(reply.body, ...path)
    if (found !== null) return found.slice(0, detailLengthMax)
  }
  return ""
}

/** Seconds to wait. A date counts from the reply's own date, so that no clock is needed. */
const retryAfterSeconds = (reply: Reply): number | undefined => {
  const value = reply.headers["retry-after"]?.trim() ?? ""
  if (/^\d{1,6}(\.\d+)?$/.test(value)) return Math.ceil(Number(value))
  const seconds = (Date.parse(value) - Date.parse(reply.headers["date"] ?? "")) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}

const standardReason = (status: number): Failure["reason"] => {
  if (status === 401 || status === 402 || status === 403) return "provider_account"
  return status === 429 ? "provider_rate_limited" : "provider_error"
}

/** The failure that a status means, for offers that looked at a reply and found no answer in it. */
export const refusal = (reply: Reply, reason: Failure["reason"] = standardReason(reply.status)): Failure => {
  const words = said(reply)
  return failure(
    reason,
    words === "" ? `HTTP ${reply.status}` : `HTTP ${reply.status}: ${words}`,
    retryAfterSeconds(reply)
  )
}

/** The provider answered in a shape that its adapter does not know. */
export const unreadable = (expected: string): Failure =>
  failure("invalid_response", `the answer has no readable ${expected}`)

export const httpErrors =
  (peculiarities: ErrorRules = {}) =>
  (reply: Reply): Failure | undefined => {
    const reason = peculiarities.reason?.(reply) ?? peculiarities.reasons?.[reply.status]
    if (reason !== undefined) return refusal(reply, reason)
    if (peculiarities.answers?.includes(reply.status) === true) return undefined
    if (reply.status < 200 || reply.status >= 300) return refusal(reply)
    return reply.body === undefined
      ? failure("invalid_response", `HTTP ${reply.status} with a body that is not JSON`)
      : undefined
  }
