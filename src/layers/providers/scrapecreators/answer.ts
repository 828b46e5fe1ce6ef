/**
 * What every answer of ScrapeCreators has in common: the credits it cost, and how it says that nothing is there.
 *
 * An answer from its cache costs none, and says so.
 */
import type { Cost, Outcome, Reply } from "../../../schema/catalog/Provider.ts"
import { cost, noMatch } from "../kit/outcome.ts"
import { flag, whole } from "../kit/read.ts"
import { refusal, unreadable } from "../kit/httpErrors.ts"

export const charged = (reply: Reply): Cost | null => cost("credit", reply.body, "credits_charged")

/** A 404 that it answers itself means that there is no such account; any other is a mistake of ours. */
export const missing = (reply: Reply): Outcome<never> | undefined => {
  if (flag(reply.body, "data", "accountDoesNotExist") === true || whole(reply.body, "errorStatus") === 404) {
    return noMatch("nothing there", charged(reply))
  }
  if (reply.status === 404) return refusal(reply)
  return flag(reply.body, "success") === true ? undefined : unreadable("success")
}
