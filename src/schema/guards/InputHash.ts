/**
 * A digest of what a run asks: its target and its input, whatever the order of the fields. Two runs with one digest ask the same.
 * The case of letters makes no difference in domains, e-mail addresses, hosts of URLs, profiles of the professional network, countries and
 * languages. Names, words and paths keep theirs.
 *
 * Routing, labels and the caller are no part of it.
 */
import type { Accept } from "../catalog/Acceptance.ts"
import { canonicalJson } from "../json/CanonicalJson.ts"
import { readHost } from "../subjects/Domain.ts"
import { readAddress } from "../subjects/Email.ts"
import { fieldOf } from "../subjects/Field.ts"
import { readNetwork } from "../subjects/Network.ts"

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
export type Target =
  | { readonly capability: string; readonly include_raw?: true; readonly accept?: Accept }
  | RequestTarget

const localeFields = new Set(["country", "country_code", "language"])
/** The scheme and the host of a URL. A user's name in it is left alone. */
const origin = /^https?:\/\/(?![^\s/?#]*@)[^\s/?#]+/i

/** The text in lower case as far as its case says nothing. A text that has no upper case there stays, and with it the digests of before. */
const caseless = (text: string, field: string): string => {
  const { host, slug } = fieldOf(field)
  const isCaseless =
    slug !== null
      ? readNetwork(text) !== null
      : host || field === "target"
        ? (readHost(text)?.registrable ?? readAddress(text, true)) !== null
        : localeFields.has(field)
  return isCaseless ? text.toLowerCase() : text.replace(origin, (start) => start.toLowerCase())
}

export const inputHashOf = (target: Target, input: unknown): string =>
  new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(canonicalJson([target, input], caseless)))
    .digest("base64url")
    .slice(0, digestChars)

/** The digest of a raw request. An adapter's request has the same if it would send the same. */
export const requestHashOf = ({ query, ...target }: RequestTarget, body: unknown): string =>
  inputHashOf(
    {
      ...target,
      query: query
        .map(([name, value]) => [name, caseless(value, name)] as const)
        .toSorted(([a, b], [c, d]) => (a === c ? (b < d ? -1 : 1) : a < c ? -1 : 1))
    },
    body
  )
