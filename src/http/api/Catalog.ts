/** The contract of inspect: capabilities and raw endpoints (specification 2.4-2.6, 4.9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { operation } from "./shapes/Rights.ts"
import { CostDriver, Filled } from "../../schema/catalog/CostDriver.ts"
import { phoneTypes } from "../../schema/catalog/Acceptance.ts"
import { bodyTypes, costModels, methods } from "../../schema/catalog/Endpoint.ts"
import { Wire } from "../../schema/Errors.ts"
import { Auth, optional } from "./shapes/Common.ts"
import { hintFields } from "../../schema/Hints.ts"
import { withExample } from "../../schema/nouns/Noun.ts"

const Price = Schema.Struct({
  amount: Schema.String,
  currency: Schema.Literal("USD"),
  note: Schema.NullOr(Schema.String)
})

export const Health = Schema.Struct({
  status: Schema.Literals(["healthy", "stable", "degraded", "outage", "unknown"]),
  success_rate: Schema.NullOr(Schema.Number),
  latency_ms_p50: Schema.NullOr(Schema.Int),
  latency_ms_p95: Schema.NullOr(Schema.Int),
  sample_size: Schema.Int,
  source: Schema.Literals(["measured", "provider_reported"])
})
  .annotate({ identifier: "Health" })
  .pipe(
    withExample({
      status: "healthy",
      success_rate: 0.9875,
      latency_ms_p50: 840,
      latency_ms_p95: 2_100,
      sample_size: 240,
      source: "measured"
    })
  )

/** Present if the caller's organization has an account of its own at the provider. */
const OwnAccount = Schema.optionalKey(
  Schema.Struct({
    fee: Schema.String.annotate({ description: "what a run through your account costs instead of the price, in USD" }),
    fallback: Schema.Boolean.annotate({
      description: "this service's account is called, at the price, if the provider refuses yours"
    })
  })
)

export const InspectedOffer = Schema.Struct({
  provider: Schema.String,
  own_account: OwnAccount,
  executable: Schema.Boolean,
  wired: Schema.Boolean,
  verified: Schema.Boolean,
  platforms: Schema.Array(Schema.String),
  price: Price,
  pricing: Schema.optionalKey(Schema.JsonObject),
  metrics: Schema.Struct({
    success_rate: Schema.NullOr(Schema.Number),
    latency_ms_p50: Schema.NullOr(Schema.Int),
    latency_ms_p95: Schema.NullOr(Schema.Int),
    sample_size: Schema.Int
  }),
  health: Health
}).annotate({ identifier: "Offer" })

/** Present if the capability has an outcome warranty and the operator has turned it on. */
const Warranty = Schema.optionalKey(
  Schema.Struct({
    days: Schema.Int.annotate({ description: "a bounce counts until so many days after the run's end" }),
    refund: Schema.Literal("charge").annotate({ description: "what is paid back, once: the run's whole charge" }),
    description: Schema.String
  })
)

/** What `accept` of a run may name. Absent for a capability that acts. */
const InspectedAccept = Schema.optionalKey(
  Schema.Struct({
    fields: Schema.Array(Schema.String),
    phone_types: Schema.Array(Schema.Literals(phoneTypes)),
    /** The date that is compared. */
    max_age_days: Schema.NullOr(Schema.String),
    agree: Schema.Boolean,
    /** How refused and agreeing answers are charged. */
    description: Schema.String
  }).annotate({ identifier: "Acceptable" })
)

export const InspectedCapability = Schema.Struct({
  capability: Schema.String,
  title: Schema.String,
  category: Schema.String,
  description: Schema.String,
  status: Schema.Literals(["live", "coming_soon"]),
  sandbox: Schema.Boolean,
  input_schema: Schema.JsonObject,
  output_fields: Schema.Array(Schema.String),
  example: Schema.Json,
  billing: Schema.Struct({
    model: Schema.Literals(["per_call", "on_match", "metered"]),
    bills_no_match: Schema.Boolean,
    description: Schema.String
  }),
  accept: InspectedAccept,
  warranty: Warranty,
  providers: Schema.Array(Schema.String),
  live_providers: Schema.Array(Schema.String),
  platforms: Schema.Array(Schema.String),
  offers: Schema.Array(InspectedOffer),
  starting_price: Schema.NullOr(Schema.Struct({ amount: Schema.String, currency: Schema.Literal("USD") })),
  ...hintFields
})
  .annotate({ identifier: "Capability" })
  .pipe(
    withExample({
      capability: "email.verify",
      title: "Verify an e-mail address",
      category: "people",
      description: "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
      status: "live",
      sandbox: true,
      input_schema: {
        type: "object",
        properties: { email: { type: "string", description: "The address to check", format: "email", maxLength: 254 } },
        required: ["email"],
        additionalProperties: false
      },
      output_fields: ["email", "email_status", "score"],
      example: { email: "jane.doe@example.com" },
      billing: {
        model: "per_call",
        bills_no_match: true,
        description: "Charged for every delivered result, including unknown. A failed call costs nothing."
      },
      accept: {
        fields: ["email", "email_status", "score"],
        phone_types: [],
        max_age_days: null,
        agree: true,
        description:
          "After an answer that accept refuses the next provider is called, and only the accepted answer is charged."
      },
      providers: ["hunter"],
      live_providers: [],
      platforms: [],
      offers: [
        {
          provider: "hunter",
          executable: true,
          wired: true,
          verified: false,
          platforms: [],
          price: { amount: "0.0147", currency: "USD", note: "Credits of the Starter plan." },
          metrics: { success_rate: null, latency_ms_p50: null, latency_ms_p95: null, sample_size: 0 },
          health: {
            status: "unknown",
            success_rate: null,
            latency_ms_p50: null,
            latency_ms_p95: null,
            sample_size: 0,
            source: "measured"
          }
        }
      ],
      starting_price: { amount: "0.003", currency: "USD" },
      hints: ['Or: rungate run email.verify -i \'{"email": "jane.doe@example.com"}\'']
    })
  )

export const Cost = Schema.Struct({
  model: Schema.Literals(costModels),
  estimate: Schema.NullOr(Schema.String),
  currency: Schema.Literal("USD"),
  note: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Cost" })

/** The cost of an endpoint whose price depends on the input: (base + what the drivers add) × what the drivers multiply by. */
export const InspectedCost = Schema.Struct({
  ...Cost.fields,
  /** USD per call before any driver, or per task if input is an array of tasks. Null if the provider publishes no rates. */
  base: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** Request fields that change the price. `description` explains how, in a sentence. */
  drivers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...CostDriver.fields, description: Schema.String })))
}).annotate({ identifier: "EndpointCost" })

export const InspectedEndpoint = Schema.Struct({
  provider: Schema.String,
  own_account: OwnAccount,
  endpoint: Schema.String,
  method: Schema.Literals(methods),
  title: Schema.String,
  description: Schema.String,
  status: Schema.Literals(["live", "ready"]),
  sandbox: Schema.Boolean,
  input: Schema.Struct({
    pathParams: Schema.JsonObject,
    queryParams: Schema.JsonObject,
    body: Schema.NullOr(Schema.JsonObject),
    bodyType: Schema.Literals(bodyTypes)
  }),
  /** A valid body of POST /v1/run. */
  example: Schema.JsonObject,
  cost: InspectedCost,
  health: Health,
  /** Fields that are filled in where the request leaves them out. */
  filled: Schema.optionalKey(Schema.Array(Filled)),
  wrapped_by: Schema.Array(Schema.String),
  run: Schema.Struct({ cli: Schema.String }),
  ...hintFields
}).annotate({ identifier: "Endpoint" })

export const InspectRequest = Schema.Struct({
  capability: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  provider: optional(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  endpoint: optional(
    Schema.NonEmptyString.check(Schema.isMaxLength(1_000)).annotate({
      description: "the provider's own path, verbatim"
    })
  ),
  method: optional(Schema.Literals(methods).annotate({ description: "needed if the path has several methods" }))
})
  .annotate({ identifier: "InspectRequest" })
  .pipe(withExample({ capability: "email.verify" }))
export type InspectRequest = typeof InspectRequest.Type

export class CatalogApi extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.post("inspect", "/inspect", {
      payload: InspectRequest,
      success: Schema.Union([InspectedCapability, InspectedEndpoint]),
      error: [Wire.invalid_request, Wire.capability_not_found, Wire.endpoint_not_found]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", own: true, command: "inspect" },
        "Inspect a capability or a raw endpoint",
        "Returns the input schema, output fields, providers and price, exactly as run enforces them. Free."
      )
    )
  )
  .middleware(Auth) {}
