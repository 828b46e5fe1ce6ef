/** What the catalog offers: capabilities, raw endpoints and providers, as they are searched, listed and inspected. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { CostDriver, Filled } from "../catalog/CostDriver.ts"
import { RunChecks } from "../guards/RunChecks.ts"
import { phoneTypes } from "../catalog/Acceptance.ts"
import { bodyTypes, costModels, methods } from "../catalog/Endpoint.ts"
import { hintFields } from "../Hints.ts"
import { Metrics, unmeasured } from "../runs/Health.ts"
import { Health, healthExample } from "./Health.ts"
import { component, amountText, time, withExample } from "./Noun.ts"

const currency = Schema.Literal("USD")
const Price = Schema.Struct({ amount: amountText, currency })
const slugs = Schema.Array(Schema.String)

const capabilityStatus = Schema.Literals(["live", "coming_soon"])
const endpointStatus = Schema.Literals(["live", "ready"])

const verifyAddresses = {
  capability: "email.verify",
  title: "Verify an e-mail address",
  description: "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
  status: "live",
  providers: ["hunter", "leadmagic"],
  live_providers: [],
  platforms: [],
  starting_price: { amount: "0.003", currency: "USD" }
} as const

/** Present if the caller's organization has an account of its own at the provider. */
const OwnAccount = Schema.optionalKey(
  Schema.Struct({
    fee: amountText.annotate({ description: "what a run through your account costs instead of the price, in USD" }),
    fallback: Schema.Boolean.annotate({
      description: "this service's account is called, at the price, if the provider refuses yours"
    })
  })
)

export const InspectedOffer = component("Offer", {
  provider: Schema.String,
  own_account: OwnAccount,
  executable: Schema.Boolean,
  wired: Schema.Boolean,
  verified: Schema.Boolean,
  platforms: slugs,
  price: Schema.Struct({ ...Price.fields, note: Schema.NullOr(Schema.String) }),
  pricing: Schema.optionalKey(Schema.JsonObject),
  metrics: Metrics,
  health: Health
}).pipe(
  withColumns({
    list: [
      ...(["provider", "executable", "price.amount", "metrics.success_rate", "metrics.latency_ms_p50"] as const),
      ...(["metrics.sample_size", "health.status", "price.note"] as const)
    ],
    terminal: ["executable", "price.note"],
    wide: ["metrics.sample_size", "metrics.latency_ms_p50", "health.status"],
    titles: {
      ...{ executable: "Runs", "price.amount": "Price, at most", "metrics.success_rate": "Success" },
      ...{ "metrics.latency_ms_p50": "Median time", "metrics.sample_size": "Calls", "health.status": "Health" }
    },
    kinds: { "price.amount": "money", "metrics.success_rate": "share", "metrics.latency_ms_p50": "duration" },
    none: { "metrics.success_rate": "–", "metrics.latency_ms_p50": "–" },
    words: { "health.status": { unknown: "not measured" } }
  })
)

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
  component("Acceptable", {
    fields: slugs,
    phone_types: Schema.Array(Schema.Literals(phoneTypes)),
    /** The date that is compared. */
    max_age_days: Schema.NullOr(Schema.String),
    agree: Schema.Boolean,
    /** How refused and agreeing answers are charged. */
    description: Schema.String
  })
)

/** An older service sends none. */
const Checks = Schema.optionalKey(
  RunChecks.annotate({ description: "what the rules of your organization check of a run, beside the wallet" })
)

export const InspectedCapability = component("Capability", {
  capability: Schema.String,
  title: Schema.String,
  category: Schema.String,
  description: Schema.String,
  status: capabilityStatus,
  sandbox: Schema.Boolean,
  input_schema: Schema.JsonObject,
  output_fields: slugs,
  example: Schema.Json,
  billing: Schema.Struct({
    model: Schema.Literals(["per_call", "on_match", "metered"]),
    bills_no_match: Schema.Boolean,
    description: Schema.String
  }),
  accept: InspectedAccept,
  warranty: Warranty,
  checks: Checks,
  providers: slugs,
  live_providers: slugs,
  platforms: slugs,
  offers: Schema.Array(InspectedOffer),
  starting_price: Schema.NullOr(Price),
  ...hintFields
}).pipe(
  withExample({
    ...verifyAddresses,
    category: "people",
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
    checks: {
      approvals: [{ rule: "Large runs", always: false }],
      label_budgets: ["customer"],
      opt_outs: false,
      contact_guard_days: null
    },
    offers: [
      {
        provider: "hunter",
        executable: true,
        wired: true,
        verified: false,
        platforms: [],
        price: { amount: "0.0147", currency: "USD", note: "Credits of the Starter plan." },
        metrics: unmeasured.metrics,
        health: unmeasured.health
      }
    ],
    hints: ['Or: rungate run email.verify -i \'{"email": "jane.doe@example.com"}\'']
  })
)

export const Cost = component("Cost", {
  model: Schema.Literals(costModels),
  estimate: Schema.NullOr(amountText),
  currency,
  note: Schema.NullOr(Schema.String)
})

/** The cost of an endpoint whose price depends on the input: (base + what the drivers add) × what the drivers multiply by. */
export const InspectedCost = component("EndpointCost", {
  ...Cost.fields,
  /** USD per call before any driver, or per task if input is an array of tasks. Null if the provider publishes no rates. */
  base: Schema.optionalKey(Schema.NullOr(amountText)),
  /** Request fields that change the price. `description` explains how, in a sentence. */
  drivers: Schema.optionalKey(Schema.Array(Schema.Struct({ ...CostDriver.fields, description: Schema.String })))
})

export const InspectedEndpoint = component("Endpoint", {
  provider: Schema.String,
  own_account: OwnAccount,
  endpoint: Schema.String,
  method: Schema.Literals(methods),
  title: Schema.String,
  description: Schema.String,
  status: endpointStatus,
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
  wrapped_by: slugs,
  checks: Checks,
  run: Schema.Struct({ cli: Schema.String }),
  ...hintFields
})

const capabilityFields = {
  capability: Schema.String,
  title: Schema.String,
  description: Schema.String,
  status: capabilityStatus,
  providers: slugs,
  live_providers: slugs,
  platforms: slugs,
  starting_price: Schema.NullOr(Price)
}

const endpointFields = {
  provider: Schema.String,
  endpoint: Schema.String,
  method: Schema.Literals(methods),
  title: Schema.String,
  status: endpointStatus,
  cost: Cost,
  wrapped_by: slugs
}

const ranked = { score: Schema.Finite, health: Health, hint: Schema.String }

export const DiscoverItem = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("capability"), ...ranked, ...capabilityFields }),
  Schema.Struct({ kind: Schema.Literal("endpoint"), ...ranked, ...endpointFields })
])
  .annotate({ identifier: "DiscoverItem" })
  .pipe(
    withExample({
      kind: "capability",
      score: 1,
      health: unmeasured.health,
      hint: "rungate inspect email.verify",
      ...verifyAddresses
    })
  )

export const Discovered = Schema.Struct({ items: Schema.Array(DiscoverItem), ...hintFields })

export const ListedCapability = component("ListedCapability", {
  ...capabilityFields,
  category: Schema.String,
  hint: Schema.String
}).pipe(
  withColumns({
    list: ["capability", "category", "starting_price", "providers"],
    wide: ["category", "providers"],
    titles: { starting_price: "Price" },
    kinds: { starting_price: "money", providers: "count" }
  }),
  withExample({ ...verifyAddresses, category: "people", hint: "rungate inspect email.verify" })
)

export const CatalogProvider = component("CatalogProvider", {
  provider: Schema.String,
  title: Schema.String,
  homepage: Schema.NullOr(Schema.String),
  /** Capabilities that the provider has an offer for. */
  capabilities: slugs,
  /** Whether this service can call it: its account is set, or it needs none. */
  configured: Schema.Boolean,
  /** Capabilities that nobody runs here now, and that this provider's account would add. */
  adds: slugs,
  /** When the operator last checked its offers. Null: never. */
  checked_at: Schema.NullOr(time),
  /** Of the offer with the most measured calls. */
  health: Health,
  endpoints: Schema.Struct({
    count: Schema.Int,
    status: Schema.Literals(["live", "ready", "excluded"]),
    /** Why this provider's raw endpoints are not offered. */
    reason: Schema.NullOr(Schema.String)
  })
}).pipe(
  withExample({
    provider: "hunter",
    title: "Hunter",
    homepage: "https://hunter.io",
    capabilities: ["email.find", "email.verify"],
    configured: true,
    adds: [],
    checked_at: "2026-11-21T09:00:00.000Z",
    health: healthExample,
    endpoints: { count: 8, status: "live", reason: null }
  })
)

export const ListedEndpoint = component("ListedEndpoint", endpointFields).pipe(
  withColumns({
    list: ["endpoint", "cost", "wrapped_by"],
    wide: ["wrapped_by"],
    titles: { cost: "Price", wrapped_by: "Part of" },
    kinds: { cost: "money" }
  }),
  withExample({
    provider: "hunter",
    endpoint: "/combined/find",
    method: "GET",
    title: "Enrich a person with the company",
    status: "live",
    cost: { model: "per_call", estimate: "0.01176", note: "0.4 credits of $0.0245 per call.", currency: "USD" },
    wrapped_by: []
  })
)
