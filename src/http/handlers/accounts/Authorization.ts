/**
 * Consent to an agent's connection. Requests come from the console's own page with a session, so no other site can consent for a person.
 *
 * An invalid request is shown to the person and redirected nowhere. A browser leaves to a redirect URI only after the person's decision.
 */
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { ClientDocuments } from "../../../layers/oauth/ClientDocuments.ts"
import { Connections } from "../../../layers/oauth/Connections.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem, refusedWith } from "../../../schema/Errors.ts"
import { documentUrl, isLoopback, mayRedirect } from "../../../schema/oauth/Client.ts"
import { challengeForm } from "../../../schema/oauth/Pkce.ts"
import { requestedScope } from "../../../schema/oauth/Scope.ts"
import { group } from "../group.ts"
import type { AuthorizationQuery } from "../../api/accounts/Authorization.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { needsSession } from "../../access/Access.ts"
import { allowAttempt } from "../../middleware/Attempts.ts"
import { bearer } from "../../middleware/Bearer.ts"
import { Limits } from "../../middleware/Limits.ts"
import { verificationProblem } from "../../middleware/Verified.ts"
import { isResource, issuerFor } from "../../oauth/Issuer.ts"

const refused = (path: string, message: string) =>
  refusedWith("invalid_request", `${path} ${message}.`, [{ path, message }])

const tooMany = problem(
  "rate_limited",
  "Too many connections of this organization were begun and not finished. Try again in a minute."
)

/** The redirect URI with the answer. Parameters that the client has put into it stay. */
const redirectTo = (uri: string, answer: Readonly<Record<string, string | undefined>>): string => {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

export const AuthorizationHandlers = group(
  "oauth",
  Effect.fnUntraced(function* (handlers) {
    const settings = yield* Settings
    const accounts = yield* Accounts
    const connections = yield* Connections
    const documents = yield* ClientDocuments
    const limits = yield* Limits

    /** The checked request. */
    const checked = Effect.fnUntraced(function* (given: AuthorizationQuery, user_id: string) {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const issuer = issuerFor(settings, headers["host"])
      // The service asks a host that the person names, so nobody can make it ask one without limit.
      if (documentUrl(given.client_id) !== null) yield* allowAttempt(limits, `document ${user_id}`)
      const client = yield* documents.client(given.client_id)
      if (client === null)
        return yield* refused("client_id", "is not a client that registered here, or whose document can be read at it")
      if (!mayRedirect(client, given.redirect_uri))
        return yield* refused("redirect_uri", "is not one that the client registered")
      if (given.response_type !== "code") return yield* refused("response_type", 'must be "code"')
      if (given.code_challenge_method !== "S256") return yield* refused("code_challenge_method", 'must be "S256"')
      if (!challengeForm.test(given.code_challenge))
        return yield* refused("code_challenge", "must be the base64url of a SHA-256 digest")
      if (!isResource(issuer, given.resource))
        return yield* refused("resource", "is not this service's address of /mcp")
      const scope = requestedScope(given.scope)
      if (scope === null) return yield* refused("scope", "must be run or lookup")
      return { client, scope, issuer }
    })

    const person = Effect.gen(function* () {
      const { org_id, user_id } = yield* CurrentCaller
      return user_id === null ? yield* Effect.fail(needsSession) : { org_id, user_id }
    })

    return handlers.handleAll({
      asked: Effect.fnUntraced(function* ({ query }) {
        const { org_id, user_id } = yield* person
        const { client, scope } = yield* checked(query, user_id)
        const session = yield* accounts.session(yield* bearer)
        const name = Option.match(session, { onNone: () => "", onSome: ({ organization }) => organization })
        return {
          client_name: client.client_name,
          redirect_uri: query.redirect_uri,
          redirect_host: new URL(query.redirect_uri).host,
          on_this_machine: isLoopback(query.redirect_uri),
          scope,
          organization: { id: org_id, name }
        }
      }),

      decide: Effect.fnUntraced(function* ({ payload }) {
        const { org_id, user_id } = yield* person
        const { client, scope, issuer } = yield* checked(payload, user_id)
        const { redirect_uri, state, approve, client_id, code_challenge: challenge, lookup_only, budget } = payload
        if (payload.organization_id !== org_id)
          return yield* refused("organization_id", "is not the organization of your session; reload the page")
        const answer = { state, iss: issuer }
        if (!approve) return { redirect_to: redirectTo(redirect_uri, { error: "access_denied", ...answer }) }
        const unverified = verificationProblem(settings, yield* CurrentCaller)
        if (unverified !== null) return yield* Effect.fail(unverified)
        const code = yield* connections
          .issue({
            org_id,
            user_id,
            client_id,
            client_name: client.client_name,
            redirect_uri,
            challenge,
            scope: lookup_only === true ? "lookup" : scope,
            budget: budget ?? null
          })
          .pipe(Effect.catchTag("TooManyCodes", () => Effect.fail(tooMany)))
        return { redirect_to: redirectTo(redirect_uri, { code: Redacted.value(code), ...answer }) }
      })
    })
  })
)
