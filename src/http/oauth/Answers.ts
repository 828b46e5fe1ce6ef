/** Answers of the OAuth endpoints, in OAuth's own form of an error. No cache keeps them. */
import { HttpServerResponse } from "effect/http"

const headers = { "cache-control": "no-store", pragma: "no-cache", "x-content-type-options": "nosniff" }

export type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_target"
  | "unsupported_grant_type"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"

export const oauthAnswer = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status, headers })

export const oauthError = (error: OAuthError, error_description: string) =>
  oauthAnswer({ error, error_description }, 400)
