/**
 * The catalog's documents as discover indexes them, for tests and measurements: every capability, and every endpoint of the
 * providers' documents that ship with the project. Everything counts as having an account.
 *
 * Where no document ships yet, the providers' own specifications are read instead, as far as a few lines can.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
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
const specs = join(import.meta.dir, "../../../../shared/specs")

const shippedEndpoints = (): ReadonlyArray<Listed> =>
  (existsSync(shipped) ? readdirSync(shipped) : [])
    .filter((file) => file.endsWith(".json.gz"))
    .flatMap((file) => {
      const [head = "", ...lines] = gunzipSync(readFileSync(join(shipped, file)))
        .toString("utf8")
        .split("\n")
      const { provider } = JSON.parse(head)
      return lines.filter((line) => line !== "").map((line): Listed => ({ ...JSON.parse(line), provider }))
    })

const openApi = (provider: string, file: string): ReadonlyArray<Listed> => {
  const text = readFileSync(join(specs, file), "utf8")
  const { paths }: { paths: Record<string, Record<string, any>> } = file.endsWith(".json")
    ? JSON.parse(text)
    : Bun.YAML.parse(text)
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => /^(get|post|put|patch|delete)$/.test(method))
      .map(
        ([method, operation]): Listed => ({
          provider,
          method: method.toUpperCase(),
          path,
          title: operation.summary ?? operation.operationId ?? path,
          description: operation.description ?? "",
          tags: operation.tags ?? []
        })
      )
  )
}

const specified = (): ReadonlyArray<Listed> => {
  const { platforms } = JSON.parse(readFileSync(join(specs, "scrapecreators.catalog.json"), "utf8"))
  const actors: ReadonlyArray<any> = JSON.parse(readFileSync(join(specs, "apify-actors/actors.json"), "utf8"))
  return [
    ...openApi("dataforseo", "dataforseo.yaml"),
    ...openApi("apollo", "apollo.json"),
    ...openApi("peopledatalabs", "peopledatalabs.json"),
    ...readdirSync(join(specs, "hunter")).flatMap((file) => openApi("hunter", join("hunter", file))),
    ...openApi("firecrawl", "firecrawl.json"),
    ...openApi("exa", "exa.yaml"),
    ...openApi("tavily", "tavily.json"),
    ...openApi("serper", "serper.yaml"),
    ...openApi("twilio_lookup", "twilio_lookups_v2.json"),
    ...openApi("sec_edgar", "sec_edgar.yaml"),
    ...openApi("resend", "resend.yaml"),
    ...platforms.flatMap((platform: any) =>
      platform.endpoints.map(
        (endpoint: any): Listed => ({
          provider: "scrapecreators",
          method: endpoint.method,
          path: endpoint.path,
          title: `${platform.name} ${endpoint.name}`,
          description: `${endpoint.description} ${endpoint.fullDescription ?? ""}`,
          tags: [platform.name]
        })
      )
    ),
    ...actors.map(
      (actor): Listed => ({
        provider: "apify",
        method: "POST",
        path: actor.actor,
        title: actor.title,
        description: actor.description ?? "",
        tags: []
      })
    ),
    ...readdirSync(join(specs, "usaspending"))
      .filter((file) => file.endsWith(".apib.md"))
      .flatMap((file): ReadonlyArray<Listed> => {
        const text = readFileSync(join(specs, "usaspending", file), "utf8")
        const [, title = "", path = ""] = /^# (.*) *\[(\/[^\]{]*(?:\{[a-z_]+\}[^\]{]*)*)/m.exec(text) ?? []
        const described = text.split(/^## /m)
        const method = /^(GET|POST)/.exec(described[1] ?? "")?.[1] ?? "GET"
        const description = `${described[0]?.split("\n").slice(4).join(" ")} ${described[1]?.split("\n")[2] ?? ""}`
        return [{ provider: "usaspending", method, path, title, description, tags: [] }]
      })
  ]
}

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

const listed = (): ReadonlyArray<Listed> => {
  const found = shippedEndpoints()
  return found.length > 0 ? found : specified()
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
    ...listed().map((endpoint) => ({
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
