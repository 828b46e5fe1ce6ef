/** Examples of the operator's operations about providers, payments, outcomes and invitations. */
import type { Example } from "./Example.ts"
import { runExamples } from "./RunExamples.ts"

const org_id = "org_01m81nzgh66f8vfxqbkda58gtf"
const run_id = "run_01m81nzgh66f8vfxqbkda58gtf"
const at = "2026-11-22T09:30:00.000Z"

const dispute = {
  org_id,
  run_id,
  reason: "bounced",
  evidence: "My mail server says that the mailbox does not exist.",
  state: "pending",
  note: "the evidence is a text, so the operator decides",
  refund: null,
  reference: null,
  ask_after: null,
  created_at: at,
  decided_at: null
}

const outcome = {
  run_id,
  org_id,
  provider: "resend",
  capability: "email.send",
  endpoint: null,
  why: "no_answer",
  provider_state: null,
  at,
  finding: null,
  note: null,
  found_at: null,
  next_look: null
}
const finding = { finding: "delivered", note: "found in the account of the provider" }
const sums = { runs: 120, charged: "3.60", cost: "3.00", margin: "0.60", margin_percent: "16.6" }
const invitation = { email: "grace@example.com", expires_at: "2026-11-29T09:30:00.000Z" }

export const operatorReportExamples: Readonly<Record<string, Example>> = {
  "operatorImpersonation.begin": {
    request: { reason: "ticket 4711: the run says failed" },
    responses: { 200: { org_id, reason: "ticket 4711: the run says failed", expires_at: "2026-11-22T10:00:00.000Z" } }
  },
  "operatorImpersonation.runs": { responses: { 200: runExamples["runs.list"]?.responses[200] } },
  "operatorImpersonation.run": { responses: { 200: runExamples["runs.get"]?.responses[200] } },
  "operatorCatalog.import": {
    request: {
      provider: "example",
      document: '{"openapi":"3.1.0","servers":[{"url":"https://api.example.com"}],"paths":{"/v1/people":{"get":{}}}}'
    },
    responses: {
      200: {
        provider: "example",
        base_url: "https://api.example.com",
        endpoints: 1,
        added: ["GET /v1/people"],
        changed: [],
        removed: [],
        unchanged: 0,
        warnings: [],
        based_on: null,
        applied: false
      }
    }
  },
  "operatorCatalog.reset": { responses: { 200: { provider: "example", reset: true } } },
  "operatorAuditLog.list": {
    responses: {
      200: {
        items: [
          {
            id: "aud_01m81nzp3b11p52yv11fpkfhhy",
            org_id,
            actor: { kind: "operator", id: null, name: "ada" },
            action: "wallet.credited",
            object: "txn_01m81nzgh66f8vfxqbkda58gtf",
            before: null,
            after: { amount: "10.00", note: "welcome" },
            address: null,
            created_at: at
          }
        ],
        next_cursor: null
      }
    }
  },
  "operatorOutcomes.list": { responses: { 200: { items: [outcome], next_cursor: null } } },
  "operatorOutcomes.resolve": { request: finding, responses: { 200: { ...outcome, ...finding, found_at: at } } },
  "operatorDisputes.list": { responses: { 200: { items: [dispute], next_cursor: null } } },
  "operatorDisputes.accept": {
    request: { note: "The customer sent us the bounce." },
    responses: {
      200: {
        ...dispute,
        state: "refunded",
        note: "The customer sent us the bounce.",
        refund: "0.003",
        reference: `warranty:${run_id}`,
        decided_at: at
      }
    }
  },
  "operatorDisputes.refuse": {
    request: { note: "The mailbox was only full." },
    responses: { 200: { ...dispute, state: "refused", note: "The mailbox was only full.", decided_at: at } }
  },
  "operatorInvitations.list": {
    responses: {
      200: {
        items: [
          { email: invitation.email, status: "open", created_at: at, expires_at: invitation.expires_at, org_id: null }
        ]
      }
    }
  },
  "operatorInvitations.create": {
    request: { email: invitation.email },
    responses: {
      200: { ...invitation, link: "https://rungate.example/invitation?token=rg_invite_TOKEN_OF_THE_LINK" }
    }
  },
  "operatorPayments.list": {
    responses: {
      200: {
        items: [
          {
            payment_id: "pay_01m81nzgh66f8vfxqbkda58gtf",
            org_id,
            organization: "Acme",
            kind: "checkout",
            amount: "50.00",
            state: "paid",
            session_id: "cs_live_a1",
            payment_intent: "pi_a1",
            clawed_back: "0.00",
            failure: null,
            created_at: at,
            ended_at: at
          }
        ],
        next_cursor: null
      }
    }
  },
  "operatorPayments.mismatches": {
    responses: {
      200: {
        items: [
          { event_id: "evt_1", payment_id: "pay_01m81nzgh66f8vfxqbkda58gtf", org_id, fact: "Paid", created_at: at }
        ]
      }
    }
  },
  "operatorProviders.list": {
    responses: {
      200: {
        mode: "production",
        providers: [
          {
            provider: "hunter",
            title: "Hunter",
            configured: true,
            variable: "RUNGATE_PROVIDER_HUNTER_API_KEY",
            serves: ["email.find"],
            adds: [],
            checked_at: at,
            unchecked: [],
            health: { status: "healthy", sample_size: 812 }
          }
        ],
        cost_drifts: [
          { provider: "hunter", capability: "email.find", expected: "0.01", measured: "0.012", since: at, run_id }
        ],
        paused: [
          {
            provider: "prospeo",
            capability: "email.find",
            reason: "provider_account",
            detail: "401 Unauthorized",
            until: at,
            organizations: 3
          }
        ]
      }
    }
  },
  "operatorProviders.margins": {
    responses: {
      200: {
        days: 30,
        items: [{ provider: "hunter", capability: "email.find", endpoint: null, ...sums }],
        providers: [{ provider: "hunter", ...sums }],
        total: sums
      }
    }
  },
  "operatorProviders.losses": {
    responses: {
      200: {
        items: [
          {
            run_id,
            org_id,
            capability: "email.find",
            endpoint: null,
            provider: "hunter",
            reason: "below_cost",
            charge: "0.01",
            cost: "0.012",
            loss: "0.002",
            cost_basis: "measured",
            at
          }
        ],
        totals: [{ provider: "hunter", reason: "below_cost", runs: 1, loss: "0.002" }]
      }
    }
  }
}
