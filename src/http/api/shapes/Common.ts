/**
 * Shared parts of the contract: the caller, pagination, optional fields, and what an operation says beside its path and its schemas: its
 * words, who may call it, and the command that does the same.
 *
 * `null` in an optional field of a body equals leaving it out. Unknown fields are refused. The access check (access/Access.ts), the OpenAPI
 * document, docs/api.md, the command line and the console read what an operation says. An operation with a credential that says nothing is
 * the owner's, and `test/http/roles.test.ts` fails.
 */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Caller } from "../../../schema/accounts/KeyAccess.ts"
import { Wire } from "../../../schema/Errors.ts"
import type { Role } from "../../../schema/accounts/Role.ts"
import { pageOf } from "../../../schema/nouns/Noun.ts"
import { endpointsWith } from "./Endpoint.ts"
import { waitSecondsMax } from "./Limits.ts"

/** The organization, key and user of the request's credential. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("rungate/http/api/shapes/CurrentCaller") {}

/** The person who acts in a session. Null for an API key, whoever made it: an agent's runs are for its people to approve. */
export const personOf = ({ key_id, user_id }: Caller): string | null => (key_id === null ? user_id : null)

/** Calls carry `Authorization: Bearer <token>`: an API key (`rg_test_…`, `rg_live_…`) or a session (`rg_sess_…`). */
export class Auth extends HttpApiMiddleware.Service<Auth, { provides: CurrentCaller }>()(
  "rungate/http/api/shapes/Auth",
  {
    security: { bearer: HttpApiSecurity.bearer },
    error: [
      Wire.unauthorized,
      Wire.forbidden,
      Wire.organization_moved,
      Wire.rate_limited,
      Wire.invalid_request,
      Wire.request_timeout,
      Wire.payload_too_large,
      Wire.unsupported_media_type
    ]
  }
) {}

/** The outermost middleware of the contract: limits by client address for endpoints without a key, and checks of bodies before they are parsed. */
export class RequestChecks extends HttpApiMiddleware.Service<RequestChecks>()("rungate/http/api/shapes/RequestChecks", {
  error: [
    Wire.rate_limited,
    Wire.invalid_request,
    Wire.request_timeout,
    Wire.payload_too_large,
    Wire.unsupported_media_type
  ]
}) {}

/** Answers input that does not match the contract, in any part of a request. */
export class Malformed extends HttpApiMiddleware.Service<Malformed>()("rungate/http/api/shapes/Malformed", {
  error: [Wire.invalid_request]
}) {}

export { optional } from "../../../schema/optional.ts"

export const WaitSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: waitSecondsMax }))
/** A whole number in a query, in plain digits: `Number` would also take "", " 1", "0x10" and "1e2". */
export const Digits = Schema.String.check(
  Schema.isPattern(/^(0|[1-9]\d{0,8})$/u, { message: "must be a whole number" }).abort(),
  Schema.isMaxLength(9)
).pipe(Schema.decodeTo(Schema.NumberFromString))
export const WaitQuery = Digits.pipe(Schema.decodeTo(WaitSeconds))

export const listLimitDefault = 50
export const listLimitMax = 200
export const listQuery = {
  limit: Schema.optionalKey(
    Digits.pipe(Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: listLimitMax }))))
  ),
  cursor: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
}

/** Request and answer of a list in pages, which the query may filter. */
export const pagesWith = <S extends Schema.Constraint, F extends Schema.Struct.Fields>(item: S, filters: F) => ({
  query: { ...listQuery, ...filters },
  success: pageOf(item)
})
export const pages = <S extends Schema.Constraint>(item: S) => pagesWith(item, {})

/**
 * What an operation does, as far as it matters for API keys, and for those with a scope (`allow`):
 *
 * - `reads`: changes nothing.
 * - `runs`: starts runs; admission checks each of them against the scope, and quotes as well.
 * - `stops`: cancels a run. Closed to read-only keys.
 * - `mints`: gives an allowance. Of the keys, open to those with `allow.mint`.
 * - `revokes`: ends the calling key, or an allowance that it gave.
 * - `changes`: changes the organization. Closed to keys with a scope.
 * - `people`: is about people, or changes what a leaked key must not. Closed to all keys.
 */
export type KeyUse = "reads" | "runs" | "stops" | "mints" | "revokes" | "changes" | "people"

export interface Rights {
  /** The least role that a session needs. */
  readonly role: Role
  readonly keys: KeyUse
  /**
   * Open to keys that read their own runs only (`allow.read`). The handler shows them nothing else: their runs, the batches that they
   * started, their budget, and the allowances that they gave. `test/http/own-reads.test.ts` tries each operation.
   */
  readonly own: boolean
  /** Closed to people who have not verified their e-mail address. A key's creator has. */
  readonly verified: boolean
}

export const Rights = Context.Reference<Rights>("rungate/http/api/shapes/Rights", {
  defaultValue: () => ({ role: "owner", keys: "people", own: false, verified: true })
})

/** The words after `rungate` that do the same. Empty if there is no such command. */
export const CommandName = Context.Reference<string>("rungate/http/api/shapes/CommandName", { defaultValue: () => "" })

/** The credential that an operation needs, in words. */
export const credentialOf = ({ role, keys }: Pick<Rights, "role" | "keys">): string => {
  const session =
    role === "viewer" ? "a session token" : `a session token of ${/^[ao]/.test(role) ? "an" : "a"} ${role}`
  if (keys === "people") return session
  return `an API key${keys === "mints" ? " with allow.mint" : ""} or ${session}`
}

/** What an operation says in words. */
export const words = (summary: string, description: string, command: string) =>
  Context.add(OpenApi.annotations({ summary, description }), CommandName, command)

/** An operation that needs no credential. */
export const about = (summary: string, description: string, command = "") =>
  endpointsWith(words(summary, description, command))

interface Stated extends Omit<Rights, "own" | "verified"> {
  readonly own?: boolean
  readonly verified?: boolean
  readonly command?: string
}

/** An operation of somebody with a credential. Its description does not say what every session and every key may do. */
export const operation = (
  { own = false, verified = false, command = "", ...more }: Stated,
  summary: string,
  description: string
) => {
  const rights = { ...more, own, verified }
  const isForAll = rights.role === "viewer" && rights.keys !== "people"
  const needs = isForAll ? "" : `Needs ${credentialOf(rights)}. `
  return endpointsWith(Context.add(words(summary, `${needs}${description}`.trimEnd(), command), Rights, rights), Auth)
}

/** An operation that changes nothing and that every session and key may call. */
export const reads = (summary: string, description: string, command = "") =>
  operation({ role: "viewer", keys: "reads", command }, summary, description)

/** The same, open to keys that read their own runs only (`own` of Rights). */
export const readsOwn = (summary: string, description: string, command = "") =>
  operation({ role: "viewer", keys: "reads", own: true, command }, summary, description)

/** An operation of an admin in a session. */
export const byAdmins = (summary: string, description: string, command = "") =>
  operation({ role: "admin", keys: "people", command }, summary, description)

/** An operation of a person about the own account. */
export const own = (summary: string, description: string, command = "") =>
  operation({ role: "viewer", keys: "people", command }, summary, description)
