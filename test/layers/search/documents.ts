/** Small documents for tests: everything left out is empty. */
import { Effect } from "effect"
import type { SearchDocument } from "../../../src/layers/search/Document.ts"
import { buildIndex, search, type SearchIndex, type SearchRequest } from "../../../src/layers/search/Index.ts"
import type { Concept } from "../../../src/layers/search/synonyms.ts"

type Part = Partial<Omit<SearchDocument, "id" | "kind">>

export const capabilityNamed = (slug: string, part: Part = {}): Omit<SearchDocument, "id"> => ({
  kind: "capability",
  slug,
  provider: null,
  title: "",
  description: "",
  tags: [],
  providers: [],
  method: null,
  live: true,
  wrapped_by: [],
  ...part
})

export const endpointAt = (slug: string, part: Part = {}): Omit<SearchDocument, "id"> => ({
  ...capabilityNamed(slug),
  kind: "endpoint",
  provider: "acme",
  method: "GET",
  ...part
})

export const indexOf = (
  documents: ReadonlyArray<Omit<SearchDocument, "id">>,
  synonyms?: ReadonlyArray<Concept>
): Promise<SearchIndex> =>
  Effect.runPromise(
    buildIndex(
      documents.map((document, id) => ({ ...document, id })),
      synonyms === undefined ? {} : { synonyms }
    )
  )

/** The slugs that a query finds, best first. */
export const slugsFor = (index: SearchIndex, query: string, request: Partial<SearchRequest> = {}) =>
  search(index, { query, limit: 10, ...request }).map(({ id }) => index.documents[id]?.slug ?? "")
