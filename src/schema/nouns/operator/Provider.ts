/** Providers as the operator sees them: accounts, checks and health, and what they earn and lose. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { Health } from "../Health.ts"
import {
  component,
  amount,
  capability,
  count,
  endpoint,
  nullableText,
  org_id,
  provider,
  run_id,
  such,
  text,
  time
} from "../Noun.ts"

const providers = Schema.Array(provider)
const capabilities = Schema.Array(capability)

export const OperatorProvider = component("OperatorProvider", {
  provider,
  title: such("Hunter"),
  configured: Schema.Boolean,
  variable: text("The setting of its account."),
  serves: capabilities,
  adds: capabilities.annotate({ description: "Capabilities that run only with its account." }),
  checked_at: Schema.NullOr(time),
  unchecked: capabilities.annotate({
    description: "Capabilities that no check has accepted: rungate providers check."
  }),
  health: Schema.Struct({ status: Health.fields.status, sample_size: Schema.Number })
})

const Drift = Schema.Struct({ provider, capability, expected: amount, measured: amount, since: time, run_id })
const Paused = Schema.Struct({
  provider,
  capability,
  reason: Schema.String,
  detail: Schema.String,
  until: time,
  organizations: Schema.Number
})

export const OperatorProviders = component("OperatorProviders", {
  mode: Schema.Literals(["sandbox", "production"]),
  capabilities: Schema.Array(
    Schema.Struct({
      capability,
      can_run: Schema.Boolean,
      coming_soon: Schema.Boolean.annotate({ description: "It runs with no account yet." }),
      providers: providers.annotate({ description: "Those that run it now." }),
      needs: providers.annotate({ description: "Those whose account would run it too." })
    })
  ),
  providers: Schema.Array(OperatorProvider),
  cost_drifts: Schema.Array(Drift).annotate({ description: "Offers that cost more than their rate." }),
  paused: Schema.Array(Paused).annotate({
    description: "Offers that this process does not call for a while, and for how many organizations."
  })
})

const of = {
  provider: Schema.NullOr(provider),
  capability: Schema.NullOr(capability),
  endpoint: Schema.NullOr(endpoint)
}
const sums = { runs: count, charged: amount, cost: amount, margin: amount, margin_percent: nullableText }
/** How many runs ended so. */
export const EndedRuns = Schema.Struct({ status: Schema.String, runs: count })
export type EndedRuns = typeof EndedRuns.Type

export const Margin = Schema.Struct({ ...of, ...sums }).pipe(
  withColumns({
    list: ["provider", "capability", "runs", "charged", "cost", "margin", "margin_percent"],
    titles: { capability: "Of", margin_percent: "Of charge" },
    instead: { capability: "endpoint" },
    kinds: { margin_percent: "count" }
  })
)
export const ProviderMargin = Schema.Struct({ provider: of.provider, ...sums }).pipe(
  withColumns({
    list: ["provider", "runs", "charged", "cost", "margin", "margin_percent"],
    titles: { margin_percent: "Of charge" },
    kinds: { margin_percent: "count" }
  })
)

export const Margins = component("OperatorMargins", {
  days: Schema.Number,
  ended: Schema.Array(EndedRuns).annotate({ description: "All runs that ended in these days, by status." }),
  items: Schema.Array(Margin),
  providers: Schema.Array(ProviderMargin),
  total: Schema.Struct(sums)
})

export const Loss = Schema.Struct({
  run_id,
  org_id,
  capability: of.capability,
  endpoint: of.endpoint,
  provider: of.provider,
  reason: Schema.String,
  charge: amount,
  cost: amount,
  loss: amount,
  cost_basis: Schema.Literals(["unknown", "measured", "partly_estimated"]),
  at: time
}).pipe(
  withColumns({
    list: ["at", "run_id", "org_id", "capability", "provider", "charge", "cost", "loss", "reason"],
    terminal: ["org_id", "capability", "reason"],
    titles: { at: "When", org_id: "Organization", capability: "Of", charge: "Charged" },
    instead: { capability: "endpoint" }
  })
)
export const LossTotal = Schema.Struct({
  provider: of.provider,
  reason: Schema.String,
  runs: count,
  loss: amount
}).pipe(withColumns({ list: ["provider", "reason", "runs", "loss"] }))
export type LossTotal = typeof LossTotal.Type

export const Losses = component("OperatorLosses", {
  items: Schema.Array(Loss),
  totals: Schema.Array(LossTotal).annotate({
    description: "Of all losses that the filters let through, not only of this page."
  }),
  next_cursor: nullableText
})
