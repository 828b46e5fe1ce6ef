/**
 * Imports a provider's endpoints into the catalog: reads the operator's source, compares it, and replaces the provider's document.
 *
 * An import reads local files, the given URL, and the configured marketplace of actors (Apify). It never follows references to
 * other addresses. A document is replaced completely or not at all.
 */
import { basename, dirname, join } from "node:path"
import { Clock, Context, Effect, Layer } from "effect"
import type { Endpoint, Imported, ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import { Marketplace } from "./Marketplace.ts"
import { CatalogStore } from "./CatalogStore.ts"
import type { DirectoryAway } from "../accounts/Directory.ts"
import { readAddress, withoutQuery } from "./import/kit/Downloads.ts"
import { shipped } from "./Endpoints.ts"
import { type CatalogDiff, diff, type Retired } from "./import/diff.ts"
import { withCountedRates } from "./import/cost/countedRates.ts"
import { actorPattern, hasActor } from "./import/marketplace/allowed.ts"
import { ImportFailed, type ImportOptions, type SourceText, sourceBytesMax } from "./import/kit/Import.ts"
import { importManifest } from "./import/manifest.ts"
import { readManifest } from "./import/manifestFormat.ts"
import { importOpenApi } from "./import/openapi/index.ts"
import { providers } from "../providers/index.ts"

export interface ImportRequest {
  /** A file or URL of an OpenAPI document or a manifest, or `apify` for the marketplace of actors. */
  readonly location: string
  /** Required for an OpenAPI document, which does not name its provider. */
  readonly provider: string | null
  readonly title: string | null
  readonly body_type: "json" | "task"
  /** The folder of the documents that a manifest names; null means the manifest's own folder. */
  readonly sources: string | null
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  /** The marketplace only: actors to import, `owner/name` or `owner/*`. Empty for all. */
  readonly allow: ReadonlyArray<string>
}

/** One document as text, from somebody who has no files on this machine. */
export interface TextRequest extends Pick<ImportRequest, "provider" | "title" | "body_type" | "include" | "exclude"> {
  readonly text: string
}

export interface ImportPlan {
  readonly imported: Imported
  readonly diff: CatalogDiff
  /** The stored revision that the diff is based on; null when nothing previous imported before. */
  readonly expected: bigint | null
}

/** Timeout of a download. */
const downloadSeconds = 60

/** The location that stands for the marketplace of actors. */
const marketplace = "apify"

const failed = (message: string) => new ImportFailed({ message })

const byPath = (a: Endpoint, b: Endpoint) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

const isAddress = (location: string) => /^https?:\/\//i.test(location)

const readFile = (path: string): Effect.Effect<SourceText, ImportFailed> =>
  Effect.gen(function* () {
    const file = Bun.file(path)
    const size = yield* Effect.tryPromise({
      try: () => file.stat(),
      catch: () => failed(`There is no file ${path}. Check the path.`)
    })
    if (size.isDirectory()) return yield* failed(`${path} is a folder. Give the path of a file in it.`)
    if (size.size > sourceBytesMax)
      return yield* failed(
        `${path} is larger than ${sourceBytesMax} bytes, the limit for a specification. Split it, or import fewer endpoints with a manifest.`
      )
    const text = yield* Effect.tryPromise({
      try: () => file.text(),
      catch: () => failed(`${path} can't be read. Check the file's permissions.`)
    })
    return { name: basename(path), text }
  })

const read = (location: string): Effect.Effect<SourceText, ImportFailed> =>
  isAddress(location)
    ? Effect.map(readAddress(location, downloadSeconds), (text) => ({ name: withoutQuery(location), text }))
    : readFile(location)

/** A manifest names its provider at the top; an OpenAPI document names its version there. */
const isManifest = ({ text }: SourceText) =>
  /^provider:/m.test(text) && !/^\s*"?(openapi|swagger)"?\s*:\s*["']?\d/m.test(text)

const manifestOf = Effect.fnUntraced(function* ({ location, sources: folder }: ImportRequest, manifest: SourceText) {
  const { openapi = [], tables = [] } = yield* readManifest(manifest)
  const names = [...openapi, ...tables]
  if (names.length > 0 && folder === null && isAddress(location)) {
    return yield* failed(
      `${manifest.name} names other documents (${names.join(", ")}). Give their folder: --sources <folder>.`
    )
  }
  const sources = yield* Effect.forEach(names, (name) =>
    Effect.map(readFile(join(folder ?? dirname(location), name)), ({ text }) => ({ name, text }))
  )
  return yield* importManifest(manifest, sources)
})

/** A manifest that needs no other document. It reads no file, whatever the text names. */
const lonelyManifest = Effect.fnUntraced(function* (manifest: SourceText) {
  const { openapi = [], tables = [] } = yield* readManifest(manifest)
  const names = [...openapi, ...tables]
  if (names.length > 0)
    return yield* failed(
      `The manifest names other documents (${names.join(", ")}). Import it on the server with: rungate catalog import`
    )
  return yield* importManifest(manifest, [])
})

const openApiOf = Effect.fnUntraced(function* (request: Omit<TextRequest, "text">, source: SourceText) {
  const { provider: slug, title, body_type, include, exclude } = request
  if (slug === null) return yield* failed(`${source.name} does not name its provider. Add --provider <slug>.`)
  const adapter = providers.find((one) => one.slug === slug)
  const options: ImportOptions = {
    provider: slug,
    title: title ?? adapter?.title ?? slug,
    homepage: adapter?.homepage ?? null,
    base_url: adapter?.base_url ?? null,
    auth: adapter?.auth ?? null,
    body_type,
    include,
    exclude,
    tags: []
  }
  return yield* importOpenApi([source], options)
})

export class CatalogImports extends Context.Service<
  CatalogImports,
  {
    /** Reads the source and compares it with the catalog. Changes nothing. */
    readonly prepare: (request: ImportRequest) => Effect.Effect<ImportPlan, ImportFailed | DirectoryAway>
    /** The same for one document as text. Opens no file and no connection. */
    readonly prepareText: (request: TextRequest) => Effect.Effect<ImportPlan, ImportFailed | DirectoryAway>
    /** Replaces the provider's document in one statement. */
    readonly apply: (plan: ImportPlan) => Effect.Effect<void, ImportFailed | DirectoryAway>
    /** Restores the shipped document; false when nothing previous imported. */
    readonly reset: (provider: string) => Effect.Effect<boolean, DirectoryAway>
  }
>()("rungate/layers/catalog/CatalogImports") {
  static readonly layer = Layer.effect(
    CatalogImports,
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const marketplaceService = yield* Marketplace

      const before = Effect.fnUntraced(function* (provider: string) {
        const [stored] = yield* store.load([provider])
        if (stored !== undefined) return stored
        const document: ProviderDocument | undefined = (yield* shipped).find((one) => one.provider === provider)
        const retired: ReadonlyArray<Retired> = []
        return document === undefined ? null : { document, retired }
      })

      /** The actors on the list, and those that the package ships, because they run without a list. */
      const onlyAllowed = Effect.fnUntraced(function* (imported: Imported, allow: ReadonlyArray<string>) {
        if (allow.length === 0) return imported
        const isAllowed = hasActor(allow)
        const actors = imported.document.endpoints.filter(({ path }) => isAllowed(path))
        if (actors.length === 0)
          return yield* failed(
            `The store has no actor that --allow ${allow.join(" --allow ")} means. Check the names in the store.`
          )
        const paths = new Set(actors.map(({ path }) => path))
        const own = (yield* shipped).find(({ provider }) => provider === imported.document.provider)?.endpoints ?? []
        const endpoints = [...actors, ...own.filter(({ path }) => !paths.has(path))].sort(byPath)
        return { ...imported, document: { ...imported.document, endpoints } }
      })

      const compare = Effect.fnUntraced(function* (imported: Imported) {
        const { provider } = imported.document
        const excluded = providers.find((one) => one.slug === provider)?.excluded ?? null
        if (excluded !== null)
          return yield* failed(`${provider} can't be imported, because it is never exposed raw: ${excluded}`)
        if (imported.document.endpoints.length === 0)
          return yield* failed(
            `${provider}: no endpoint could be read. Check that the source describes endpoints and that --include and --exclude don't remove all of them.`
          )
        yield* store.copyShared
        // Not that of the document, which a newer release may have written so that this one can't read it.
        const expected = (yield* store.revisions).get(provider) ?? null
        const previous = yield* before(provider)
        const now = new Date(yield* Clock.currentTimeMillis).toISOString()
        return { imported, diff: diff(previous, imported.document, now), expected }
      })

      const prepare = Effect.fnUntraced(function* (request: ImportRequest) {
        const wrong = request.allow.find((one) => !actorPattern.test(one))
        if (wrong !== undefined) return yield* failed(`--allow ${wrong} must be an actor, owner/name or owner/*.`)
        if (request.location === marketplace)
          return yield* compare(yield* onlyAllowed(yield* marketplaceService.store, request.allow))
        if (request.allow.length > 0)
          return yield* failed(
            "--allow names actors of the marketplace. Use --include to choose operations of a document."
          )
        const source = yield* read(request.location)
        const imported = isManifest(source) ? yield* manifestOf(request, source) : yield* openApiOf(request, source)
        return yield* compare(withCountedRates(imported))
      })

      const prepareText = Effect.fnUntraced(function* ({ text, ...request }: TextRequest) {
        const source: SourceText = { name: "the document", text }
        if (!isManifest(source) && request.provider === null)
          return yield* failed("An OpenAPI document does not name its provider. Give the provider's slug.")
        const imported = isManifest(source) ? yield* lonelyManifest(source) : yield* openApiOf(request, source)
        return yield* compare(withCountedRates(imported))
      })

      const apply = Effect.fnUntraced(function* ({ imported, diff: changes, expected }: ImportPlan) {
        const { document } = imported
        if (yield* store.replace(document, changes.retired, expected)) return
        return yield* failed(`${document.provider}: another import changed it meanwhile. Run the import again.`)
      })

      return CatalogImports.of({ prepare, prepareText, apply, reset: store.reset })
    })
  )
}
