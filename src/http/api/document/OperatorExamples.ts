/** Examples of the operator's operations. Checked against the contract by `test/http/openapi.test.ts`. */
import type { Example } from "./Example.ts"

const session = {
  operator: "ada",
  created_at: "2026-11-22T09:30:00.000Z",
  expires_at: "2026-11-22T17:30:00.000Z"
}

export const operatorExamples: Readonly<Record<string, Example>> = {
  "operatorSession.signIn": { request: { token: "rg_operator_TOKEN_OF_THE_LINK" }, responses: { 200: session } },
  "operatorSession.get": { responses: { 200: session } },
  "operatorSession.signOut": { responses: { 200: { signed_out: true } } }
}
