/** One request and one answer of each operation about runs, history and the catalog, for the OpenAPI document. Tests validate them. */
import { hinted, withCommands } from "../../../schema/Hints.ts"
import { inspectCapability, runCapability } from "../../../schema/Steps.ts"
import type { Example } from "./Example.ts"

const listed = {
  run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
  status: "succeeded",
  kind: "capability",
  capability: "email.verify",
  endpoint: null,
  provider: "leadmagic",
  routing_reason: "best_value: leadmagic has the lowest price per expected success of 7",
  billing: { currency: "USD", quoted: "0.0048", charged: "0.003", platform_funded: true },
  timing: { duration_ms: 215 },
  done: true,
  poll_url: "/v1/runs/run_01m81nzk95mq351g8pvrxgm8m4",
  stoppable: false,
  request_id: "req_01m81nzk91vyth8508xq8jsq2x",
  metadata: { campaign: "spring" },
  created_at: "2026-11-22T09:30:00.000Z",
  attempts: [{ provider: "leadmagic", outcome: "succeeded", duration_ms: 0, detail: null }],
  hints: []
}

const run = { ...listed, result: { email: "jane.doe@example.com", email_status: "valid", score: 97 } }

const pending = {
  ...listed,
  status: "running",
  billing: { currency: "USD", quoted: "0.0048", charged: null, platform_funded: true },
  done: false,
  attempts: []
}

const failed = {
  ...listed,
  status: "no_match",
  attempts: [{ provider: "leadmagic", outcome: "no_match", duration_ms: 0, detail: null }],
  error: { code: "no_match", message: "No provider found a match (leadmagic: no_match)." }
}

const cancelled = {
  ...listed,
  status: "cancelled",
  billing: { currency: "USD", quoted: "0.0048", charged: null, platform_funded: true },
  attempts: []
}

const quote = {
  currency: "USD",
  minimum: "0.00",
  expected: "0.002985",
  maximum: "0.0048",
  hold: "0.0048",
  offers: [
    { provider: "leadmagic", price: "0.003", expected_success: 0.97, chosen: true, excluded_because: null },
    { provider: "hunter", price: "0.0048", expected_success: null, chosen: true, excluded_because: null },
    { provider: "apify", price: "0.006", expected_success: null, chosen: false, excluded_because: "attempt_limit" }
  ],
  routing_reason: "best_value: leadmagic has the lowest price per expected success of 7",
  would: "run",
  controls: []
}

export const runExamples: Readonly<Record<string, Example>> = {
  "runs.run": {
    request: { capability: "email.verify", input: { email: "jane.doe@example.com" } },
    responses: { 200: run, 202: pending, 404: failed }
  },
  "quotes.quote": {
    request: { capability: "email.verify", input: { email: "jane.doe@example.com" } },
    responses: { 200: quote }
  },
  "runs.list": {
    responses: {
      200: {
        items: [{ ...listed, key_id: "key_01m81nzk95mq351g8pvrxgm8m4", subject: "jane.doe@example.com" }],
        next_cursor: null
      }
    }
  },
  "runs.get": { responses: { 200: run } },
  "history.get": {
    responses: {
      200: {
        subject: { query: "jane.doe@example.com", kind: "email", normalized: "jane.doe@example.com" },
        items: [
          {
            run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
            status: "succeeded",
            kind: "capability",
            capability: "email.verify",
            endpoint: null,
            provider: "leadmagic",
            charged: "0.003",
            created_at: "2026-11-22T09:30:00.000Z",
            input: { email: "jane.doe@example.com" },
            matched: { in: "input", path: "email", exact: true }
          }
        ],
        touches: [],
        last_touch: null,
        contacted: false,
        last_contact: null,
        reusable: [
          {
            run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
            capability: "email.verify",
            endpoint: null,
            provider: "leadmagic",
            charged: "0.003",
            created_at: "2026-11-22T09:30:00.000Z"
          }
        ],
        count: 2,
        by_status: { succeeded: 2 },
        by_capability: { "email.verify": 2 },
        charged: "0.006",
        currency: "USD",
        first_seen: "2026-11-22T09:30:00.000Z",
        last_seen: "2026-11-22T09:30:00.000Z",
        truncated: false,
        hints: [
          "Already bought: email.verify on 2026-11-22 for $0.003. Read its result with GET /v1/runs/run_01m81nzk95mq351g8pvrxgm8m4 instead of paying again."
        ]
      }
    }
  },
  "history.batch": {
    request: { subjects: ["jane.doe@example.com"] },
    responses: {
      200: {
        items: [
          {
            query: "jane.doe@example.com",
            kind: "email",
            normalized: "jane.doe@example.com",
            seen: true,
            count: 2,
            last_seen: "2026-11-22T09:30:00.000Z",
            contacted: false,
            last_touch: null,
            last_contact: null,
            reusable: {
              run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
              capability: "email.verify",
              endpoint: null,
              provider: "leadmagic",
              created_at: "2026-11-22T09:30:00.000Z",
              charged: "0.003"
            }
          }
        ],
        seen: 1,
        unseen: 0,
        contacted: 0
      }
    }
  },
  "history.erase": {
    responses: {
      200: {
        subject: { query: "jane.doe@example.com", kind: "email", normalized: "jane.doe@example.com" },
        erased: 2,
        in_flight: 0
      }
    }
  },
  "discovery.discover": {
    request: { query: "verify an e-mail address", limit: 1 },
    responses: {
      200: {
        items: [
          {
            kind: "capability",
            score: 1,
            health: {
              status: "unknown",
              success_rate: null,
              latency_ms_p50: null,
              latency_ms_p95: null,
              sample_size: 0,
              source: "measured"
            },
            hint: "rungate inspect email.verify",
            capability: "email.verify",
            title: "Verify an e-mail address",
            description:
              "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
            status: "live",
            providers: ["hunter", "leadmagic"],
            live_providers: [],
            platforms: [],
            starting_price: { amount: "0.003", currency: "USD" }
          }
        ],
        ...hinted([
          withCommands`Inspect before you run, for the input and the price: ${inspectCapability("email.verify")}`
        ])
      }
    }
  },
  "discovery.capabilities": {
    responses: {
      200: {
        items: [
          {
            capability: "people.search",
            title: "Search for people",
            description:
              "Finds people by job title, seniority, employer, place, industry or keywords. Results are profiles; look up addresses with email.find.",
            status: "live",
            providers: ["prospeo", "peopledatalabs", "apollo", "crustdata", "exa", "apify"],
            live_providers: [],
            platforms: [],
            starting_price: { amount: "0.003", currency: "USD" },
            category: "people",
            hint: "rungate inspect people.search"
          }
        ],
        next_cursor: "cGVvcGxlLnNlYXJjaA"
      }
    }
  },
  "discovery.providers": {
    responses: {
      200: {
        items: [
          {
            provider: "agentmail",
            title: "AgentMail",
            homepage: "https://agentmail.to",
            capabilities: ["email.inbox_create", "email.inbox_list", "email.messages", "email.send"],
            configured: false,
            adds: ["email.inbox_create", "email.inbox_list", "email.messages"],
            checked_at: null,
            health: {
              status: "unknown",
              success_rate: null,
              latency_ms_p50: null,
              latency_ms_p95: null,
              sample_size: 0,
              source: "measured"
            },
            endpoints: {
              count: 0,
              status: "excluded",
              reason:
                "Inboxes belong to a workspace; use email.inbox_create, email.inbox_list, email.messages or email.send."
            }
          }
        ],
        next_cursor: "YWdlbnRtYWls"
      }
    }
  },
  "discovery.provider": {
    responses: {
      200: {
        provider: "hunter",
        title: "Hunter",
        homepage: "https://hunter.io",
        capabilities: [
          "email.find",
          "email.verify",
          "people.enrich",
          "company.enrich",
          "company.search",
          "company.tech"
        ],
        configured: true,
        adds: [],
        checked_at: "2026-11-21T09:00:00.000Z",
        health: {
          status: "healthy",
          success_rate: 0.9875,
          latency_ms_p50: 840,
          latency_ms_p95: 2_100,
          sample_size: 240,
          source: "measured"
        },
        endpoints: { count: 8, status: "live", reason: null }
      }
    }
  },
  "discovery.endpoints": {
    responses: {
      200: {
        items: [
          {
            provider: "hunter",
            endpoint: "/combined/find",
            method: "GET",
            title: "Enrich a person with the company",
            status: "live",
            cost: { model: "per_call", estimate: "0.01176", note: "0.4 credits of $0.0245 per call.", currency: "USD" },
            wrapped_by: []
          }
        ],
        next_cursor: "R0VUIC9jb21iaW5lZC9maW5k"
      }
    }
  },
  "catalog.inspect": {
    request: { capability: "email.verify" },
    responses: {
      200: {
        capability: "email.verify",
        title: "Verify an e-mail address",
        category: "people",
        description: "Checks whether an e-mail address exists and can receive mail, without sending anything to it.",
        status: "live",
        sandbox: true,
        input_schema: {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          title: "Input of email.verify",
          type: "object",
          properties: {
            email: {
              type: "string",
              description: "The address to check",
              format: "email",
              minLength: 1,
              maxLength: 254
            }
          },
          required: ["email"],
          additionalProperties: false
        },
        output_fields: [
          "email",
          "email_status",
          "score",
          "is_disposable",
          "is_role",
          "is_free",
          "mx_found",
          "did_you_mean",
          "provider_status"
        ],
        example: { email: "jane.doe@example.com" },
        billing: {
          model: "per_call",
          bills_no_match: true,
          description: "Charged for every delivered result, including unknown. A failed call costs nothing."
        },
        providers: ["hunter"],
        live_providers: [],
        platforms: [],
        offers: [
          {
            provider: "hunter",
            executable: true,
            wired: true,
            verified: false,
            platforms: [],
            price: {
              amount: "0.0147",
              currency: "USD",
              note: "Credits of the Starter plan; the provider does not report what a call has cost."
            },
            metrics: { success_rate: null, latency_ms_p50: null, latency_ms_p95: null, sample_size: 0 },
            health: {
              status: "unknown",
              success_rate: null,
              latency_ms_p50: null,
              latency_ms_p95: null,
              sample_size: 0,
              source: "measured"
            }
          }
        ],
        starting_price: { amount: "0.003", currency: "USD" },
        ...hinted([withCommands`Run it: ${runCapability("email.verify", { email: "jane.doe@example.com" })}`])
      }
    }
  },
  "runs.cancel": { responses: { 200: cancelled } }
}
