/**
 * Versions of catalog entries: a digest of what a run's plan is based on. Two runs with the same version saw the same contract and the same
 * prices, whatever the release.
 *
 * A digest is computed once per entry and process. An import makes new endpoint objects, and they get new versions.
 */
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import type { CatalogEntry } from "./Catalog.ts"

/** 64 bits: different versions of one entry do not collide. */
const digits = 16
const versions = new WeakMap<object, string>()

const versionOf = (entry: object, facts: () => unknown): string => {
  const before = versions.get(entry)
  if (before !== undefined) return before
  const text = JSON.stringify(facts(), (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value))
  const version = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, digits)
  versions.set(entry, version)
  return version
}

export const catalogVersion = (entry: CatalogEntry): string =>
  versionOf(entry, () => {
    const { slug, status, billing, side_effect, input, output } = entry.capability
    const offers = entry.offers.map(({ provider, offer, executable }) => [provider.slug, offer.price, executable])
    return { slug, status, billing, side_effect, input: input.jsonSchema, output: output.jsonSchema, offers }
  })

export const endpointVersion = (endpoint: Endpoint): string => versionOf(endpoint, () => endpoint)
