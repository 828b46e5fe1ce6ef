/**
 * The contract table: for every wired offer a row that says what its answers were read from, and whether what it asks was held
 * against the provider's own document. `pairs/<slug>.json` has the rows, `contracts.test.ts` checks them, `docs.ts` prints them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { Offer } from "../../../src/schema/catalog/Provider.ts"

export interface Pair {
  readonly capability: string
  /** Where the payloads of its tests are from: documented, captured by a third party, assembled or constructed. */
  readonly payload: string
  /** "validated", "validated in part" or "not validated", and in brackets what is to be known about that. */
  readonly request: string
  /** What is asked with, where the ordinary input does not lead to the document's operation. */
  readonly input?: unknown
  /** What the document says against the request, and why that is known to be so stands in `request`. */
  readonly except?: ReadonlyArray<string>
}

/** What a provider takes for its credits or calls: the vendor's own price, where and when it was read, and by whom. */
export interface Rate {
  /** "vendor document", "read by a third party", "assumed" or "free". */
  readonly evidence: string
  readonly price: string
  readonly source: string
  /** The day, such as "2026-07-28". A price that is older than a year is read again. */
  readonly read: string
}
const rates: Readonly<Record<string, Rate>> = JSON.parse(readFileSync(new URL("rates.json", import.meta.url), "utf8"))
export const rated: ReadonlyArray<string> = Object.keys(rates)
export const rateOf = (slug: string): Rate => {
  const rate = rates[slug]
  if (rate === undefined) throw new Error(`rates.json has no price of ${slug}`)
  return rate
}

/** Whether the provider answers an offer. The service answers the others from its own records. */
export const callsProvider = ({ capability }: Offer): boolean =>
  capabilities.find((one) => one.slug === capability)?.owned === null

const folder = new URL("./pairs/", import.meta.url)

export const pairsOf = (slug: string): ReadonlyArray<Pair> => {
  const file = `${slug}.json`
  return readdirSync(folder).includes(file) ? JSON.parse(readFileSync(new URL(file, folder), "utf8")) : []
}
/** Every provider with rows. */
export const paired: ReadonlyArray<string> = readdirSync(folder).map((file) => file.replace(/\.json$/, ""))

/** "validated" of "validated (by number)", and the words in brackets. */
export const verdictOf = (words: string): readonly [verdict: string, remark: string | null] => {
  const [, verdict = words, remark] = /^(.*?) \((.*)\)$/.exec(words) ?? []
  return [verdict, remark ?? null]
}
