/**
 * What every importer takes and gives, and how large a document may be.
 *
 * An importer is a pure reading of texts: it opens no file and no connection. What it can't read it leaves out with a warning;
 * only a document that is no such document at all fails.
 */
import { Schema } from "effect"
import type { ProviderAuth } from "../../../../schema/catalog/Endpoint.ts"

export interface SourceText {
  /** A file name or an address, as warnings and `source` show it. */
  readonly name: string
  readonly text: string
}

/** What a document does not say of itself. */
export interface ImportOptions {
  readonly provider: string
  readonly title: string
  readonly homepage: string | null
  /** Null takes the document's own server. */
  readonly base_url: string | null
  /** Null takes the document's own security scheme. */
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

/** Larger than any real specification; a document beyond it is refused before it is parsed. */
export const sourceBytesMax = 64 * 1024 * 1024
/** Operations of one provider; those behind it are left out with one warning. */
export const operationsMax = 20_000
