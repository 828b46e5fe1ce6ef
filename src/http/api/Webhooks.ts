/** The contract of webhook endpoints: where an organization's events are posted, and what became of each delivery. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Auth, listQuery, operation, optional } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { EventKind, eventKinds } from "../../schema/events/Event.ts"
import { printable } from "./shapes/AccountFields.ts"
import { timeCharsMax } from "../../schema/Period.ts"
import * as nouns from "../../schema/nouns/Webhook.ts"
import { pageOf, such, withExample, removed } from "../../schema/nouns/Noun.ts"

export const WebhookEndpoint = Schema.toEncoded(nouns.WebhookEndpoint)
const NewWebhookEndpoint = Schema.toEncoded(nouns.NewWebhookEndpoint)
export const WebhookDelivery = Schema.toEncoded(nouns.WebhookDelivery)

const time = (description: string) => such("2026-11-22T10:00:00Z", description).check(Schema.isMaxLength(timeCharsMax))
const graceSecondsMax = 7 * 86_400

const Url = Schema.NonEmptyString.check(Schema.isMaxLength(2_000), printable).annotate({
  description: "An https URL with a public address, such as https://example.com/webhooks"
})
const Events = Schema.Array(EventKind)
  .check(Schema.isMinLength(1), Schema.isMaxLength(eventKinds.length))
  .annotate({ description: "The kinds of events that are sent." })

export const WebhookEndpointRequest = Schema.Struct({ url: Url, events: Events })
  .annotate({ identifier: "WebhookEndpointRequest" })
  .pipe(withExample({ url: "https://example.com/webhooks", events: ["run.finished", "wallet.low"] }))
export const WebhookEndpointChange = Schema.Struct({
  url: optional(Url),
  events: optional(Events),
  status: optional(Schema.Literals(["active", "paused"]))
})
  .annotate({ identifier: "WebhookEndpointChange" })
  .pipe(withExample({ status: "paused" }))

export const WebhooksReplayed = Schema.Struct({ replayed: Schema.Int }).annotate({ identifier: "WebhooksReplayed" })

const params = { endpoint_id: Schema.String }
const errors = [Wire.invalid_request, Wire.forbidden]

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("list", "/webhook-endpoints", {
      success: Schema.Struct({ items: Schema.Array(WebhookEndpoint), next_cursor: Schema.Null })
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", command: "webhooks list" },
        "List webhook endpoints",
        "Newest first. An organization has at most 20."
      )
    ),
    HttpApiEndpoint.post("create", "/webhook-endpoints", {
      payload: WebhookEndpointRequest,
      success: NewWebhookEndpoint,
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks create" },
        "Create a webhook endpoint",
        "Events from now on are posted to the URL, signed by the Standard Webhooks specification. A failed webhook is retried for three days."
      )
    ),
    HttpApiEndpoint.get("get", "/webhook-endpoints/:endpoint_id", {
      params,
      success: WebhookEndpoint,
      error: [Wire.invalid_request]
    }).annotateMerge(operation({ role: "viewer", keys: "reads" }, "Get a webhook endpoint", "Without its secret.")),
    HttpApiEndpoint.patch("change", "/webhook-endpoints/:endpoint_id", {
      params,
      payload: WebhookEndpointChange,
      success: WebhookEndpoint,
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks pause" },
        "Change a webhook endpoint",
        "What is left out stays."
      )
    ),
    HttpApiEndpoint.delete("remove", "/webhook-endpoints/:endpoint_id", {
      params,
      success: removed("whe", "RemovedWebhookEndpoint"),
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks remove" },
        "Remove a webhook endpoint",
        "Its deliveries are deleted too."
      )
    ),
    HttpApiEndpoint.post("rotate", "/webhook-endpoints/:endpoint_id/rotate", {
      params,
      payload: Schema.Struct({
        grace_seconds: optional(
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: graceSecondsMax })).annotate({
            description: "How long webhooks are signed with both secrets. Default: one day."
          })
        )
      })
        .annotate({ identifier: "WebhookSecretRotation" })
        .pipe(withExample({ grace_seconds: 3600 })),
      success: NewWebhookEndpoint,
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks rotate" },
        "Rotate a webhook secret",
        "Returns the new secret."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("deliveries", "/webhook-endpoints/:endpoint_id/deliveries", {
      params,
      query: { ...listQuery, status: Schema.optionalKey(Schema.Literals(["pending", "delivered", "failed"])) },
      success: pageOf(WebhookDelivery),
      error: [Wire.invalid_request]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", command: "webhooks deliveries" },
        "List deliveries",
        "Newest first. Deliveries are kept for 30 days."
      )
    ),
    HttpApiEndpoint.post("replay", "/webhook-endpoints/:endpoint_id/deliveries/:delivery_id/replay", {
      params: { ...params, delivery_id: Schema.String },
      success: WebhookDelivery,
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks replay" },
        "Replay a delivery",
        "Sends the event again at once, with the same id, and retries as for a new one."
      )
    ),
    HttpApiEndpoint.post("replayAll", "/webhook-endpoints/:endpoint_id/replay", {
      params,
      payload: Schema.Struct({
        from: time("The first time of an event, such as 2026-11-22T10:00:00Z."),
        to: optional(time("Events before this time. Default: now.")),
        status: optional(
          Schema.Literals(["failed", "all"]).annotate({
            description: "Default: failed, the events that were given up."
          })
        )
      }).annotate({ identifier: "WebhookReplay" }),
      success: WebhooksReplayed,
      error: errors
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "webhooks replay" },
        "Replay the events of a time",
        "At most 10,000 at once, oldest first."
      )
    )
  )
  .middleware(Auth) {}
