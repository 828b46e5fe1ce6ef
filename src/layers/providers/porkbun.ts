/**
 * Adapter for Porkbun, a domain registrar: checks whether a domain is available and what it costs, and registers it. No raw endpoints.
 *
 * A run requests a quote first. It registers nothing if the quote is above the caller's limit or above the hold. The run id is the
 * idempotency key, so an order is not placed twice.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { domainCheck } from "../../schema/capabilities/domain.check.ts"
import { domainRegister, domainRegisterDefaultYears } from "../../schema/capabilities/domain.register.ts"
import { dollars, type MicroUsd, usd } from "../../schema/money/Money.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { type Call, type Failure, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, errorText, httpErrors, match, noMatch, unreadable } from "./kit/outcome.ts"
import { at, flag, isRecord, segmentOf, text, whole } from "./kit/read.ts"

/** Maximum price of a year, because the hold covers no more. */
const yearCostMax = dollars("11.08")
/** An order names its cost in cents. */
const microsPerCent = 10_000n

const yes = (value: unknown, ...path: ReadonlyArray<string>): boolean | null =>
  ({ yes: true, no: false })[text(value, ...path) ?? ""] ?? flag(value, ...path)

const price = (value: unknown, ...path: ReadonlyArray<string>): string | null => {
  const amount = text(value, ...path)
  return amount !== null && /^\d{1,9}(\.\d{1,2})?$/.test(amount) ? amount : null
}

const domainSegment = (domain: string): string => segmentOf(domain.toLowerCase())

/** The body is empty, because the keys are in headers. */
const checkCall = (domain: string): Call => ({
  method: "POST",
  path: `/domain/checkDomain/${domainSegment(domain)}`,
  body: {},
  reads: true
})

const check = offer(domainCheck, {
  price: inUsd.flat("0.00025"),
  note: "Checks are free at the registrar, but limited to one per ten seconds and account. Priced at $0.00025 for that.",
  wraps: [],
  request: (input) => checkCall(input.domain),
  response: (reply, input) => {
    const quote = at(reply.body, "response")
    const available = yes(quote, "avail")
    if (available === null) return unreadable("avail")
    const first = price(quote, "price")
    const renewal = price(quote, "additional", "renewal", "price")
    return match({
      domain: input.domain.toLowerCase(),
      available,
      premium: yes(quote, "premium"),
      price: first,
      renewal_price: renewal,
      currency: first === null && renewal === null ? null : "USD",
      min_years: whole(quote, "minDuration")
    })
  }
})

type RegisterInput = InputOf<typeof domainRegister>

const yearsOf = (input: RegisterInput): number => input.years ?? domainRegisterDefaultYears

/** Why the domain can't be registered at any price. Null if it can. */
const refusalReason = (quote: unknown, input: RegisterInput): string | null => {
  if (yes(quote, "avail") === false) return "the name is taken"
  if (yes(quote, "premium") === true) return "premium names are not registered"
  const least = whole(quote, "minDuration") ?? 1
  return least > yearsOf(input) ? `names of this ending are registered for ${least} years at once` : null
}

const tooExpensive = (total: MicroUsd, { max_price }: RegisterInput): string | null => {
  if (max_price !== undefined && total > dollars(max_price)) {
    return `the registrar asks for ${usd(total)}, more than max_price`
  }
  return total > yearCostMax
    ? `the registrar asks for ${usd(total)} a year, more than this capability's price covers`
    : null
}

const quoted = (reply: Reply, input: RegisterInput): Outcome<never> => {
  const quote = at(reply.body, "response")
  if (yes(quote, "avail") === null) return unreadable("avail")
  const why = refusalReason(quote, input)
  if (why !== null) return noMatch(why)
  const quoted = price(quote, "price")
  if (quoted === null) return unreadable("price")
  const total = dollars(quoted)
  const expensive = tooExpensive(total, input)
  if (expensive !== null) return noMatch(expensive)
  return { _tag: "Again", state: { cents: Number(total / microsPerCent) }, afterMillis: 0, job: false }
}

const orderCall = (state: Schema.Json, input: RegisterInput, run_id: string): Call => ({
  method: "POST",
  path: `/domain/create/${domainSegment(input.domain)}`,
  headers: { "Idempotency-Key": run_id },
  // The registrar refuses an order if the cost differs from its current price.
  body: { cost: whole(state, "cents") ?? 0, agreeToTerms: "yes" }
})

/** Converts 973 to "9.73". */
const inDollars = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`

const register = offer(domainRegister, {
  // A year
  price: inUsd.metered("0", "11.08", domainRegisterDefaultYears),
  note: "A year of a .com, assumed at $11.08. Domains with a higher quote are refused. Registers for one year.",
  wraps: [],
  serves: (input) => yearsOf(input) === 1,
  request: (input) => checkCall(input.domain),
  next: (state, input, context) => orderCall(state, input, context.run_id),
  response: (reply, input, state) => {
    const cents = whole(state, "cents")
    if (cents === null) return quoted(reply, input)
    if (text(reply.body, "status") !== "SUCCESS") return unreadable("status of the order")
    const paid = inDollars(whole(reply.body, "cost") ?? cents)
    return match(
      {
        domain: text(reply.body, "domain") ?? input.domain.toLowerCase(),
        registered: true,
        years: yearsOf(input),
        order_id: whole(reply.body, "orderId")?.toString() ?? text(reply.body, "orderId"),
        price_paid: paid,
        expires_at: text(reply.body, "expirationDate")
      },
      cost("USD", paid)
    )
  }
})

/** Reads the error from its message, because the HTTP status is 400 for most errors and 200 for some. */
const reasonOf = (reply: Reply): Failure["reason"] | undefined => {
  if (!isRecord(reply.body) || text(reply.body, "status") !== "ERROR") return undefined
  const words = `${text(reply.body, "code") ?? ""} ${errorText(reply)}`
  if (/INVALID_DOMAIN|invalid domain/i.test(words)) return "provider_rejected"
  if (/api.?key|authenti|insufficient|funds|balance|spend.?limit/i.test(words)) return "provider_account"
  if (reply.status === 429 || /rate.?limit|within \d+ seconds|too many/i.test(words)) return "provider_rate_limited"
  return reply.status < 400 ? "provider_error" : undefined
}

export const porkbun = provider({
  slug: "porkbun",
  title: "Porkbun",
  homepage: "https://porkbun.com",
  base_url: "https://api.porkbun.com/api/json/v3",
  // The API key setting is "key:secret".
  auth: { kind: "headers", names: ["X-API-Key", "X-Secret-API-Key"] },
  excluded: "Domains belong to an organization; use domain.check or domain.register.",
  // An account may make one check per ten seconds.
  concurrency: 1,
  spacingMillis: 10_000,
  timeoutMillis: 60_000,
  httpErrors: httpErrors({ reason: reasonOf }),
  offers: [check, register]
})
