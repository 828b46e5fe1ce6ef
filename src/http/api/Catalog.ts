/** The contract of inspect: capabilities and raw endpoints (specification 2.4-2.6, 4.9). */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { optional, readsOwn } from "./shapes/Common.ts"
import { methods } from "../../schema/catalog/Endpoint.ts"
import { Wire } from "../../schema/Errors.ts"
import { InspectedCapability, InspectedEndpoint } from "../../schema/nouns/Catalog.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"

export const InspectRequest = component("InspectRequest", {
  capability: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  provider: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  endpoint: optional(
    Schema.NonEmptyString.check(Schema.isMaxLength(1_000)).annotate({
      description: "the provider's own path, verbatim"
    })
  ),
  method: optional(Schema.Literals(methods).annotate({ description: "needed if the path has several methods" }))
}).pipe(withExample({ capability: "email.verify" }))
export type InspectRequest = typeof InspectRequest.Type

export class CatalogApi extends HttpApiGroup.make("catalog").add(
  readsOwn(
    "Inspect a capability or a raw endpoint",
    "Returns the input schema, output fields, providers and price, exactly as run enforces them, and which rules of the organization check a run. Free.",
    "inspect"
  ).post("inspect", "/inspect", {
    payload: InspectRequest,
    success: Schema.Union([InspectedCapability, InspectedEndpoint]),
    error: [Wire.capability_not_found, Wire.endpoint_not_found]
  })
) {}
