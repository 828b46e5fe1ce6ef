/** The contract of providers as the operator sees them: accounts, checks, health, what they earn and lose. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { healthStatuses } from "../../../schema/runs/Health.ts"
import { periodQuery } from "../shapes/RunQuery.ts"
import { Digits, listQuery } from "../shapes/Common.ts"
import { orgFilter } from "./Fields.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const nullable = Schema.NullOr(Schema.String)
const texts = Schema.Array(Schema.String)

export const OperatorProvider = Schema.Struct({
  provider: Schema.String,
  title: Schema.String,
  configured: Schema.Boolean,
  variable: Schema.String.annotate({ description: "The setting of its account." }),
  serves: texts,
  adds: texts.annotate({ description: "Capabilities that run only with its account." }),
  checked_at: nullable,
  unchecked: texts.annotate({ description: "Capabilities that no check has accepted: rungate providers check." }),
  health: Schema.Struct({ status: Schema.Literals(healthStatuses), sample_size: Schema.Number })
}).annotate({ identifier: "OperatorProvider" })

const Drift = Schema.Struct({
  provider: Schema.String,
  capability: Schema.String,
  expected: Schema.String,
  measured: Schema.String,
  since: Schema.String,
  run_id: Schema.String
})
const Paused = Schema.Struct({
  provider: Schema.String,
  capability: Schema.String,
  reason: Schema.String,
  detail: Schema.String,
  until: Schema.String,
  organizations: Schema.Number
})

export const OperatorProviders = Schema.Struct({
  mode: Schema.Literals(["sandbox", "production"]),
  capabilities: Schema.Array(
    Schema.Struct({
      capability: Schema.String,
      can_run: Schema.Boolean,
      coming_soon: Schema.Boolean.annotate({ description: "It runs with no account yet." }),
      providers: texts.annotate({ description: "Those that run it now." }),
      needs: texts.annotate({ description: "Those whose account would run it too." })
    })
  ),
  providers: Schema.Array(OperatorProvider),
  cost_drifts: Schema.Array(Drift).annotate({ description: "Offers that cost more than their rate." }),
  paused: Schema.Array(Paused).annotate({
    description: "Offers that this process does not call for a while, and for how many organizations."
  })
}).annotate({ identifier: "OperatorProviders" })

const sums = {
  runs: Schema.Number,
  charged: Schema.String,
  cost: Schema.String,
  margin: Schema.String,
  margin_percent: nullable
}
const Margins = Schema.Struct({
  days: Schema.Number,
  ended: Schema.Array(Schema.Struct({ status: Schema.String, runs: Schema.Number })).annotate({
    description: "All runs that ended in these days, by status."
  }),
  items: Schema.Array(Schema.Struct({ provider: nullable, capability: nullable, endpoint: nullable, ...sums })),
  providers: Schema.Array(Schema.Struct({ provider: nullable, ...sums })),
  total: Schema.Struct(sums)
}).annotate({ identifier: "OperatorMargins" })

const Loss = Schema.Struct({
  run_id: Schema.String,
  org_id: Schema.String,
  capability: nullable,
  endpoint: nullable,
  provider: nullable,
  reason: Schema.String,
  charge: Schema.String,
  cost: Schema.String,
  loss: Schema.String,
  cost_basis: Schema.Literals(["unknown", "measured", "partly_estimated"]),
  at: Schema.String
})
const Losses = Schema.Struct({
  items: Schema.Array(Loss),
  totals: Schema.Array(
    Schema.Struct({ provider: nullable, reason: Schema.String, runs: Schema.Number, loss: Schema.String })
  ).annotate({ description: "Of all losses that the filters let through, not only of this page." }),
  next_cursor: nullable
}).annotate({ identifier: "OperatorLosses" })

export const Days = Digits.pipe(Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 366 }))))

export class OperatorProvidersApi extends HttpApiGroup.make("operatorProviders")
  .add(
    HttpApiEndpoint.get("list", "/operator/providers", { success: OperatorProviders }).annotateMerge(
      forOperators(
        "Read the providers",
        "Which accounts are configured and checked, health of 30 days, offers that cost more than their rate, and offers that are left alone."
      )
    ),
    HttpApiEndpoint.get("margins", "/operator/margins", {
      query: { days: Schema.optionalKey(Days) },
      success: Margins,
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators(
        "Read margins",
        "What runs of the last days charged and cost, by provider and by offer or endpoint; losses first. Where a provider reports no cost, the cost is the charge without the markup.",
        "admin margins"
      )
    ),
    HttpApiEndpoint.get("losses", "/operator/losses", {
      query: {
        ...listQuery,
        ...orgFilter,
        from: periodQuery.from
      },
      success: Losses,
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators(
        "List losses",
        "Runs that cost more than they were charged, newest first, and the totals of all.",
        "admin losses"
      )
    )
  )
  .middleware(OperatorAuth) {}
