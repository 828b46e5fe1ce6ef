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
