/** Examples of the operations about webhooks. Checked against the contract by `test/http/openapi.test.ts`. */
import type { Example } from "./Example.ts"

const endpoint = {
  id: "whe_01m81nzk95mq351g8pvrxgm8m4",
  url: "https://example.com/webhooks",
  events: ["run.finished", "wallet.low"],
  status: "active",
  paused_because: null,
  failing_since: null,
  previous_secret_until: null,
  created_at: "2026-11-22T09:30:00.000Z"
}
const secret = "whsec_YOUR_SECRET"

const delivery = {
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
}

export const webhookExamples: Readonly<Record<string, Example>> = {
  "webhooks.list": { responses: { 200: { items: [endpoint], next_cursor: null } } },
  "webhooks.create": {
    request: { url: endpoint.url, events: endpoint.events },
    responses: { 200: { ...endpoint, secret } }
  },
  "webhooks.get": { responses: { 200: endpoint } },
  "webhooks.change": {
    request: { status: "paused" },
    responses: { 200: { ...endpoint, status: "paused", paused_because: "by_you" } }
  },
  "webhooks.remove": { responses: { 200: { id: endpoint.id, deleted: true } } },
  "webhooks.rotate": {
    request: { grace_seconds: 3600 },
    responses: { 200: { ...endpoint, previous_secret_until: "2026-11-22T10:30:00.000Z", secret } }
  },
  "webhooks.deliveries": { responses: { 200: { items: [delivery], next_cursor: null } } },
  "webhooks.replay": {
    responses: {
      200: {
        ...delivery,
        status: "pending",
        attempts: 0,
        next_attempt_at: "2026-11-22T11:00:00.000Z",
        delivered_at: null
      }
    }
  },
  "webhooks.replayAll": {
    request: { from: "2026-11-22T10:00:00Z" },
    responses: { 200: { replayed: 3 } }
  }
}
