/**
 * What adapters are held against where the catalog ships no pack: names, types and ranges of the provider's own document, without its
 * sentences. `bun test/layers/providers/specifications.ts <folder of specifications>` writes them again.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { importOpenApi } from "../../../src/layers/catalog/import/openapi/index.ts"
import { pack, unpack } from "../../../src/layers/catalog/import/pack.ts"
import { withoutTexts } from "../../../src/layers/catalog/import/texts/descriptions.ts"
import type { ProviderDocument } from "../../../src/schema/catalog/Endpoint.ts"
import type { Provenance } from "../../../src/schema/Provenance.ts"

const folder = new URL("../../fixtures/specifications/", import.meta.url)

const taken = (source: string, licence: Provenance["licence"]): Provenance => ({
  source,
  licence,
  read: "2026-11-22",
  takes: "facts"
})

const described = {
  agentmail: {
    title: "AgentMail",
    base_url: "https://api.agentmail.to",
    include: [],
    provenance: taken(
      "https://github.com/agentmail-to/agentmail-docs/blob/f0cad6fc336c/current-openapi.json",
      "unstated"
    )
  },
  apify: {
    title: "Apify",
    base_url: null,
    include: [
      "POST /v2/actors/*/runs",
      "GET /v2/actor-runs/*",
      "GET /v2/datasets/*/items",
      "GET /v2/key-value-stores/*/records/*"
    ],
    provenance: taken("https://github.com/apify/apify-docs/tree/4416da612891/apify-api/openapi", "Apache-2.0")
  }
}
type Described = keyof typeof described

/** The document as an import reads it. */
export const specification = (provider: Described): Promise<ProviderDocument> =>
  Effect.runPromise(unpack(readFileSync(new URL(`${provider}.json.gz`, folder))))

/** "GET /path" of every operation of each provider's own document. */
export const operations: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(
  readFileSync(new URL("operations.json", folder), "utf8")
)

const write = async (specs: string) => {
  for (const provider of ["agentmail", "apify"] as const) {
    const { title, base_url, include, provenance } = described[provider]
    const name = `${provider}.json`
    const { document } = await Effect.runPromise(
      importOpenApi([{ name, text: readFileSync(`${specs}/${name}`, "utf8") }], {
        ...{ provider, title, base_url, include, homepage: null, auth: null, body_type: "json", exclude: [], tags: [] }
      })
    )
    const bare = withoutTexts(document.endpoints, document.definitions, () => false)
    writeFileSync(new URL(name + ".gz", folder), pack({ ...document, ...bare, provenance: [provenance] }))
  }
}

if (import.meta.main) await write(process.argv[2] ?? "")
