/** The contract of the configuration as code: keys, limits, webhooks and rules of an organization in one document. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../schema/Errors.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"
import { AppliedConfiguration, ConfigurationPreview } from "../../schema/configuration/Configuration.ts"
import { RuleRequest } from "./accounts/Approvals.ts"
import { ApiKeyRequest } from "./accounts/Keys.ts"
import { LabelBudgetRequest } from "./accounts/LabelBudgets.ts"
import { operation, optional, reads } from "./shapes/Common.ts"
import { SpendGuardRequest } from "./Wallet.ts"
import { WebhookEndpointChange, WebhookEndpointRequest } from "./Webhooks.ts"

/** More than an organization may have. */
const entriesMax = 10_000
const listOf = <S extends Schema.Top>(entry: S) => optional(Schema.Array(entry).check(Schema.isMaxLength(entriesMax)))

// The service has keys of one environment only, so the same file serves a sandbox and production.
const { environment: _, ...keyFields } = ApiKeyRequest.fields

// Each entry has the fields of the requests that create and change it.
export const KeyEntry = component("KeyEntry", keyFields)
export const WebhookEntry = component("WebhookEntry", {
  ...WebhookEndpointChange.fields,
  ...WebhookEndpointRequest.fields
})

export const Configuration = component("Configuration", {
  keys: listOf(KeyEntry),
  spend_guard: optional(SpendGuardRequest),
  webhooks: listOf(WebhookEntry),
  label_budgets: listOf(LabelBudgetRequest),
  approval_rules: listOf(RuleRequest)
}).pipe(
  withExample({
    keys: [{ name: "agent", budget: { limit: "5.00", period: "day" }, allow: { capabilities: ["email.find"] } }],
    spend_guard: { daily_limit: "20.00" },
    label_budgets: [{ label: "customer", value: "acme", limit: "25.00", period: "month" }]
  })
)

export const ConfigurationPreviewRequest = component("ConfigurationPreviewRequest", {
  configuration: Configuration,
  prune: optional(
    Schema.Boolean.annotate({
      description:
        "whether what is in no entry of a section, such as a key, is revoked or removed; the default is false"
    })
  )
})
const ConfigurationExport = component("ConfigurationExport", {
  digest: Schema.String,
  configuration: Configuration
})

export class ConfigurationApi extends HttpApiGroup.make("configuration").add(
  reads(
    "Export the configuration",
    "API keys, spend guard, webhook endpoints, label budgets and approval rules, without secrets. Applying it changes nothing.",
    "export"
  ).get("export", "/configuration", {
    success: ConfigurationExport
  }),
  operation(
    { role: "admin", keys: "people", verified: true, command: "apply" },
    "Preview a configuration",
    "Makes all changes and undoes them, so what it accepts can be applied. Returns them, and how many runs of the last 30 days the changed rules would have blocked or made wait. Keys and approval rules are matched by name, webhook endpoints by URL, label budgets by label and value. A section or field that is left out stays as it is."
  ).post("preview", "/configuration/preview", {
    payload: ConfigurationPreviewRequest,
    success: ConfigurationPreview,
    error: [Wire.service_unavailable]
  }),
  operation(
    { role: "admin", keys: "people", verified: true, command: "apply" },
    "Apply a configuration",
    "Makes all changes in one transaction, or none. digest is that of the preview or the export: if anything changed since, the answer is 409, so a request that is sent twice counts once. New keys and signing secrets are in this response and never shown again."
  ).put("apply", "/configuration", {
    payload: component("ConfigurationRequest", {
      ...ConfigurationPreviewRequest.fields,
      digest: Schema.String.check(Schema.isMaxLength(100))
    }),
    success: AppliedConfiguration,
    error: [Wire.configuration_changed, Wire.service_unavailable]
  })
) {}
