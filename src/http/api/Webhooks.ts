/** The contract of webhook endpoints: where an organization's events are posted, and what became of each delivery. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, optional, pagesWith, reads } from "./shapes/Common.ts"
import { EventKind, eventKinds } from "../../schema/events/Event.ts"
import { printable } from "./shapes/AccountFields.ts"
import { Moment } from "../../schema/Period.ts"
import { NewWebhookEndpoint, WebhookDelivery, WebhookEndpoint } from "../../schema/nouns/Webhook.ts"
import { component, withExample, removed } from "../../schema/nouns/Noun.ts"

/** The console's form asks for it as a time, in the zone of the browser. */
const time = (description: string) => Moment.annotate({ format: "date-time", description })

const graceSecondsMax = 7 * 86_400

const Url = Schema.NonEmptyString.check(Schema.isMaxLength(2_000), printable).annotate({
  description: "An https URL with a public address, such as https://example.com/webhooks"
})
const Events = Schema.Array(EventKind)
  .check(Schema.isMinLength(1), Schema.isMaxLength(eventKinds.length))
  .annotate({ description: "The kinds of events that are sent." })

export const WebhookEndpointRequest = component("WebhookEndpointRequest", { url: Url, events: Events }).pipe(
  withExample({ url: "https://example.com/webhooks", events: ["run.finished", "wallet.low"] })
)
export const WebhookEndpointChange = component("WebhookEndpointChange", {
  url: optional(Url),
  events: optional(Events),
  status: optional(Schema.Literals(["active", "paused"]))
}).pipe(withExample({ status: "paused" }))

export const WebhooksReplayed = component("WebhooksReplayed", { replayed: Schema.Int })

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    reads("List webhook endpoints", "Newest first. An organization has at most 20.", "webhooks list").get(
      "list",
      "/webhook-endpoints",
      {
        success: Schema.Struct({ items: Schema.Array(WebhookEndpoint), next_cursor: Schema.Null })
      }
    ),
    byAdmins(
      "Create a webhook endpoint",
      "Events from now on are posted to the URL, signed by the Standard Webhooks specification. A failed webhook is retried for three days.",
      "webhooks create"
    ).post("create", "/webhook-endpoints", {
      payload: WebhookEndpointRequest,
      success: NewWebhookEndpoint
    }),
    reads("Get a webhook endpoint", "Without its secret.").get("get", "/webhook-endpoints/:endpoint_id", {
      success: WebhookEndpoint
    }),
    byAdmins("Change a webhook endpoint", "What is left out stays.", "webhooks pause").patch(
      "change",
      "/webhook-endpoints/:endpoint_id",
      { payload: WebhookEndpointChange, success: WebhookEndpoint }
    ),
    byAdmins("Remove a webhook endpoint", "Its deliveries are deleted too.", "webhooks remove").delete(
      "remove",
      "/webhook-endpoints/:endpoint_id",
      { success: removed("whe", "RemovedWebhookEndpoint") }
    ),
    byAdmins("Rotate a webhook secret", "Returns the new secret.", "webhooks rotate").post(
      "rotate",
      "/webhook-endpoints/:endpoint_id/rotate",
      {
        payload: component("WebhookSecretRotation", {
          grace_seconds: optional(
            Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: graceSecondsMax })).annotate({
              description: "How long webhooks are signed with both secrets. Default: one day."
            })
          )
        }).pipe(withExample({ grace_seconds: 3600 })),
        success: NewWebhookEndpoint
      }
    )
  )
  .add(
    reads("List deliveries", "Newest first. Deliveries are kept for 30 days.", "webhooks deliveries").get(
      "deliveries",
      "/webhook-endpoints/:endpoint_id/deliveries",
      {
        ...pagesWith(WebhookDelivery, {
          status: Schema.optionalKey(Schema.Literals(["pending", "delivered", "failed"]))
        })
      }
    ),
    byAdmins(
      "Replay a delivery",
      "Sends the event again at once, with the same id, and retries as for a new one.",
      "webhooks replay"
    ).post("replay", "/webhook-endpoints/:endpoint_id/deliveries/:delivery_id/replay", { success: WebhookDelivery }),
    byAdmins("Replay the events of a time", "At most 10,000 at once, oldest first.", "webhooks replay").post(
      "replayAll",
      "/webhook-endpoints/:endpoint_id/replay",
      {
        payload: component("WebhookReplay", {
          from: time("The first time of an event, such as 2026-11-22T10:00:00Z."),
          to: optional(time("Events before this time. Default: now.")),
          status: optional(
            Schema.Literals(["failed", "all"]).annotate({
              description: "Default: failed, the events that were given up."
            })
          )
        }),
        success: WebhooksReplayed
      }
    )
  ) {}
