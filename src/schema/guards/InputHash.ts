/**
 * A digest of what a run asks: its target and its input, whatever the order of the fields. Two runs with one digest ask the same.
 *
 * Routing, labels and the caller are no part of it.
 */
import { canonicalJson } from "../json/CanonicalJson.ts"

/** The first 128 bits are enough: only an organization's own runs are compared. */
const digestChars = 22

/** What a run calls. The parts of a raw request belong to its target and input. */
export type Target =
  | { readonly capability: string }
  | {
      readonly provider: string
      readonly method: string
      readonly endpoint: string
      readonly path: unknown
      readonly query: unknown
    }

export const inputHashOf = (target: Target, input: unknown): string =>
  new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(canonicalJson([target, input])))
    .digest("base64url")
    .slice(0, digestChars)
