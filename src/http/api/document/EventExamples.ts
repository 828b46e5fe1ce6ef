/** A response of each operation about events, for the OpenAPI document: one event of the stream. */
import type { Example } from "./Example.ts"

const finished = {
  type: "run.finished",
  timestamp: "2026-11-22T09:30:00.000Z",
  data: {
    run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
    capability: "email.verify",
    endpoint: null,
    provider: "zerobounce",
    status: "succeeded",
    charged: "0.006",
    duration_ms: 412,
    attempts: 1,
    error: null
  }
}

const event = { id: "evt_00000000000048hz1c6f0wj3n9t5", event: finished.type, data: JSON.stringify(finished) }

export const eventExamples: Readonly<Record<string, Example>> = {
  "events.organization": { responses: { 200: event } },
  "events.run": { responses: { 200: event } }
}
