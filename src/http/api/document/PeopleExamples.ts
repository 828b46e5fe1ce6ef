/** Examples of the operations about people. Checked against the contract by `test/http/openapi.test.ts`. */
import type { Example } from "./Example.ts"

const jane = {
  id: "usr_01m81nzgvweh2hdt7twdxbzz25",
  email: "jane@acme.example",
  role: "owner",
  verified: true,
  created_at: "2026-11-22T09:30:00.000Z"
}
const key = { id: "key_01m81nzk5dej20zws915h61fdz", name: "production", connected: false }
const invitation = {
  id: "inv_01m81nzp3b11p52yv11fpkfhhy",
  email: "ada@acme.example",
  role: "member",
  status: "open",
  invited_by: "jane@acme.example",
  created_at: "2026-11-22T09:30:00.000Z",
  expires_at: "2026-11-29T09:30:00.000Z"
}

const ownSession = {
  expires_at: "2026-12-22T09:30:00.000Z",
  organization: { id: "org_01m81nzgh66f8vfxqbkda58gtf", name: "Acme" },
  user: { id: "usr_01m81nzq0ffbkp9cnybd55avrx", email: "jane@acme.example" },
  role: "owner"
}

const redirect_uri = "https://agents.example/callback"

export const peopleExamples: Readonly<Record<string, Example>> = {
  "members.list": { responses: { 200: { items: [jane], next_cursor: null } } },
  "members.setRole": {
    request: { role: "member" },
    responses: { 200: { ...jane, role: "member", keys: [{ ...key, change: "narrowed" }] } }
  },
  "members.remove": {
    responses: {
      200: { id: jane.id, removed: true, revoked_keys: [key.id], keys: [{ ...key, change: "revoked" }] }
    }
  },
  "invitations.list": { responses: { 200: { items: [invitation], next_cursor: null } } },
  "invitations.create": {
    request: { email: "ada@acme.example", role: "member" },
    responses: {
      200: { ...invitation, link: "https://rungate.example/join-organization?token=rg_join_TOKEN_OF_THE_LINK" }
    }
  },
  "auditLog.list": {
    responses: {
      200: {
        items: [
          {
            id: "aud_01m81nzp3b11p52yv11fpkfhhy",
            actor: { kind: "person", id: jane.id, name: jane.email },
            action: "spend_guard.changed",
            object: "org_01m81nzgh66f8vfxqbkda58gtf",
            before: { daily_limit: "100.00" },
            after: { daily_limit: "250.00" },
            address: "203.0.113.7",
            created_at: "2026-11-22T09:30:00.000Z"
          }
        ],
        next_cursor: null
      }
    }
  },
  "invitations.withdraw": { responses: { 200: { id: invitation.id, deleted: true } } },
  "invitations.preview": {
    request: { token: "TOKEN_OF_THE_LINK" },
    responses: { 200: { organization: "Acme", email: "ada@acme.example", role: "member" } }
  },
  "invitations.accept": {
    request: { token: "TOKEN_OF_THE_LINK", password: "correct horse battery" },
    responses: {
      200: {
        session_token: "rg_sess_YOUR_TOKEN",
        expires_at: "2026-12-22T09:30:00.000Z",
        organization: { id: "org_01m81nzgh66f8vfxqbkda58gtf", name: "Acme" },
        user: { id: "usr_01m81nzq0ffbkp9cnybd55avrx", email: "ada@acme.example" },
        role: "member"
      }
    }
  },
  "service.get": {
    responses: {
      200: {
        environment: "test",
        sign_up: "open",
        sends_mail: false,
        referral_terms:
          "A workspace that signs up with this code gets $1.00 once, with its first deposit of at least $10.00. A payment card earns this bonus for one workspace only."
      }
    }
  },
  "browser.signUp": {
    request: { email: "jane@acme.example", password: "correct horse battery", organization: "Acme" },
    responses: { 200: ownSession }
  },
  "browser.signIn": {
    request: { email: "jane@acme.example", password: "correct horse battery" },
    responses: { 200: ownSession }
  },
  "browser.accept": {
    request: { token: "TOKEN_OF_THE_LINK", password: "correct horse battery" },
    responses: { 200: ownSession }
  },
  "browser.switch": {
    request: { organization_id: "org_01m81nzgh66f8vfxqbkda58gtf" },
    responses: { 200: ownSession }
  },
  "oauth.asked": {
    responses: {
      200: {
        client_name: "Example Agent",
        redirect_uri,
        redirect_host: "agents.example",
        on_this_machine: false,
        scope: "run",
        organization: { id: "org_01kanb8v4mh2x9ce5tq3r7w6fa", name: "Acme" }
      }
    }
  },
  "oauth.decide": {
    request: {
      response_type: "code",
      client_id: "rgc_WyJFeGFtcGxlIEFnZW50IiwiaHR0cHM6Ly9hZ2VudHMuZXhhbXBsZS9jYWxsYmFjayJd",
      redirect_uri,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      state: "af0ifjsldkj",
      organization_id: "org_01kanb8v4mh2x9ce5tq3r7w6fa",
      approve: true,
      budget: { limit: "20.00", period: "month" }
    },
    responses: {
      200: {
        redirect_to: `${redirect_uri}?code=rg_code_7Hx2mQ&state=af0ifjsldkj&iss=https%3A%2F%2Frungate.example`
      }
    }
  }
}
