/**
 * The input and the limits of every importer.
 *
 * An importer only reads texts: it opens no files and no connections. Parts that it can't read are left out with a warning. An
 * import fails only when the text is not a document of the expected kind.
 */
import { Schema } from "effect"
import type { ProviderAuth } from "../../../../schema/catalog/Endpoint.ts"

export interface SourceText {
  /** A file name or a URL, as shown in warnings and `source`. */
  readonly name: string
  readonly text: string
}

/** Settings that the document does not contain. */
export interface ImportOptions {
  readonly provider: string
  readonly title: string
  readonly homepage: string | null
  /** Null uses the document's own server. */
  readonly base_url: string | null
  /** Null uses the document's own security scheme. */
  readonly auth: typeof ProviderAuth.Type | null
  readonly body_type: "json" | "task"
  /** Patterns over `METHOD /path` in which `*` stands for anything; none means all. */
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  /** Added to every endpoint's own tags. */
  readonly tags: ReadonlyArray<string>
}

export class ImportFailed extends Schema.TaggedError<ImportFailed>()("ImportFailed", {
  message: Schema.String
}) {}

/** Larger than any real specification. Larger documents are refused before they are parsed. */
export const sourceBytesMax = 64 * 1024 * 1024
/** Operations per provider. The rest is left out with one warning. */
export const operationsMax = 20_000
