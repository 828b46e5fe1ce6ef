/**
 * The documents of the search index: one per capability and per raw endpoint, reduced to the texts that people search for.
 *
 * A document's `id` is its position in the list from which the index was built. So a hit leads back to its catalog item.
 */
export interface SearchDocument {
  readonly id: number
  readonly kind: "capability" | "endpoint"
  /** A capability's slug, or an endpoint's own path. */
  readonly slug: string
  /** Null for capabilities: they have `providers`. */
  readonly provider: string | null
  readonly title: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  /** Slugs and titles. */
  readonly providers: ReadonlyArray<string>
  readonly method: string | null
  readonly live: boolean
  /** Slugs of live capabilities that call this endpoint. */
  readonly wrapped_by: ReadonlyArray<string>
}

export interface Field {
  /** How much a word here counts, against a word of the description. */
  readonly weight: number
  /** BM25's `b`: how much a long text dilutes its words, from 0 to 1. */
  readonly dilution: number
  readonly textsOf: (document: SearchDocument) => ReadonlyArray<string>
}

/** A match in a name counts more than one in a description. */
export const fields: ReadonlyArray<Field> = [
  { weight: 4, dilution: 0.4, textsOf: ({ slug }) => [slug] },
  { weight: 3, dilution: 0.4, textsOf: ({ title }) => [title] },
  { weight: 2.5, dilution: 0.4, textsOf: ({ tags, method }) => (method === null ? tags : [...tags, method]) },
  {
    weight: 1.5,
    dilution: 0.3,
    textsOf: ({ provider, providers }) => (provider === null ? providers : [provider, ...providers])
  },
  { weight: 1, dilution: 0.6, textsOf: ({ description }) => [description] }
]

/** Characters indexed per text: imported documents may contain whole manuals, and a match far down says little. */
export const textMax = 2_000
/** Texts indexed per field. */
export const textsMax = 64
