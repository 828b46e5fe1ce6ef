/** The session token of a request. Auth has checked it; here it is read once more to see which session it is. */
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { problem } from "../../schema/Errors.ts"

export const bearer = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  Redacted.make((request.headers["authorization"] ?? "").replace(/^bearer\s+/i, ""))
)

export const needsSession = problem(
  "forbidden",
  "This needs a session token (rg_sess_…); sign in with POST /v1/auth/sign-in."
)
