/** A response of each operation about events, for the OpenAPI document. */
import type { Example } from "./Example.ts"

const block = (id: string, type: string, data: object) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, timestamp: "2026-11-22T09:30:00.000Z", data })}\n\n`

const about = { run_id: "run_01m81nzk95mq351g8pvrxgm8m4", capability: "email.verify", endpoint: null }

const started = block("evt_0000000000002s4kd9x1m7q2a5r", "run.started", { ...about, provider: "zerobounce" })
const finished = block("evt_00000000000048hz1c6f0wj3n9t", "run.finished", {
  ...about,
  provider: "zerobounce",
  status: "succeeded",
  charged: "0.006",
  duration_ms: 412,
  attempts: 1,
  error: null
})

const stream = `retry: 1000\n\n${started}${finished}`

export const eventExamples: Readonly<Record<string, Example>> = {
  "events.organization": { responses: { 200: stream } },
  "events.run": { responses: { 200: stream } }
}
