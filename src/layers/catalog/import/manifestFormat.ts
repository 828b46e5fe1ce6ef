/**
 * The format of a hand-maintained manifest: one YAML file per provider.
 *
 * Unknown keys are errors, so that a typo never drops a rate or an exclusion unnoticed. All mistakes are reported at once, each
 * with its path.
 */
import { Effect, Schema } from "effect"
import { fieldProblems } from "../../../schema/json/FieldProblems.ts"
import { EndpointResources, methods, ProviderAuth, ProviderDocument } from "../../../schema/catalog/Endpoint.ts"
import { Filled } from "../../../schema/catalog/CostDriver.ts"
import { allowsTexts, Provenance } from "../../../schema/Provenance.ts"
import { ImportFailed, operationsMax, sourceBytesMax, type SourceText } from "./kit/Import.ts"
import { oversized } from "./kit/source.ts"
import { Rate, Rates } from "./cost/rates.ts"

/** Fields by name, in the shorthand of fields.ts. */
const Fields = Schema.Record(Schema.String, Schema.Json)
const Names = Schema.Array(Schema.NonEmptyString)

/** See kit/needing.ts. */
const Needs = Schema.NonEmptyArray(Schema.NonEmptyArray(Schema.NonEmptyString))

/** A manifest can't name files outside the folder of sources. */
const FileNames = Schema.Array(
  Schema.String.check(
    Schema.isPattern(/^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^\\]{1,200}$/u, {
      message: "must be a file in the folder of sources"
    })
  )
)

const Example = Schema.Struct({
  path: Schema.optionalKey(Schema.JsonObject),
  query: Schema.optionalKey(Schema.JsonObject),
  input: Schema.optionalKey(Schema.Json)
})

/** Replaces texts and examples of a document's endpoint. */
const Amendment = Schema.Struct({
  title: Schema.optionalKey(Schema.NonEmptyString),
  description: Schema.optionalKey(Schema.NonEmptyString),
  tags: Schema.optionalKey(Names),
  example: Schema.optionalKey(Example)
})
export type Amendment = typeof Amendment.Type

export const InlineEndpoint = Schema.Struct({
  method: Schema.Literals(methods),
  path: Schema.NonEmptyString,
  title: Schema.NonEmptyString,
  description: Schema.NonEmptyString,
  tags: Schema.optionalKey(Names),
  body_type: Schema.optionalKey(Schema.Literals(["json", "task"])),
  /** Placeholders that are not listed here are strings. */
  path_params: Schema.optionalKey(Fields),
  query: Schema.optionalKey(Fields),
  body: Schema.optionalKey(Fields),
  /** A JSON Schema, instead of `body`. */
  body_schema: Schema.optionalKey(Schema.JsonObject),
  /** The body may not have other fields. A query never may. */
  closed: Schema.optionalKey(Schema.Boolean),
  needs: Schema.optionalKey(Needs),
  encoding: Schema.optionalKey(Schema.Literals(["json", "form", "multipart"])),
  example: Schema.optionalKey(Example),
  rate: Schema.optionalKey(Rate),
  deprecated: Schema.optionalKey(Schema.Boolean)
})
export type InlineEndpoint = typeof InlineEndpoint.Type

export const Manifest = Schema.Struct({
  provider: ProviderDocument.fields.provider,
  title: Schema.NonEmptyString,
  homepage: Schema.optionalKey(Schema.NonEmptyString),
  base_url: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s?#]+[^\s?#/]$/u))),
  auth: Schema.optionalKey(ProviderAuth),
  body_type: Schema.optionalKey(Schema.Literals(["json", "task"])),
  /** OpenAPI documents in the folder of sources. */
  openapi: Schema.optionalKey(FileNames),
  /** Catalogs of tables (tables.ts) in the folder of sources. */
  tables: Schema.optionalKey(FileNames),
  /** Where the facts and the texts come from. If none of them allows texts, those of documents and tables are left out. */
  provenance: Schema.optionalKey(
    Schema.NonEmptyArray(
      Provenance.check(
        Schema.makeFilter((one) => one.takes === "facts" || allowsTexts(one.licence) || "takes texts without a licence")
      )
    )
  ),
  /** A file in the folder of sources with texts of fields, by path and field, whose licence `provenance` names. */
  texts: Schema.optionalKey(Schema.NonEmptyString),
  /** The words by which a document's descriptions say that a field is required, if its schemas don't. Before "if" they are a condition. */
  required_words: Schema.optionalKey(Schema.NonEmptyString),
  /** By pattern over `METHOD /path`: own descriptions, where the endpoint has none. If several patterns match, all apply. */
  describe: Schema.optionalKey(Schema.Record(Schema.String, Schema.NonEmptyString)),
  /** By name: own descriptions of fields that have none. */
  fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.NonEmptyString)),
  /** Patterns over `METHOD /path`. They select endpoints of documents and tables, not those written here. */
  include: Schema.optionalKey(Names),
  exclude: Schema.optionalKey(Names),
  tags: Schema.optionalKey(Names),
  rates: Schema.optionalKey(Rates),
  /** Patterns over `METHOD /path` of calls with side effects, such as sending or ordering. They are not repeated if their outcome is unknown. */
  acts: Schema.optionalKey(Names),
  /** By pattern over `METHOD /path`: which objects of the shared provider account a request uses, and which its response creates. */
  resources: Schema.optionalKey(Schema.Record(Schema.String, EndpointResources)),
  /** By pattern over `METHOD /path`: values for fields that a caller leaves out, where the provider's default leaves the price open. */
  fill: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Filled))),
  /** By pattern over `METHOD /path`: what documents and tables require in words only, or not at all. If several patterns match, one suffices. */
  needs: Schema.optionalKey(Schema.Record(Schema.String, Needs)),
  /** By `METHOD /path`: replaces texts and examples of documents and tables. Tags are added. */
  amend: Schema.optionalKey(Schema.Record(Schema.String, Amendment)),
  /** Shared schemas, for `$ref: "#/$defs/name"`. */
  definitions: Schema.optionalKey(Schema.Record(Schema.String, Schema.JsonObject)),
  endpoints: Schema.optionalKey(Schema.Array(InlineEndpoint).check(Schema.isMaxLength(operationsMax)))
})
export type Manifest = typeof Manifest.Type

const decode = Schema.decodeUnknownEffect(Manifest, { onExcessProperty: "error", errors: "all" })
/** One failure that lists all mistakes of a manifest. */
export const failedWith = (name: string, mistakes: ReadonlyArray<string>) =>
  new ImportFailed({ message: [...new Set(mistakes)].map((mistake) => `${name}: ${mistake}`).join("\n") })

export const readManifest = (source: SourceText): Effect.Effect<Manifest, ImportFailed> =>
  Effect.gen(function* () {
    if (source.text.length > sourceBytesMax)
      return yield* failedWith(source.name, [`is larger than ${sourceBytesMax} bytes; split it by provider`])
    const parsed: unknown = yield* Effect.try({
      try: () => Bun.YAML.parse(source.text),
      catch: (error) =>
        failedWith(source.name, [`is not YAML: ${error instanceof Error ? error.message : "unreadable"}`])
    })
    const problem = oversized(parsed)
    if (problem !== null) return yield* failedWith(source.name, [problem])
    return yield* decode(parsed).pipe(
      Effect.mapError(({ issue }) =>
        failedWith(
          source.name,
          fieldProblems(issue).map(
            ({ path, message }) => `${path.length === 0 ? "the manifest" : path.join(".")}: ${message}`
          )
        )
      )
    )
  })
