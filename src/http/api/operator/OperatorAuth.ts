/**
 * Who may call the operator's operations: somebody with a session that `rungate admin console` has opened, in a cookie of its own.
 *
 * API keys and customers' sessions are refused here, and the operator's session is refused everywhere else.
 */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { words } from "../shapes/Common.ts"
import { endpointsWith } from "../shapes/Endpoint.ts"
import type { OperatorSession } from "../../../schema/nouns/operator/Session.ts"
import { Wire } from "../../../schema/Errors.ts"

export const operatorCookie = "__Host-rungate_operator"

export type Operator = typeof OperatorSession.Type & { readonly session_id: string }

/** The operator's session of the request. */
export class CurrentOperator extends Context.Service<CurrentOperator, Operator>()(
  "rungate/http/api/operator/CurrentOperator"
) {}

export class OperatorAuth extends HttpApiMiddleware.Service<OperatorAuth, { provides: CurrentOperator }>()(
  "rungate/http/api/operator/OperatorAuth",
  {
    security: { operator: HttpApiSecurity.apiKey({ in: "cookie", key: operatorCookie }) },
    error: [Wire.forbidden]
  }
) {}

/** An operation of the operator's. */
export const forOperators = (summary: string, description: string, command = "") =>
  endpointsWith(
    words(
      summary,
      `${description} For the operator of the service only: it needs the session of the operator console, and no API key or customer's session is accepted.`,
      command
    ),
    OperatorAuth
  )
