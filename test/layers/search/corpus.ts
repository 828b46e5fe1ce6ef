/**
 * The catalog's documents as discover indexes them, for tests and measurements: every capability, and every endpoint of the
 * providers' documents that ship with the project. Everything counts as having an account.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { providers } from "../../../src/layers/providers/index.ts"
import type { SearchDocument } from "../../../src/layers/search/Document.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"

interface Listed {
  readonly provider: string
  readonly method: string
  readonly path: string
  readonly title: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
}

const shipped = join(import.meta.dir, "../../../src/layers/catalog/import/shipped")

const shippedEndpoints = (): ReadonlyArray<Listed> =>
  readdirSync(shipped)
    .filter((file) => file.endsWith(".json.gz"))
    .flatMap((file) => {
      const [head = "", ...lines] = gunzipSync(readFileSync(join(shipped, file)))
        .toString("utf8")
        .split("\n")
      const { provider } = JSON.parse(head)
      return lines.filter((line) => line !== "").map((line): Listed => ({ ...JSON.parse(line), provider }))
    })

const titles = new Map(providers.map(({ slug, title }) => [slug, title]))

const keyOf = ({ provider, method, path }: { provider: string; method: string; path: string }) =>
  `${provider} ${method} ${path}`

const wrapped = new Map<string, Set<string>>()
for (const provider of providers) {
  for (const { capability, wraps } of provider.offers) {
    for (const { method, path } of wraps) {
      const key = keyOf({ provider: provider.slug, method, path })
      wrapped.set(key, (wrapped.get(key) ?? new Set()).add(capability))
    }
  }
}

/** How the labelled queries name a document. */
export const labelOf = ({ kind, provider, method, slug }: SearchDocument): string =>
  kind === "capability" ? slug : keyOf({ provider: provider ?? "", method: method ?? "", path: slug })

export const catalogDocuments = (): ReadonlyArray<SearchDocument> =>
  [
    ...capabilities.map((capability) => ({
      kind: "capability" as const,
      slug: capability.slug,
      provider: null,
      title: capability.title,
      description: capability.description,
      tags: [...capability.tags, ...capability.platforms, capability.category],
      providers: providers
        .filter(({ offers }) => offers.some((offer) => offer.capability === capability.slug))
        .flatMap(({ slug, title }) => [slug, title]),
      method: null,
      live: capability.status === "live",
      wrapped_by: []
    })),
    ...shippedEndpoints().map((endpoint) => ({
      kind: "endpoint" as const,
      slug: endpoint.path,
      provider: endpoint.provider,
      title: endpoint.title,
      description: endpoint.description,
      tags: endpoint.tags,
      providers: [titles.get(endpoint.provider) ?? endpoint.provider],
      method: endpoint.method,
      live: true,
      wrapped_by: Array.from(wrapped.get(keyOf(endpoint)) ?? [])
    }))
  ].map((document, id) => ({ id, ...document }))
