/**
 * The search behind discover: capabilities and raw endpoints of the current catalog in one index, which is rebuilt after each import.
 *
 * Searches use the old index until the new one is complete.
 */
import { Effect, Semaphore } from "effect"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { Catalog, type CatalogEntry } from "../catalog/Catalog.ts"
import { inSlices } from "../platform/inSlices.ts"
import { Endpoints, type RawProvider, type Snapshot } from "../catalog/Endpoints.ts"
import type { SearchDocument } from "./Document.ts"
import { hintsFor, queryForData } from "./hints.ts"
import { buildIndex, search, type SearchIndex } from "./Index.ts"
import type { Hinted } from "../../schema/Hints.ts"

export type Item =
  | { readonly kind: "capability"; readonly entry: CatalogEntry }
  | { readonly kind: "endpoint"; readonly raw: RawProvider; readonly endpoint: Endpoint }

export interface DiscoverRequest {
  readonly query: string
  readonly limit: number
  readonly kind: "capability" | "endpoint" | null
  readonly provider: string | null
}

export interface DiscoverResult {
  readonly items: ReadonlyArray<{ readonly item: Item; readonly score: number }>
  readonly hinted: Hinted
  /** The catalog that was searched. */
  readonly snapshot: Snapshot
}

interface CurrentIndex {
  readonly index: SearchIndex
  readonly items: ReadonlyArray<Item>
  readonly snapshot: Snapshot
}

/** Items and documents made between two pauses: a tenth of a millisecond. */
const itemsPerPause = 64

function* itemsOf(entries: ReadonlyArray<CatalogEntry>, snapshot: Snapshot): Generator<void, ReadonlyArray<Item>> {
  const items = entries.map((entry): Item => ({ kind: "capability", entry }))
  for (const raw of snapshot.providers.values()) {
    for (const endpoint of raw.endpoints) {
      items.push({ kind: "endpoint", raw, endpoint })
      if (items.length % itemsPerPause === 0) yield
    }
  }
  return items
}

const capabilityDocument = (id: number, { capability, status, offers }: CatalogEntry): SearchDocument => ({
  id,
  kind: "capability",
  slug: capability.slug,
  provider: null,
  title: capability.title,
  description: capability.description,
  tags: [capability.category, ...capability.tags, ...capability.platforms],
  providers: offers.flatMap(({ provider }) => [provider.slug, provider.title]),
  method: null,
  live: status === "live",
  wrapped_by: []
})

const endpointDocument = (id: number, raw: RawProvider, endpoint: Endpoint, snapshot: Snapshot): SearchDocument => ({
  id,
  kind: "endpoint",
  slug: endpoint.path,
  provider: raw.slug,
  title: endpoint.title,
  description: endpoint.description,
  tags: endpoint.tags,
  providers: [raw.title],
  method: endpoint.method,
  live: raw.status === "live" && !endpoint.deprecated,
  wrapped_by: snapshot.wrappedBy(raw.slug, endpoint)
})

function* documentsOf(items: ReadonlyArray<Item>, snapshot: Snapshot): Generator<void, ReadonlyArray<SearchDocument>> {
  const documents: Array<SearchDocument> = []
  for (const [id, item] of items.entries()) {
    documents.push(
      item.kind === "capability"
        ? capabilityDocument(id, item.entry)
        : endpointDocument(id, item.raw, item.endpoint, snapshot)
    )
    if (id % itemsPerPause === 0) yield
  }
  return documents
}

/** Searches the catalog for what does a job. */
export const makeSearch = Effect.gen(function* () {
  const catalog = yield* Catalog
  const endpoints = yield* Endpoints
  let built: CurrentIndex | null = null

  const build = Effect.gen(function* () {
    const snapshot = endpoints.snapshot()
    if (built?.snapshot === snapshot) return built
    const items = yield* inSlices(itemsOf(catalog.entries, snapshot))
    const documents = yield* inSlices(documentsOf(items, snapshot))
    built = { items, snapshot, index: yield* buildIndex(documents) }
    return built
  })
  // One rebuild at a time: a second caller gets the index that the first one built.
  const rebuild = Semaphore.makeUnsafe(1).withPermits(1)(build)
  endpoints.onChange(Effect.asVoid(rebuild))

  return Effect.fnUntraced(function* ({ query, limit, kind, provider }: DiscoverRequest) {
    const { index, items, snapshot } = built ?? (yield* rebuild)
    const request = {
      query,
      limit,
      ...(kind === null ? {} : { kind }),
      ...(provider === null ? {} : { provider })
    }
    // A capability's slug looks like a domain, but is no data.
    const slugs = catalog.find(query.trim().toLowerCase()) === undefined ? queryForData(query) : null
    const hits = search(index, slugs === null ? request : { ...request, query: slugs })
    const itemsFound = hits.flatMap(({ id, score }) => {
      const item = items[id]
      return item === undefined ? [] : [{ item, score }]
    })
    return { items: itemsFound, hinted: hintsFor(index, request, hits), snapshot }
  })
})
