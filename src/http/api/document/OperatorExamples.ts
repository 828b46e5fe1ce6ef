/** Examples of the operator's operations. Checked against the contract by `test/http/openapi.test.ts`. */
import { accountExamples } from "./AccountExamples.ts"
import type { Example } from "./Example.ts"
import { operatorReportExamples } from "./OperatorReportExamples.ts"

const session = {
  operator: "ada",
  created_at: "2026-11-22T09:30:00.000Z",
  expires_at: "2026-11-22T17:30:00.000Z"
}

const organization = {
  org_id: "org_01m81nzgh66f8vfxqbkda58gtf",
  name: "Acme",
  created_at: "2026-11-01T09:30:00.000Z",
  balance: "120.40",
  reserved: "0.40",
  available: "120.00",
  runs_today: 42,
  charged_today: "1.26",
  suspension: null
}
const guard = {
  per_run_limit: null,
  daily_limit: "50.00",
  spent_today: "1.26",
  resets_at: "2026-11-23T00:00:00.000Z"
}
const key = {
  id: "key_01m81nzk5dej20zws915h61fdz",
  name: "crm",
  environment: "live",
  display: "rg_live_…9fK2",
  created_at: "2026-11-01T09:35:00.000Z",
  last_used_at: "2026-11-22T09:29:00.000Z",
  revoked_at: null
}
const detail = {
  ...organization,
  guard,
  auto_topup: { enabled: true, threshold: "10.00", amount: "50.00", last_error: null },
  payments: [
    {
      payment_id: "pay_01m81nzgh66f8vfxqbkda58gtf",
      kind: "checkout",
      amount: "50.00",
      state: "paid",
      session_id: "cs_live_a1",
      payment_intent: "pi_a1",
      clawed_back: "0.00",
      failure: null,
      created_at: "2026-11-02T10:00:00.000Z",
      ended_at: "2026-11-02T10:01:00.000Z"
    }
  ],
  people: [
    {
      id: "usr_01m81nzq0ffbkp9cnybd55avrx",
      email: "jane@acme.example",
      role: "owner",
      created_at: "2026-11-01T09:30:00.000Z",
      verification: "verified",
      email_verified_at: "2026-11-01T09:31:00.000Z"
    }
  ],
  keys: [key],
  entries: [
    {
      id: "txn_01m81nzgh66f8vfxqbkda58gtf",
      type: "topup",
      amount: "50.00",
      balance_after: "120.40",
      reference: "cs_live_a1",
      note: null,
      created_at: "2026-11-02T10:01:00.000Z"
    }
  ],
  open_runs: [],
  losses: { runs: 0, loss: "0.00" },
  unknown_outcomes: 0
}
const credit = { type: "bonus", amount: "10.00", reference: "welcome-1" }

const check = { checked_at: "2026-11-22T09:30:00.000Z", wallets: 214, entries: 918_220, runs: 305_118 }
const letter = {
  id: "918221",
  lane: 3,
  org_id: organization.org_id,
  organization: "Acme",
  run_id: "run_01m81nzgh66f8vfxqbkda58gtf",
  command: "Settle",
  why: "invalid byte sequence for encoding",
  attempts: 5,
  created_at: "2026-11-22T09:30:00.000Z"
}

export const operatorExamples: Readonly<Record<string, Example>> = {
  ...operatorReportExamples,
  "operatorSession.signIn": { request: { token: "rg_operator_TOKEN_OF_THE_LINK" }, responses: { 200: session } },
  "operatorSession.get": { responses: { 200: session } },
  "operatorSession.signOut": { responses: { 200: { signed_out: true } } },
  "operatorBooks.get": {
    responses: {
      200: {
        checks: [{ ...check, violations: 0 }],
        suspended: [],
        heads: { complete_day: "2026-11-21", due_day: null }
      }
    }
  },
  "operatorBooks.audit": {
    responses: {
      200: {
        ...check,
        adds_up: true,
        sheet: {
          topups: "9200.00",
          clawed_back: "-50.00",
          bonuses: "120.00",
          refunds: "4.00",
          charged: "-3104.22",
          balances: "6169.78",
          provider_cost: "2586.85",
          losses: "1.42",
          loss_runs: 12,
          cost_unknown: 0
        },
        equations: [
          {
            id: "E1",
            title: "Each balance is the sum of its top-ups, bonuses, refunds and settlements",
            violations: []
          }
        ]
      }
    }
  },
  "operatorBooks.check": { responses: { 200: { ...check, violations: 0 } } },
  "operatorQueues.get": {
    responses: {
      200: {
        backend: "redis",
        wake_ups: 0,
        lanes: [{ lane: 0, commands: 2, oldest_seconds: 0.012, dead_letters: 0 }],
        runs: [{ state: "running", runs: 14, oldest_seconds: 3.2 }],
        dead_letters: 0
      }
    }
  },
  "operatorQueues.deadLetters": { responses: { 200: { items: [letter], next_cursor: null } } },
  "operatorQueues.retry": {
    responses: { 200: { id: letter.id, org_id: letter.org_id, command: letter.command, lane: letter.lane } }
  },
  "operatorOrganizations.list": { responses: { 200: { items: [organization], next_cursor: null } } },
  "operatorOrganizations.get": { responses: { 200: detail } },
  "operatorOrganizations.audit": { responses: { 200: accountExamples["wallet.audit"]?.responses[200] } },
  "operatorOrganizations.credit": {
    request: { ...credit, note: "welcome" },
    responses: {
      200: {
        org_id: organization.org_id,
        ...credit,
        transaction_id: "txn_01m81nzgh66f8vfxqbkda58gtf",
        already: false,
        balance: "130.40",
        available: "130.00"
      }
    }
  },
  "operatorOrganizations.setGuard": { request: { daily_limit: "50.00" }, responses: { 200: guard } },
  "operatorOrganizations.resume": {
    responses: { 200: { org_id: organization.org_id, suspended: false, already: false } }
  },
  "operatorOrganizations.revokeKey": { responses: { 200: { ...key, revoked_at: "2026-11-22T09:30:00.000Z" } } }
}
