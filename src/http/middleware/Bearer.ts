/** Reads the session token of a request that Auth has accepted, to tell which session it is. */
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { problem } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { signIn } from "../../schema/Steps.ts"

export const bearer = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  Redacted.make((request.headers["authorization"] ?? "").replace(/^bearer\s+/i, ""))
)

export const needsSession = problem(
  "forbidden",
  withCommands`This endpoint needs a session token (rg_sess_…). Sign in with ${signIn}.`
)
