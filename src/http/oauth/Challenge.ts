/**
 * Asks a request to /mcp without a valid token to authorize: 401 with the address of the metadata, which leads a host to the consent page.
 *
 * Hosts that send an API key need none of it. A token that has expired gets the same answer, so that a host refreshes it.
 */
import { Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { environmentOf, tokenForm } from "../middleware/CallerChecks.ts"
import { tokenOf } from "../middleware/Bearer.ts"
import { problemAnswer } from "../standards/ProblemType.ts"
import { challenge, issuerFor } from "./Issuer.ts"

const missing = problem(
  "unauthorized",
  "Connect with OAuth, as the header WWW-Authenticate says, or send an API key in the header Authorization: Bearer <API key>."
)
const invalid = problem(
  "unauthorized",
  "This token is unknown, revoked or expired, or of another environment. Refresh it, connect again, or send an API key in the header Authorization: Bearer <API key>."
)

export const makeChallenged = Effect.gen(function* () {
  const accounts = yield* Accounts
  const settings = yield* Settings
  const environment = environmentOf(settings.mode)

  const isValid = Effect.fnUntraced(function* (token: Redacted.Redacted) {
    if (!tokenForm.test(Redacted.value(token))) return false
    const principal = Option.getOrNull(yield* accounts.principal(token))
    return principal !== null && (principal.environment === null || principal.environment === environment)
  })

  /** The answer to a request that must authorize first. Null if it may go on. */
  return Effect.fnUntraced(function* ({ headers }: HttpServerRequest.HttpServerRequest) {
    const { authorization, host } = headers
    if (authorization !== undefined && (yield* isValid(tokenOf({ authorization })))) return null
    const hasToken = authorization !== undefined
    const header = challenge(issuerFor(settings, host), hasToken)
    return problemAnswer(hasToken ? invalid : missing, { "www-authenticate": header })
  })
})
