/**
 * What of the API is deprecated: one line for an operation, a field of a body, or a parameter of a query. The headers `Deprecation`
 * (RFC 9745), `Sunset` (RFC 8594) and `Link`, and `deprecated` in the OpenAPI document, follow from it.
 *
 * Nothing is deprecated at present. A line looks like this:
 *
 *     "runs.run wait_seconds": { since: "2027-01-01", sunset: "2027-07-01", use: "/docs" }
 */
import { Context } from "effect"

export interface Deprecated {
  /** The day from which on it is deprecated, UTC. */
  readonly since: string
  /** The day on which it stops working, UTC. Null if that is not decided. */
  readonly sunset: string | null
  /** The page that says what to use. */
  readonly use: string
}

/** By operation, `runs.run`, or by operation and the name of a field or parameter, `runs.run wait_seconds`. */
export type DeprecationTable = Readonly<Record<string, Deprecated>>

export const deprecations: DeprecationTable = {}

/** Tests deprecate something else. */
export const Deprecations = Context.Reference<DeprecationTable>("rungate/http/api/shapes/Deprecations", {
  defaultValue: () => deprecations
})
