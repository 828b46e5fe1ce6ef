/** Examples of receipts and ledger heads, for the OpenAPI document. Tests validate them. */
import type { Example } from "./Example.ts"

/** Shortened. */
const jws =
  "eyJhbGciOiJFZERTQSIsImtpZCI6Ikdrd3dTcDN5emdGY2hvVnFuakR3T2o4WGxSX1hsT285Rzd6emRkUTY0N2MiLCJ0eXAiOiJydW5nYXRlLXJlY2VpcHQrandzIn0.eyJpc3MiOiJodHRwczovL3J1bmdhdGUuZXhhbXBsZS5jb20ifQ.c2lnbmF0dXJl"
const hash = "5f0c6b1e9a7d44e28b8f3c1d0a9e7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f00"

export const receiptExamples: Readonly<Record<string, Example>> = {
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
  }
}
