/**
 * Reads what an account has left from the answer of a provider's account endpoint. An answer without a balance is a failure, never zero:
 * zero would take the provider's offers out of routing.
 */
import type { CreditsLeft } from "../../../schema/catalog/Credits.ts"
import { type Call, failure, type Provider } from "../../../schema/catalog/Provider.ts"
import type { Unit } from "../../../schema/money/Rates.ts"
import { defined } from "../../../schema/defined.ts"
import { text } from "./read.ts"
import { refusal, unreadable } from "./outcome.ts"

type Path = ReadonlyArray<string | number>

/** When the credits lapse, and whether the plan gives new ones then. */
interface Until {
  readonly path: Path
  readonly renews: boolean
}

const untilOf = (body: unknown, until: Until | undefined): Pick<CreditsLeft, "expires_at" | "renews"> => {
  const written = until === undefined ? null : text(body, ...until.path)
  const millis = written === null ? Number.NaN : Date.parse(written)
  return Number.isNaN(millis) ? {} : { expires_at: new Date(millis), ...defined({ renews: until?.renews }) }
}

export const creditsCall = (
  request: string | Call,
  unit: Unit,
  balance: (body: unknown) => number | null,
  until?: Until
): NonNullable<Provider["credits"]> => ({
  request: typeof request === "string" ? { method: "GET", path: request } : request,
  read: (reply) => {
    if (reply.status >= 400) return refusal(reply)
    const { body } = reply
    const left = balance(body)
    if (left === null) return unreadable("balance")
    // ZeroBounce answers -1 for a wrong key.
    if (left < 0) return failure("provider_account", `the provider says that ${left} is left: check the key`)
    return { _tag: "CreditsLeft", unit, balance: left, ...untilOf(body, until) }
  }
})

/** What is left of a limit. Null if one of the two is missing. */
export const leftOf = (limit: number | null, used: number | null): number | null =>
  limit === null || used === null ? null : Math.max(0, limit - used)
