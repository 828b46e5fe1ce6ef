/** `POST /oauth/token` and `POST /oauth/revoke` (RFC 6749, 7009, 7636, 8707), for public clients with PKCE. */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, UrlParams } from "effect/http"
import { Connections, type Tokens } from "../../layers/oauth/Connections.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { keysMax } from "../../layers/accounts/Accounts.ts"
import { isClientId } from "../../schema/oauth/Client.ts"
import { environmentOf } from "../middleware/CallerChecks.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { oauthAnswer, oauthError } from "./Answers.ts"
import { isResource, issuerOf, revokePath, tokenPath } from "./Issuer.ts"
import { receivedForm } from "./Received.ts"

const Text = Schema.NonEmptyString.check(Schema.isMaxLength(4_000))
const CodeForm = Schema.Struct({ code: Text, redirect_uri: Text, client_id: Text, code_verifier: Text })
const RefreshForm = Schema.Struct({ refresh_token: Text, client_id: Text })
const RevokeForm = Schema.Struct({ token: Text, client_id: Schema.optionalKey(Text) })
const decodeCode = Schema.decodeUnknownOption(CodeForm)
const decodeRefresh = Schema.decodeUnknownOption(RefreshForm)
const decodeRevoke = Schema.decodeUnknownOption(RevokeForm)

/** The fields of a form. A field that comes twice is a list, which no schema here takes. */
const form = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.map(Effect.orDie(request.text), (text) => UrlParams.toRecord(UrlParams.fromInput(new URLSearchParams(text))))
)

const shown = ({ access, refresh, seconds, scope }: Tokens) =>
  oauthAnswer({
    access_token: Redacted.value(access),
    token_type: "Bearer",
    expires_in: seconds,
    refresh_token: Redacted.value(refresh),
    scope
  })

const missing = (names: string) => oauthError("invalid_request", `Send each of these fields once, as a form: ${names}.`)
const unknownClient = oauthError("invalid_client", "This client_id is not one of this server. Register again.")
const otherResource = oauthError("invalid_target", "resource is not this service's address of /mcp.")
const badCode = oauthError(
  "invalid_grant",
  "The code is unknown, was used or has expired, or client_id, redirect_uri or code_verifier is not the one that it was made for. Connect again."
)
const badRefresh = oauthError(
  "invalid_grant",
  "The refresh token is unknown or was used before, or the connection has ended. Connect again."
)
const tooManyKeys = oauthError(
  "invalid_grant",
  `The organization has ${keysMax} API keys in use, which is the most. Revoke one and connect again.`
)

const tooManyInUse = oauthError(
  "invalid_request",
  `The organization has ${keysMax} API keys in use, which is the most. Revoke one and refresh again.`
)

export const TokenRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings
    const connections = yield* Connections
    const environment = environmentOf(settings.mode)

    const exchanged = Effect.fnUntraced(function* (fields: unknown, address: string) {
      const codeRequest = Option.getOrNull(decodeCode(fields))
      if (codeRequest === null) return missing("code, redirect_uri, client_id, code_verifier")
      const { code_verifier: verifier, ...rest } = codeRequest
      if (!isClientId(codeRequest.client_id)) return unknownClient
      return yield* connections.redeem({ ...rest, verifier, environment, address }).pipe(
        Effect.map((tokens) => (tokens === null ? badCode : shown(tokens))),
        Effect.catchTag("TooManyKeys", () => Effect.succeed(tooManyKeys))
      )
    })

    const refreshed = Effect.fnUntraced(function* (fields: unknown, address: string) {
      const refreshRequest = Option.getOrNull(decodeRefresh(fields))
      if (refreshRequest === null) return missing("refresh_token, client_id")
      if (!isClientId(refreshRequest.client_id)) return unknownClient
      const { refresh_token: token, client_id } = refreshRequest
      return yield* connections.refresh({ token, client_id, address }).pipe(
        Effect.map((tokens) => (tokens === null ? badRefresh : shown(tokens))),
        // The connection and its refresh token stay as they are.
        Effect.catchTag("TooManyKeys", () => Effect.succeed(tooManyInUse))
      )
    })

    const token = Effect.gen(function* () {
      const fields = yield* form
      const { address } = yield* RequestContext
      const { grant_type, resource } = fields
      if (resource !== undefined && (typeof resource !== "string" || !isResource(yield* issuerOf(settings), resource)))
        return otherResource
      if (grant_type === "authorization_code") return yield* exchanged(fields, address)
      if (grant_type === "refresh_token") return yield* refreshed(fields, address)
      return grant_type === undefined
        ? missing("grant_type")
        : oauthError("unsupported_grant_type", "grant_type is authorization_code or refresh_token.")
    })

    const revoke = Effect.gen(function* () {
      const revocation = Option.getOrNull(decodeRevoke(yield* form))
      if (revocation === null) return missing("token")
      const { address } = yield* RequestContext
      yield* connections.revoke({ token: revocation.token, client_id: revocation.client_id ?? null, address })
      // The same for an unknown token, as the standard asks.
      return oauthAnswer({})
    })

    return Layer.mergeAll(
      HttpRouter.add("POST", tokenPath, receivedForm(token)),
      HttpRouter.add("POST", revokePath, receivedForm(revoke))
    )
  })
)
