/** A webhook endpoint, to which an organization's events are posted, and what became of each delivery. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, idOf, text, time, timeAs, timeText, withExample } from "./Noun.ts"

const fields = {
  id: idOf("whe"),
  url: Schema.String,
  events: Schema.Array(Schema.String),
  status: Schema.Literals(["active", "paused"]).annotate({
    description: "A paused endpoint gets nothing. When it is active again, it continues where it stopped."
  }),
  paused_because: Schema.NullOr(
    Schema.Literals(["by_you", "gone", "failing"]).annotate({
      description: "gone: it answered 410. failing: it accepted nothing for two days, and a delivery was given up."
    })
  ),
  failing_since: Schema.NullOr(timeAs("Time of the first failure since the last accepted webhook.")),
  previous_secret_until: Schema.NullOr(timeAs("Until then webhooks are signed with the previous secret too.")),
  created_at: time
}
const example = {
  id: "whe_01m81nzk95mq351g8pvrxgm8m4",
  url: "https://example.com/webhooks",
  events: ["run.finished", "wallet.low"],
  status: "active",
  paused_because: null,
  failing_since: null,
  previous_secret_until: null,
  created_at: "2026-11-22T09:30:00.000Z"
} as const

export const WebhookEndpoint = component("WebhookEndpoint", fields).pipe(
  withColumns({
    list: ["id", "url", "status", "events", "created_at"],
    terminal: ["id"],
    wide: ["created_at", "events"],
    titles: { url: "Address", status: "State" }
  }),
  withExample(example)
)
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/** An endpoint with its secret, after it was created or its secret was rotated. */
export const NewWebhookEndpoint = component("NewWebhookEndpoint", {
  ...fields,
  secret: text("Verifies the signatures. It is shown only once.")
}).pipe(withExample({ ...example, secret: "whsec_YOUR_SECRET" }))

export const WebhookDelivery = component("WebhookDelivery", {
  id: Schema.String,
  event_id: text("The header webhook-id. It is the same for each attempt and each replay."),
  type: Schema.String,
  status: Schema.Literals(["pending", "delivered", "failed"]),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(time),
  delivered_at: Schema.NullOr(time),
  created_at: time,
  request: Schema.Struct({ body: text("The body as it is sent, JSON text.") }),
  answers: Schema.Array(
    Schema.Struct({
      at: timeText,
      duration_ms: Schema.Finite,
      status: Schema.NullOr(Schema.Int),
      answer: text("The beginning of the answer's body, or why there was no answer.")
    })
  ).annotate({ description: "The newest ten attempts, oldest first." })
}).pipe(
  withColumns({
    list: ["id", "type", "status", "attempts", "answers", "created_at"],
    wide: ["created_at"],
    titles: { type: "Event", answers: "Last answer" }
  }),
  withExample({
    id: "whd_01m81nzp3b11p52yv11fpkfhhy",
    event_id: "evt_0000000000002s4kd9x1m7q2a5r",
    type: "run.finished",
    status: "delivered",
    attempts: 1,
    next_attempt_at: null,
    delivered_at: "2026-11-22T09:30:01.000Z",
    created_at: "2026-11-22T09:30:00.000Z",
    request: { body: '{"type":"run.finished","timestamp":"2026-11-22T09:30:00.000Z","data":{"status":"succeeded"}}' },
    answers: [{ at: "2026-11-22T09:30:00.800Z", duration_ms: 120, status: 200, answer: "ok" }]
  })
)
