/**
 * Compares an import with the current document: which endpoints are added, changed and removed.
 *
 * Removed endpoints are kept as retired, because runs refer to them. An endpoint that returns is no longer retired.
 */
import { type Endpoint, endpointKey, type ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { reachable } from "../../../schema/catalog/Definitions.ts"

export interface Retired {
  readonly method: string
  readonly path: string
  readonly title: string
  /** When an import first lacked it, in ISO 8601. */
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

/** A text for the endpoint and its shared schemas that does not depend on the order of keys. */
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
    const oldEndpoint = old.get(key)
    kept.add(key)
    if (oldEndpoint === undefined || before === null) added.push(key)
    else if (fingerprint(before.document, oldEndpoint) !== fingerprint(after, endpoint)) changed.push(key)
  }
  const removed = [...old.values()].filter((one) => !kept.has(endpointKey(one)))
  const retired = [
    ...(before?.retired ?? []).filter((one) => !kept.has(endpointKey(one))),
    ...removed.map(({ method, path, title }): Retired => ({ method, path, title, retired_at: now }))
  ]
  return {
    added: added.sort(),
    changed: changed.sort(),
    removed: removed.map(endpointKey).sort(),
    unchanged: kept.size - added.length - changed.length,
    retired
  }
}
