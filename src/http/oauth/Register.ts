/**
 * `POST /oauth/register`: dynamic registration of clients (RFC 7591). It computes an id and stores nothing, so a flood of strangers leaves
 * nothing behind. Requests are limited by address.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { clientId, isClientId, redirectProblem, shownName, urisMax } from "../../schema/oauth/Client.ts"
import { oauthScopes } from "../../schema/oauth/Scope.ts"
import { type OAuthError, oauthAnswer, oauthError } from "./Answers.ts"
import { registerPath } from "./Issuer.ts"
import { received } from "./Received.ts"
import { optional } from "../../schema/optional.ts"

/** Other members, such as addresses of logos, are ignored: nothing here shows them. */
const Registration = Schema.fromJsonString(
  Schema.Struct({
    redirect_uris: Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(urisMax)),
    client_name: optional(Schema.String)
  })
)
const decodeRegistration = Schema.decodeUnknownOption(Registration)

const refused = (error: OAuthError, description: string) => Effect.succeed(oauthError(error, description))

const register = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const registration = Option.getOrNull(decodeRegistration(yield* Effect.orDie(request.text)))
  if (registration === null)
    return yield* refused("invalid_client_metadata", `Send JSON with redirect_uris: one to ${urisMax} texts.`)
  const { redirect_uris } = registration
  for (const [at, uri] of redirect_uris.entries()) {
    const wrong = redirectProblem(uri)
    if (wrong !== null) return yield* refused("invalid_redirect_uri", `redirect_uris.${at} ${wrong}.`)
  }
  const client_name = shownName(registration.client_name ?? "") || new URL(redirect_uris[0] ?? "").host
  const client = { client_name, redirect_uris }
  const client_id = clientId(client)
  if (!isClientId(client_id))
    return yield* refused(
      "invalid_client_metadata",
      "client_name and redirect_uris are too long together. Shorten them."
    )
  const now = yield* Clock.currentTimeMillis
  return oauthAnswer(
    {
      client_id,
      client_id_issued_at: Math.floor(now / 1_000),
      ...client,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: oauthScopes.join(" ")
    },
    201
  )
})

export const RegisterRoute = HttpRouter.add("POST", registerPath, received(register))
