/**
 * Reads what all ScrapeCreators answers have in common: the credits they cost, and misses.
 *
 * An answer from the provider's cache reports zero credits.
 */
import type { Cost, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { cost, noMatch, refusal, unreadable } from "../kit/outcome.ts"
import { flag, whole } from "../kit/read.ts"

export const charged = (reply: Reply): Cost | null => cost("credit", reply.body, "credits_charged")

/** Reads a miss or a failure. A 404 in the body means that there is no such account. An HTTP 404 means a wrong path. */
export const missing = (reply: Reply): Outcome<never> | undefined => {
  if (flag(reply.body, "data", "accountDoesNotExist") === true || whole(reply.body, "errorStatus") === 404) {
    return noMatch("no account found")
  }
  if (reply.status === 404) return refusal(reply)
  return flag(reply.body, "success") === true ? undefined : unreadable("success")
}
