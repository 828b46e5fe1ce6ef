/**
 * What an import changes: endpoints that are new, that are not as they were, that are gone.
 *
 * Gone ones are kept as retired, because runs refer to them; one that comes back is no longer retired.
 */
import { type Endpoint, endpointKey, type ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { reachable } from "../../../schema/catalog/Definitions.ts"

export interface Retired {
  readonly method: string
  readonly path: string
  readonly title: string
  /** ISO 8601: when it was first missing. */
  readonly retired_at: string
}

export interface CatalogDiff {
  /** Keys, `METHOD /path`, sorted. */
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly unchanged: number
  readonly retired: ReadonlyArray<Retired>
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .map(([key, child]) => [key, sorted(child)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** An endpoint with the shared schemas it stands on, whatever the order of its keys. */
const fingerprint = (document: ProviderDocument, endpoint: Endpoint): string => {
  const schemas = [endpoint.path_params, endpoint.query_params, endpoint.body]
  return JSON.stringify(sorted([endpoint, reachable(document.definitions, schemas)]))
}

export const diff = (
  before: { readonly document: ProviderDocument; readonly retired: ReadonlyArray<Retired> } | null,
  after: ProviderDocument,
  now: string
): CatalogDiff => {
  const old = new Map((before?.document.endpoints ?? []).map((one) => [endpointKey(one), one]))
  const added: Array<string> = []
  const changed: Array<string> = []
  const kept = new Set<string>()
  for (const endpoint of after.endpoints) {
    const key = endpointKey(endpoint)
    const was = old.get(key)
    kept.add(key)
    if (was === undefined || before === null) added.push(key)
    else if (fingerprint(before.document, was) !== fingerprint(after, endpoint)) changed.push(key)
  }
  const gone = [...old.values()].filter((one) => !kept.has(endpointKey(one)))
  const retired = [
    ...(before?.retired ?? []).filter((one) => !kept.has(endpointKey(one))),
    ...gone.map(({ method, path, title }): Retired => ({ method, path, title, retired_at: now }))
  ]
  return {
    added: added.sort(),
    changed: changed.sort(),
    removed: gone.map(endpointKey).sort(),
    unchanged: kept.size - added.length - changed.length,
    retired
  }
}
