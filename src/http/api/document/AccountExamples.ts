/** A request and a response of each operation about wallets and accounts, for the OpenAPI document. Tests validate them. */
import type { Example } from "./Example.ts"

const exampleKey = {
  id: "key_01m81nzk5dej20zws915h61fdz",
  name: "agent",
  environment: "test",
  display: "rg_test_Q8bC…X4vF",
  last_used_at: null,
  revoked: false,
  expires_at: null,
  replaced_by: null,
  connected: false,
  allowance: false,
  budget: { limit: "5.00", period: "day", spent: "1.284", resets_at: "2026-11-23T00:00:00.000Z" },
  allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.50" },
  created_at: "2026-11-22T09:30:00.000Z",
  created_by: "usr_01m81nzgvweh2hdt7twdxbzz25"
}

export const accountExamples: Readonly<Record<string, Example>> = {
  "wallet.get": { responses: { 200: { currency: "USD", balance: "49.994", reserved: "0.00", available: "49.994" } } },
  "wallet.transactions": {
    responses: {
      200: {
        items: [
          {
            id: "txn_01m81nzka7esv3bpvycnp7tj2e",
            type: "release",
            amount: "0.0018",
            balance_after: "49.994",
            reference: "run_01m81nzk95mq351g8pvrxgm8m4",
            note: null,
            created_at: "2026-11-22T09:30:00.000Z"
          }
        ],
        next_cursor: "7"
      }
    }
  },
  "usage.get": {
    responses: {
      200: {
        items: [
          {
            day: "2026-11-21",
            "metadata.campaign": "spring",
            runs: 1200,
            succeeded: 1000,
            no_match: 150,
            failed: 50,
            charged: "7.2185"
          },
          {
            day: "2026-11-21",
            "metadata.campaign": null,
            runs: 3,
            succeeded: 3,
            no_match: 0,
            failed: 0,
            charged: "0.0144"
          }
        ],
        reused: { runs: 42, saved: "1.26" },
        next_cursor: null
      }
    }
  },
  "wallet.audit": {
    responses: {
      200: {
        currency: "USD",
        adds_up: true,
        entries: 7,
        sums: {
          topup: "0.00",
          bonus: "50.00",
          refund: "0.00",
          settle: "-0.006",
          reserve: "-0.0096",
          release: "0.0036"
        },
        balance: "49.994",
        balance_from_ledger: "49.994",
        reserved: "0.00",
        reserved_from_ledger: "0.00",
        head: { seq: 7, hash: "955bc645161c6b776b3be43bc074a89460658fb8732021a126a47f04334a7d86" },
        chain_verified: true,
        violations: [],
        checked_at: "2026-11-22T09:30:00.000Z",
        last_full_check: null
      }
    }
  },
  "wallet.guard": {
    responses: {
      200: {
        per_run_limit: null,
        daily_limit: null,
        low_balance: "5.00",
        contact_guard_days: null,
        repeat_guard: 5,
        spent_today: "0.006",
        resets_at: "2026-11-23T00:00:00.000Z"
      }
    }
  },
  "wallet.setGuard": {
    request: { per_run_limit: "1.00" },
    responses: {
      200: {
        per_run_limit: "1.00",
        daily_limit: null,
        low_balance: "5.00",
        contact_guard_days: null,
        repeat_guard: 5,
        spent_today: "0.006",
        resets_at: "2026-11-23T00:00:00.000Z"
      }
    }
  },
  "topups.checkout": {
    request: { amount: "25.00" },
    responses: {
      200: {
        status: "simulated",
        session_id: "cs_01m81nznjqm8bk39jjhr6b98jn",
        transaction_id: "txn_01m81nznns3jptr81ztdprttcf"
      }
    }
  },
  "topups.autoTopup": { responses: { 200: { enabled: false, threshold: "0.00", amount: "0.00", last_error: null } } },
  "topups.setAutoTopup": {
    request: { enabled: false, threshold: "5.00", amount: "25.00" },
    responses: { 200: { enabled: false, threshold: "5.00", amount: "25.00", last_error: null } }
  },
  "referrals.program": {
    responses: {
      200: {
        code: "GHBQSHER",
        link: "https://rungate.example/join/GHBQSHER",
        terms: {
          currency: "USD",
          deposit_min: "10.00",
          deposit_bonus: "1.00",
          share_percent: "10",
          months: 12,
          description:
            "A workspace that signs up with this code gets $1.00 once, with its first deposit of at least $10.00. A payment card earns this bonus for one workspace only. Its referrer gets 10% of the net revenue on its runs (their charges less provider costs, as far as they are paid) for 12 months."
        },
        earnings: { currency: "USD", credited: "0.00", pending: "0.00", referred_count: 0 },
        referred: { items: [] },
        referred_by: null,
        credits: []
      }
    }
  },
  "keys.list": {
    responses: {
      200: {
        items: [{ ...exampleKey, name: "laptop" }],
        next_cursor: null
      }
    }
  },
  "keys.get": {
    responses: { 200: exampleKey }
  },
  "keys.change": {
    request: { budget: { limit: "5.00", period: "day" }, expires_at: null },
    responses: { 200: exampleKey }
  },
  "keys.rotate": {
    request: { grace_seconds: 3600 },
    responses: {
      200: {
        id: "key_01m81nzp22m6w02v2qjrss9a5t",
        api_key: "rg_test_YOUR_KEY",
        note: "Store this key now; it is not shown again."
      }
    }
  },
  "keys.create": {
    request: {
      name: "agent",
      environment: "test",
      budget: { limit: "5.00", period: "day" },
      allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.50" }
    },
    responses: {
      200: {
        id: "key_01m81nzp22m6w02v2qjrss9a5s",
        api_key: "rg_test_YOUR_KEY",
        note: "Store this key now; it is not shown again."
      }
    }
  },
  "keys.revoke": {
    responses: { 200: { ...exampleKey, name: "laptop", revoked: true } }
  },
  "senders.list": {
    responses: {
      200: {
        items: [
          {
            id: "snd_01m81nzk80sbhryrprxj942f6g",
            domain: "acme.example",
            status: "pending",
            record: {
              type: "TXT",
              name: "_rungate-challenge.acme.example",
              value: "rungate-verification=59fff89f5a1d466a94d345d1ea32e31d"
            },
            verified_at: null,
            created_at: "2026-11-22T09:30:00.000Z",
            sandbox: true
          }
        ],
        next_cursor: null
      }
    }
  },
  "senders.add": {
    request: { domain: "acme.example" },
    responses: {
      200: {
        id: "snd_01m81nzp3b11p52yv11fpkfhhy",
        domain: "acme.example",
        status: "pending",
        record: {
          type: "TXT",
          name: "_rungate-challenge.acme.example",
          value: "rungate-verification=5443d42eb075407cacb36cbc4f423221"
        },
        verified_at: null,
        created_at: "2026-11-22T09:30:00.000Z",
        sandbox: true
      }
    }
  },
  "senders.verify": {
    responses: {
      200: {
        id: "snd_01m81nzk80sbhryrprxj942f6g",
        domain: "acme.example",
        status: "verified",
        record: {
          type: "TXT",
          name: "_rungate-challenge.acme.example",
          value: "rungate-verification=59fff89f5a1d466a94d345d1ea32e31d"
        },
        verified_at: "2026-11-22T09:30:00.000Z",
        created_at: "2026-11-22T09:30:00.000Z",
        sandbox: true
      }
    }
  },
  "senders.remove": { responses: { 200: { id: "snd_01m81nzk80sbhryrprxj942f6g", deleted: true } } },
  "auth.signUp": {
    request: { email: "jane@acme.example", password: "correct horse battery", organization: "Acme" },
    responses: {
      200: {
        session_token: "rg_sess_YOUR_TOKEN",
        expires_at: "2026-12-22T09:30:00.000Z",
        organization: { id: "org_01m81nzq0abter2zvw25jc7vct", name: "Acme" },
        user: { id: "usr_01m81nzq0ffbkp9cnybd55avrx", email: "jane@acme.example" },
        role: "owner"
      }
    }
  },
  "auth.signIn": {
    request: { email: "jane@acme.example", password: "correct horse battery" },
    responses: {
      200: {
        session_token: "rg_sess_YOUR_TOKEN",
        expires_at: "2026-12-22T09:30:00.000Z",
        organization: { id: "org_01m81nzq0abter2zvw25jc7vct", name: "Acme" },
        user: { id: "usr_01m81nzq0ffbkp9cnybd55avrx", email: "jane@acme.example" },
        role: "owner"
      }
    }
  },
  "auth.session": {
    responses: {
      200: {
        expires_at: "2026-11-22T09:30:00.000Z",
        organization: { id: "org_01m81nzgh66f8vfxqbkda58gtf", name: "Acme" },
        user: { id: "usr_01m81nzgvweh2hdt7twdxbzz25", email: "jane@acme.example" },
        role: "owner",
        organizations: [{ id: "org_01m81nzgh66f8vfxqbkda58gtf", name: "Acme", role: "owner" }]
      }
    }
  },
  "recovery.resendVerification": { responses: { 200: { verification: "not_needed" } } },
  "recovery.requestPasswordReset": {
    request: { email: "jane@acme.example" },
    responses: {
      202: {
        status: "accepted",
        note: "If this address has an account, a link to set a new password is on its way. It works once, within an hour."
      }
    }
  },
  "auth.signOut": { responses: { 200: { signed_out: true } } },
  "recovery.verifyEmail": {
    request: { token: "TOKEN_OF_THE_LINK" },
    responses: { 200: { verified: true, email: "jane@acme.example" } }
  },
  "recovery.changePassword": {
    request: { current_password: "correct horse battery", new_password: "another long password" },
    responses: { 200: { password_changed: true } }
  },
  "recovery.resetPassword": {
    request: { token: "TOKEN_OF_THE_LINK", new_password: "another long password" },
    responses: { 200: { password_changed: true } }
  },
  "auth.sessions": {
    responses: {
      200: {
        items: [
          {
            id: "ses_4f1c2a9e0b7d4c55a1e6f0b3c8d92e17",
            organization: { id: "org_01m81nzk4w2m8xq1v0r7d3t9fb", name: "Acme" },
            current: true,
            created_at: "2026-11-20T08:00:00.000Z",
            expires_at: "2026-12-20T08:00:00.000Z"
          }
        ],
        next_cursor: null
      }
    }
  },
  "auth.endSession": { responses: { 200: { id: "ses_4f1c2a9e0b7d4c55a1e6f0b3c8d92e17", ended: true } } },
  "auth.endSessions": { responses: { 200: { sessions_ended: 2 } } }
}
