/**
 * Builds the raw-endpoint catalog that the package ships: `bun scripts/ship-catalog.ts <specs folder>`.
 *
 * Fields that look like cost drivers and that no manifest describes stop it: it prints them, one `provider METHOD /path field`
 * a line, and writes nothing. So does a document that names no source, licence and date, or that has sentences without a licence. With `--drivers` it only looks for these. With `--check` it writes nothing and says whether the
 * shipped packs are what would be built.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { importActors } from "../src/layers/catalog/import/marketplace/actors.ts"
import type { SourceText } from "../src/layers/catalog/import/kit/Import.ts"
import { importManifest } from "../src/layers/catalog/import/manifest.ts"
import { readManifest } from "../src/layers/catalog/import/manifestFormat.ts"
import { pack } from "../src/layers/catalog/import/pack.ts"
import { refusals } from "../src/layers/catalog/import/texts/prose.ts"
import type { Imported } from "../src/schema/catalog/Endpoint.ts"

const imports = join(import.meta.dir, "..", "src", "layers", "catalog", "import")
const manifestFolder = join(imports, "manifests")
const shippedFolder = join(imports, "shipped")

const textsFolder = join(imports, "texts")

const text = (folder: string, name: string): SourceText => ({ name, text: readFileSync(join(folder, name), "utf8") })

/** A file of licensed texts, which the project keeps packed. */
const packedText = (name: string): SourceText => ({
  name,
  text: new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(textsFolder, name))))
})

/** Every provider's document, freshly read from the folder of specifications. */
export const build = (specs: string) =>
  Effect.gen(function* () {
    const built: Array<Imported> = []
    for (const name of readdirSync(manifestFolder).sort()) {
      const manifest = text(manifestFolder, name)
      const { openapi = [], tables = [], texts } = yield* readManifest(manifest)
      const sources = [...openapi, ...tables].map((one) => text(specs, one))
      built.push(yield* importManifest(manifest, texts === undefined ? sources : [...sources, packedText(texts)]))
    }
    const actors = join(specs, "apify-actors")
    const schemas = readdirSync(actors).filter((name) => name.endsWith(".input_schema.json"))
    built.push(
      yield* importActors(
        text(actors, "actors.json"),
        schemas.sort().map((name) => text(actors, name))
      )
    )
    return built.sort((a, b) => (a.document.provider < b.document.provider ? -1 : 1))
  })

/** What the package holds now, by provider. */
export const shippedPacks = (): ReadonlyMap<string, Uint8Array> =>
  new Map(
    (existsSync(shippedFolder) ? readdirSync(shippedFolder) : [])
      .filter((name) => name.endsWith(".json.gz"))
      .map((name) => [name.slice(0, -".json.gz".length), readFileSync(join(shippedFolder, name))])
  )

/** Providers whose pack is not what would be built, gone ones and new ones included. */
export const stale = (built: ReadonlyArray<Imported>): ReadonlyArray<string> => {
  const now = shippedPacks()
  const next = new Map(built.map(({ document }) => [document.provider, pack(document)]))
  return [...new Set([...now.keys(), ...next.keys()])].sort().filter((provider) => {
    const [was, is] = [now.get(provider), next.get(provider)]
    return was === undefined || is === undefined || Buffer.compare(was, is) !== 0
  })
}

/** `provider METHOD /path field` of everything that keeps the catalog from shipping. */
export const undescribedLines = (built: ReadonlyArray<Imported>): ReadonlyArray<string> =>
  built.flatMap(({ document, undescribed }) =>
    undescribed.map(({ where, field }) => `${document.provider} ${where} ${field}`)
  )

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  const specs = args.find((one) => !one.startsWith("--"))
  if (specs === undefined) {
    console.error("usage: bun scripts/ship-catalog.ts <specs folder> [--check] [--warnings] | --drivers")
    return 2
  }
  const built = await Effect.runPromise(build(specs))
  const lines = undescribedLines(built)
  if (args.includes("--drivers") || lines.length > 0) {
    for (const line of lines) console.log(line)
    console.error(`${lines.length} fields look like cost drivers and are neither in drivers nor in flat`)
    return lines.length === 0 ? 0 : 1
  }
  const refused = built.flatMap(({ document }) => refusals(document))
  if (refused.length > 0) {
    for (const line of refused) console.error(line)
    return 1
  }
  const old = stale(built)
  if (!args.includes("--check")) {
    mkdirSync(shippedFolder, { recursive: true })
    const known = new Set(built.map(({ document }) => document.provider))
    for (const provider of shippedPacks().keys()) {
      if (!known.has(provider)) rmSync(join(shippedFolder, `${provider}.json.gz`))
    }
  }
  let [endpoints, bytes] = [0, 0]
  for (const { document, warnings } of built) {
    const packed = pack(document)
    if (!args.includes("--check")) writeFileSync(join(shippedFolder, `${document.provider}.json.gz`), packed)
    endpoints += document.endpoints.length
    bytes += packed.byteLength
    console.log(
      `${document.provider.padEnd(18)} ${String(document.endpoints.length).padStart(5)} endpoints ${String(warnings.length).padStart(5)} warnings ${String(packed.byteLength).padStart(9)} bytes`
    )
    if (args.includes("--warnings")) for (const { where, message } of warnings) console.log(`  ${where}: ${message}`)
  }
  console.log(`${built.length} providers, ${endpoints} endpoints, ${bytes} bytes`)
  if (!args.includes("--check")) return 0
  console.log(old.length === 0 ? "the shipped packs are up to date" : `not up to date: ${old.join(", ")}`)
  return old.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)))
