/**
 * A digest of what a run asks: its target and its input, whatever the order of the fields. Two runs with one digest ask the same.
 *
 * Routing, labels and the caller are no part of it.
 */
import { canonicalJson } from "../json/CanonicalJson.ts"

/** The first 128 bits are enough: only an organization's own runs are compared. */
const digestChars = 22

/** The request of a raw run as its provider gets it, without the body. */
export interface RequestTarget {
  readonly provider: string
  readonly method: string
  /** The filled path. */
  readonly path: string
  readonly query: ReadonlyArray<readonly [string, string]>
}

/** What a run calls. */
export type Target = { readonly capability: string; readonly include_raw?: true } | RequestTarget

export const inputHashOf = (target: Target, input: unknown): string =>
  new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(canonicalJson([target, input])))
    .digest("base64url")
    .slice(0, digestChars)

/** The digest of a raw request. An adapter's request has the same if it would send the same. */
export const requestHashOf = ({ query, ...target }: RequestTarget, body: unknown): string =>
  inputHashOf(
    { ...target, query: query.toSorted(([a, b], [c, d]) => (a === c ? (b < d ? -1 : 1) : a < c ? -1 : 1)) },
    body
  )
