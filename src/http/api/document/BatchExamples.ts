/** Examples of the operations about batches. Checked against the contract by `test/http/openapi.test.ts`. */
import type { Example } from "./Example.ts"

const started = {
  id: "bat_01m83b2x7kq4s8d1n6t0v5y9za",
  status: "running",
  done: false,
  rows: { total: 2, open: 2, succeeded: 0, no_match: 0, failed: 0, blocked: 0, invalid: 0, cancelled: 0 },
  max_total: "25.00",
  charged: "0.00",
  currency: "USD",
  metadata: { campaign: "spring" },
  results_url: "/v1/batches/bat_01m83b2x7kq4s8d1n6t0v5y9za/results",
  created_at: "2026-11-23T09:30:00.000Z",
  finished_at: null
}
const finished = {
  ...started,
  status: "finished",
  done: true,
  rows: { ...started.rows, open: 0, succeeded: 1, invalid: 1 },
  charged: "0.003",
  finished_at: "2026-11-23T09:30:02.000Z"
}
/** Two rows that have ended. */
const results = [
  {
    ...{ row: 1, status: "succeeded", run_id: "run_01m83b2xa1j5r7w9c3e6h8k0mq", charged: "0.003" },
    result: { email: "jane.doe@example.com", status: "valid" }
  },
  {
    ...{ row: 2, status: "invalid", run_id: null, charged: null },
    error: { code: "invalid_request", message: "input.email is not an e-mail address" }
  }
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("")

const run = (email: string) => ({ capability: "email.verify", input: { email } })

export const batchExamples: Readonly<Record<string, Example>> = {
  "batches.create": {
    request: {
      runs: [run("jane.doe@example.com"), run("joe@example.com")],
      max_total: "25.00",
      metadata: { campaign: "spring" }
    },
    responses: { 202: started }
  },
  "batches.list": { responses: { 200: { items: [finished], next_cursor: null } } },
  "batches.get": { responses: { 200: finished } },
  "batches.results": { responses: { 200: results } },
  "batches.retry": {
    request: { max_total: "30.00" },
    responses: { 202: { ...started, max_total: "30.00", rows: { ...started.rows, open: 1, succeeded: 1 } } }
  },
  "batches.cancel": {
    responses: {
      200: { ...finished, status: "cancelled", rows: { ...finished.rows, succeeded: 1, invalid: 0, cancelled: 1 } }
    }
  }
}
