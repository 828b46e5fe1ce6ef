/** Examples of receipts, ledger heads, the details of a run and a dispute, for the OpenAPI document. Tests validate them. */
import type { Example } from "./Example.ts"

/** Shortened. */
const jws =
  "eyJhbGciOiJFZERTQSIsImtpZCI6Ikdrd3dTcDN5emdGY2hvVnFuakR3T2o4WGxSX1hsT285Rzd6emRkUTY0N2MiLCJ0eXAiOiJydW5nYXRlLXJlY2VpcHQrandzIn0.eyJpc3MiOiJodHRwczovL3J1bmdhdGUuZXhhbXBsZS5jb20ifQ.c2lnbmF0dXJl"
const hash = "5f0c6b1e9a7d44e28b8f3c1d0a9e7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f00"

const entry = {
  seq: 41,
  id: "txn_01m81nzka7esv3bpvycnp7tj2e",
  type: "reserve",
  amount: "-0.0048",
  balance_after: "49.82",
  reserved_after: "0.0048",
  run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
  reference: "run_01m81nzk95mq351g8pvrxgm8m4",
  note: null,
  created_at: "2026-11-22T09:30:00.123456Z",
  hash,
  previous: "0".repeat(64)
}

const dispute = {
  run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
  reason: "bounced",
  evidence: "run_01m81pa2v3kx0m7ys3x5d4w9aq",
  state: "refunded",
  note: "Postmark reports HardBounce",
  refund: "0.003",
  reference: "warranty:run_01m81nzk95mq351g8pvrxgm8m4",
  ask_after: null,
  created_at: "2026-11-23T10:12:00.000Z",
  decided_at: "2026-11-23T10:12:01.000Z"
}

const details = {
  run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
  status: "succeeded",
  key_id: "key_01m81nzk7c0qg3m9v1y2d4x8ra",
  request: {
    capability: "email.verify",
    input: { email: "jane.doe@example.com" },
    metadata: { campaign: "spring" }
  },
  decision: {
    routing: "auto",
    strategy: "best_value",
    max_cost: null,
    max_total: null,
    attempts_max: 3,
    reason: "best_value: leadmagic has the lowest price per expected success of 7",
    catalog_version: "9f86d081884c7d65",
    offers: [
      {
        provider: "leadmagic",
        price: "0.003",
        health: { success_rate: 0.97, latency_ms_p50: 640, sample_size: 212 },
        chosen: true,
        excluded_because: null
      },
      { provider: "apify", price: "0.006", health: null, chosen: false, excluded_because: "attempt_limit" }
    ]
  },
  billing: { currency: "USD", quoted: "0.0048", held: "0.0048", charged: "0.003", released: "0.0018" },
  ledger: [
    entry,
    {
      ...entry,
      seq: 42,
      id: "txn_01m81nzka9w2c5s0d7hy3kq4mb",
      type: "settle",
      amount: "-0.003",
      balance_after: "49.817",
      reserved_after: "0.0018",
      created_at: "2026-11-22T09:30:00.345678Z",
      hash: "0".repeat(64),
      previous: entry.hash
    }
  ],
  created_at: "2026-11-22T09:30:00.000Z",
  finished_at: "2026-11-22T09:30:00.215Z",
  erased_at: null,
  warranty: { until: "2026-11-29T09:30:00.215Z", dispute: null }
}

export const receiptExamples: Readonly<Record<string, Example>> = {
  "runs.details": { responses: { 200: details } },
  "receipts.get": { responses: { 200: jws } },
  "receipts.heads": {
    responses: { 200: { items: [{ day: "2026-11-22", seq: 1042, hash, head: jws }], next_cursor: null } }
  },
  "receipts.chain": {
    responses: {
      200: {
        items: [
          {
            seq: 1,
            id: "txn_01m81nzka7esv3bpvycnp7tj2e",
            type: "bonus",
            amount: "50.00",
            balance_after: "50.00",
            reserved_after: "0.00",
            run_id: null,
            reference: "bonus:org_01m81nzk5dej20zws915h61fdz:welcome-1",
            note: "welcome",
            created_at: "2026-11-22T09:30:00.123456Z",
            hash,
            previous: "0".repeat(64)
          }
        ],
        next_cursor: null
      }
    }
  },
  "disputes.dispute": {
    request: { reason: "bounced", evidence: "run_01m81pa2v3kx0m7ys3x5d4w9aq" },
    responses: { 200: dispute }
  },
  "disputes.get": { responses: { 200: dispute } }
}
