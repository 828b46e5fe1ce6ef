/**
 * Shared parts of the contract: the caller, pagination, and optional fields.
 *
 * `null` in an optional field of a body equals leaving it out. Unknown fields are refused.
 */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { KeyAccess } from "../../../schema/accounts/KeyAccess.ts"
import { Wire } from "../../../schema/Errors.ts"
import type { Role } from "../../../schema/accounts/Role.ts"
import { waitSecondsMax } from "./Limits.ts"

export interface Caller {
  readonly org_id: string
  readonly key_id: string | null
  readonly user_id: string | null
  readonly environment: "test" | "live" | null
  /** True for a session whose user has not verified the e-mail address. */
  readonly pending: boolean
  /** The role of a session's user in the organization. Null for an API key. */
  readonly role: Role | null
  /** The rules of the API key. Null for a session. */
  readonly access: KeyAccess | null
}

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
