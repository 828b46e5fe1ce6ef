/** Examples of the operations about own accounts at providers. Checked against the contract by `test/http/openapi.test.ts`. */
import type { Example } from "./Example.ts"

const account = {
  provider: "hunter",
  last_four: "9f2c",
  base_url: null,
  fallback: true,
  fee: "0.00",
  created_at: "2026-11-22T09:30:00.000Z",
  changed_at: "2026-11-22T09:30:00.000Z"
}

export const providerAccountExamples: Readonly<Record<string, Example>> = {
  "providerAccounts.list": { responses: { 200: { items: [account], next_cursor: null } } },
  "providerAccounts.get": { responses: { 200: account } },
  "providerAccounts.set": {
    request: { api_key: "YOUR_HUNTER_KEY", fallback: true },
    responses: { 200: account }
  },
  "providerAccounts.remove": { responses: { 200: { provider: "hunter", deleted: true } } }
}

const allowance = {
  id: "key_01m81nzk5dej20zws915h61fdz",
  name: "researcher 3",
  parent_id: "key_01m81nzk5d7nz4c3x8q2v9k6ta",
  depth: 1,
  status: "active",
  amount: "2.00",
  spent: "0.42",
  held: "1.58",
  available: "1.52",
  expires_at: "2026-12-01T00:00:00.000Z",
  allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.10" },
  display: "rg_test_Q8bC…X4vF",
  created_at: "2026-11-23T09:30:00.000Z"
}

export const allowanceExamples: Readonly<Record<string, Example>> = {
  "allowances.create": {
    request: {
      name: "researcher 3",
      amount: "2.00",
      expires_at: "2026-12-01T00:00:00Z",
      allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.10" }
    },
    responses: {
      200: {
        id: "key_01m81nzk5dej20zws915h61fdz",
        api_key: "rg_test_YOUR_NEW_KEY",
        note: "Store this key now; it is not shown again."
      }
    }
  },
  "allowances.list": { responses: { 200: { items: [allowance], next_cursor: null } } },
  "allowances.get": { responses: { 200: allowance } },
  "allowances.revoke": {
    responses: { 200: { ...allowance, status: "ended", held: "0.00", available: "0.00" } }
  }
}
