/**
 * Builds the outcomes that adapters return, and reads the cost that a provider reports for a call.
 *
 * A cost is a decimal string without exponent. An unreadable cost is left out, and the run is settled by the offer's price. HTTP errors get
 * one of a few reasons by standard rules, which an adapter can override, so no code outside the adapters handles status codes.
 */
import { type Cost, failure, type Failure, type Outcome, type Reply } from "../../../schema/catalog/Provider.ts"
import { at, list, type Path, text } from "./read.ts"

/** Nine decimals are finer than any price, and round off the error of binary fractions (0.1 + 0.2). */
const decimalsMax = 9
/** More than any call costs. A larger reported cost is a mistake and ignored. */
const amountMax = 1e9

const decimal = (reported: unknown): string | null => {
  if (typeof reported === "string") return /^\d{1,9}(\.\d{1,9})?$/.test(reported.trim()) ? reported.trim() : null
  if (typeof reported !== "number" || !(reported >= 0 && reported < amountMax)) return null
  return reported.toFixed(decimalsMax).replace(/\.?0+$/, "")
}

export const cost = (unit: Cost["unit"], reported: unknown, ...path: Path): Cost | null => {
  const amount = decimal(at(reported, ...path))
  return amount === null ? null : { unit, amount }
}

const costPart = (reportedCost: Cost | null) => (reportedCost === null ? {} : { cost: reportedCost })

/** Without a cost, it has the one that the provider's `measured` reads from the reply. So has a miss. */
export const match = <O>(output: O, reportedCost: Cost | null = null): Outcome<O> => ({
  _tag: "Match",
  output,
  ...costPart(reportedCost)
})

export const noMatch = (detail: string, reportedCost: Cost | null = null): Outcome<never> => ({
  _tag: "NoMatch",
  detail,
  ...costPart(reportedCost)
})

export interface ErrorRules {
  /** Error statuses that the offers read themselves, such as a 404 that means "nobody found". */
  readonly answers?: ReadonlyArray<number>
  /** Statuses that have another meaning at this provider than usual. */
  readonly reasons?: Readonly<Record<number, Failure["reason"]>>
  /** Statuses that say that the account has no credits left, whatever the message is. 402 always does. */
  readonly empty?: ReadonlyArray<number>
  /** Reads errors from the reply's body. Called before the status is checked. */
  readonly reason?: (reply: Reply) => Failure["reason"] | undefined
}

/** Enough to recognize the problem. Providers' error texts can be whole pages. */
const detailLengthMax = 200

const messagePaths = [
  ["errors", 0, "details"],
  ["errors", 0, "title"],
  ["Errors", 0, "Message"],
  ["error", "message"],
  ["detail", "error"],
  ["message"],
  ["Message"],
  ["error"],
  ["error_code"],
  ["detail"]
] as const

/** The provider's error message, shortened. Empty if the reply has none. */
export const errorText = (reply: Reply): string => {
  for (const path of messagePaths) {
    const message = text(reply.body, ...path)
    if (message !== null) return message.slice(0, detailLengthMax)
  }
  return ""
}

/** The seconds in Retry-After. A date is compared with the reply's own Date header, because adapters have no clock. */
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

/** Words with which providers refuse a call because an account has no credits left. Their statuses differ: 402, 403, 429, 432 … */
const outOfCredits = /credit|balance|quota|funds|billing|payment|usage limit|plan limit/i

/** The failure for an error status. Offers call it for statuses of `answers` that turn out to be errors. */
export const refusal = (
  reply: Reply,
  reason: Failure["reason"] = standardReason(reply.status),
  emptyStatuses: ReadonlyArray<number> = []
): Failure => {
  const message = errorText(reply)
  const empty =
    reason === "provider_account" && ([402, ...emptyStatuses].includes(reply.status) || outOfCredits.test(message))
  return {
    ...failure(
      reason,
      message === "" ? `HTTP ${reply.status}` : `HTTP ${reply.status}: ${message}`,
      retryAfterSeconds(reply)
    ),
    ...(empty ? { outOfCredits: true as const } : {})
  }
}

/** The failure for a success status whose body lacks what the adapter expects. */
export const unreadable = (expected: string): Failure =>
  failure("invalid_response", `the answer has no readable ${expected}`)

interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number | null
  readonly next_cursor: string | null
}

interface PageOptions<A> extends Partial<Omit<Page<A>, "items">> {
  /** The list, if it is more than what is at the path. Null if the answer can't be read. */
  readonly values?: ReadonlyArray<unknown> | null
  /** The detail of the miss when the list is empty. */
  readonly none: string
  /** The most items that are returned. */
  readonly limit: number
  readonly item: (value: unknown, index: number) => A
  readonly cost?: Cost | null
}

/**
 * One page of items from the list at a path such as `data.web`: unreadable without a list, and a miss when it is empty. `more` are output
 * fields beside those of the page.
 */
export function pageFrom<A, M extends object>(
  body: unknown,
  path: string,
  options: PageOptions<A> & { readonly more: M }
): Outcome<Page<A> & M>
export function pageFrom<A>(body: unknown, path: string, options: PageOptions<A>): Outcome<Page<A>>
export function pageFrom<A>(body: unknown, path: string, options: PageOptions<A> & { readonly more?: object }) {
  const { none, limit, item, cost: reported, total = null, next_cursor = null, more } = options
  const { values = list(body, ...path.split(".")) } = options
  if (values === null) return unreadable(path)
  if (values.length === 0) return noMatch(none, reported)
  return match({ items: values.slice(0, limit).map(item), total, next_cursor, ...more }, reported)
}

export const httpErrors =
  (rules: ErrorRules = {}) =>
  (reply: Reply): Failure | undefined => {
    const reason = rules.reason?.(reply) ?? rules.reasons?.[reply.status]
    if (reason !== undefined) return refusal(reply, reason, rules.empty)
    if (rules.answers?.includes(reply.status) === true) return undefined
    if (reply.status < 200 || reply.status >= 300) return refusal(reply)
    return reply.body === undefined
      ? failure("invalid_response", `HTTP ${reply.status} with a body that is not JSON`)
      : undefined
  }
