/** The contract of the catalog of raw endpoints: an import is compared first, and applied as it was shown. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { optional } from "../shapes/Common.ts"
import { withoutNul } from "../shapes/AccountFields.ts"
import { forOperators } from "./OperatorAuth.ts"
import { component, provider } from "../../../schema/nouns/Noun.ts"

const Slug = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,40}$/u, { message: "must be a slug such as hunter: a-z, 0-9 and _" }).abort(),
  Schema.isMaxLength(41)
)
const Patterns = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(500), withoutNul)).check(
  Schema.isMaxLength(100)
)
const keys = Schema.Array(Schema.String)

export const ImportRequest = component("CatalogImportRequest", {
  document: Schema.NonEmptyString.annotate({ description: "An OpenAPI 2, 3.0 or 3.1 document, or a manifest." }),
  provider: optional(Slug.annotate({ description: "Of an OpenAPI document, which does not name its provider." })),
  title: optional(Schema.NonEmptyString.check(Schema.isMaxLength(100), withoutNul)),
  task: optional(Schema.Boolean.annotate({ description: "true: request bodies are arrays of task objects." })),
  include: optional(Patterns.annotate({ description: "Only these operations, such as `GET /v1/*`." })),
  exclude: optional(Patterns),
  apply: optional(Schema.Boolean.annotate({ description: "Without true, nothing is changed." })),
  based_on: optional(
    Schema.String.check(
      Schema.isPattern(/^[1-9]\d{0,17}$/u, { message: "must be based_on of a comparison" }).abort(),
      Schema.isMaxLength(18)
    ).annotate({ description: "`based_on` of the comparison that you saw. Needed to apply." })
  )
})

export const CatalogImport = component("CatalogImport", {
  provider,
  base_url: Schema.NullOr(Schema.String).annotate({
    description: "Where calls of this provider go, with the account of the settings."
  }),
  endpoints: Schema.Number,
  added: keys,
  changed: keys,
  removed: keys,
  unchanged: Schema.Number,
  warnings: keys,
  based_on: Schema.NullOr(Schema.String).annotate({
    description: "The stored import that this one is compared with. Null: the shipped catalog, or none."
  }),
  applied: Schema.Boolean
})

export const ResetImport = Schema.Struct({ provider, reset: Schema.Boolean })

export class OperatorCatalogApi extends HttpApiGroup.make("operatorCatalog").add(
  forOperators(
    "Compare or import a provider's endpoints",
    "Shows what a document adds, changes and removes; with apply, replaces the provider's endpoints if they are still those of based_on. For documents above 1 MiB, several documents, URLs and the store of actors use rungate catalog import."
  ).post("import", "/operator/catalog/imports", {
    payload: ImportRequest,
    success: CatalogImport,
    error: [Wire.service_unavailable]
  }),
  forOperators(
    "Delete a provider's import",
    "The shipped catalog is used again. reset is false if there was no import."
  ).delete("reset", "/operator/catalog/imports/:provider", {
    success: ResetImport,
    error: [Wire.service_unavailable]
  })
) {}
