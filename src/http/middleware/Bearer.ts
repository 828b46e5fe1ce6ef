/** What handlers ask about the caller that Auth has accepted: the session token, and on whose behalf a change is made. */
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { needsSession } from "../access/Access.ts"
import { cookieToken } from "../access/SessionCookie.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { RequestContext } from "./RequestContext.ts"

/** The token of the `Authorization` header, else that of the session cookie. Auth has checked where a request with a cookie comes from. */
export const tokenOf = (headers: Readonly<Record<string, string | undefined>>): Redacted.Redacted =>
  cookieToken(headers) ?? Redacted.make((headers["authorization"] ?? "").replace(/^bearer\s+/i, ""))

export const bearer = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => tokenOf(headers))

/** The session of the request, with its token. */
export const makeOwnSession = Effect.map(Accounts, (accounts) =>
  Effect.gen(function* () {
    const token = yield* bearer
    const row = yield* accounts.session(token)
    return Option.isSome(row) ? { token, ...row.value } : yield* Effect.fail(needsSession)
  })
)

/** The caller of the request, as the audit log names it. */
export const actor = Effect.gen(function* () {
  const { key_id, user_id } = yield* CurrentCaller
  const { address } = yield* RequestContext
  const person: Actor = { kind: "person", id: user_id, name: null, address }
  return user_id === null ? { ...person, kind: "key" as const, id: key_id } : person
})

/** Runs a change on behalf of the request's caller. */
export const makeAsCaller = Effect.map(
  AuditLog,
  (log) =>
    <A, E, R>(change: Effect.Effect<A, E, R>) =>
      Effect.flatMap(actor, (caller) => log.by(caller)(change))
)
