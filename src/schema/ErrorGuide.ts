/**
 * What each public error code means and what to do about it, for the pages of `/problems` (http/pages/Problems.ts). docs/errors.md has the same words.
 */
import type { ErrorCode } from "./Errors.ts"
import { midnight } from "./money/SpendDay.ts"

export interface ErrorAdvice {
  /** One to three sentences, with Markdown's backticks. */
  readonly meaning: string
  readonly advice: string
}

export const errorGuide: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  invalid_request: {
    meaning:
      "A field, a path or a header is wrong, or no run, key or sender of yours has this id. A `max_cost` below the estimate, or an object of another organization, too",
    advice: "Read `details`, correct the field. `POST /v1/inspect` has the schema"
  },
  unauthorized: {
    meaning: "The credential is missing, unknown, revoked, or of the other environment",
    advice: "Send `Authorization: Bearer rg_…`. The sandbox takes `rg_test_` keys, production `rg_live_` keys"
  },
  insufficient_balance: {
    meaning: "The hold is more than the wallet has available",
    advice: "Top up, or lower `routing.max_cost`. Then a new run"
  },
  cost_limit_exceeded: {
    meaning: "The hold is above the spend guard's limit per run",
    advice: "Lower `routing.max_cost`, or let a person raise the limit. Then a new run"
  },
  budget_exceeded: {
    meaning: "The run would pass the spend guard's daily limit, or the budget of its API key (`controls` says which)",
    advice: "Wait until it resets, or let a person raise it. Then a new run"
  },
  forbidden: {
    meaning:
      "The credential may not do this: the API key's scope (`allow`) excludes it, or it needs a session, a higher role, a verified e-mail address, an invitation, or an allowed `Origin`",
    advice: "Do what the message says, such as `POST /v1/auth/sign-in`"
  },
  capability_not_found: {
    meaning: "No capability has this slug",
    advice: "`POST /v1/discover`, or `GET /v1/catalog/capabilities`"
  },
  endpoint_not_found: {
    meaning: "The provider has no such raw endpoint, it left the catalog, or this service does not run it",
    advice: "`GET /v1/catalog/providers/{provider}/endpoints`"
  },
  provider_not_found: {
    meaning: "No provider has this slug",
    advice: "`GET /v1/catalog/providers`"
  },
  no_match: {
    meaning: "The run found nothing. It is charged only where `inspect` says that a miss is billed",
    advice: "Read `hints`, change the input"
  },
  not_found: {
    meaning: "No such path, or no member or invitation of yours has this id",
    advice: "See `/docs`"
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method",
    advice: "The header `Allow` lists the methods"
  },
  request_timeout: {
    meaning: "The body did not arrive within 15 seconds",
    advice: "Again, over a better connection"
  },
  provider_not_available: {
    meaning: "No provider can serve this now: no account, an outage, too expensive for `max_cost`, or coming soon",
    advice: 'Read `details`: one reason per offer. Use `"provider": "auto"`, raise `max_cost`, or try later'
  },
  cancelled: {
    meaning: "The run was cancelled before it started",
    advice: "A new run, if you still want it"
  },
  repeat_guard: {
    meaning:
      "The same caller has run this input five times within ten minutes without success (`RUNGATE_REPEAT_GUARD`). Nothing was held",
    advice:
      "Read the errors and hints of the runs that the message names. Change the input, or wait until the time that it names"
  },
  run_not_finished: {
    meaning: "The run has not ended, so it has no receipt yet",
    advice: "Wait for it with `GET /v1/runs/{run_id}?wait=60`, then ask again"
  },
  contact_guard: {
    meaning:
      "A recipient was contacted within `unless_contacted_within_seconds` or `contact_guard_days`. Nothing was charged or sent",
    advice: "Leave out the recipient that the message names, or write again after the time that it names"
  },
  approval_denied: {
    meaning: "A rule made the run wait for an approval, and a member denied it. Nothing was charged",
    advice: "Ask the member why, then start a run that they will approve"
  },
  approval_expired: {
    meaning: "A rule made the run wait for an approval, and nobody answered in time. Nothing was charged",
    advice: "Start it again, and ask the person sooner: `approval.tell` has the words"
  },
  opt_out: {
    meaning: "A recipient is on an opt-out list, of the organization or of the service. Nothing was charged or sent",
    advice: "Leave out the recipient that the message names. `GET /v1/opt-outs` lists the organization's entries"
  },
  wallet_suspended: {
    meaning:
      "A check found that the wallet's books do not add up, so it takes no new runs. Nothing was held or charged",
    advice:
      "`GET /v1/wallet/audit` says what is wrong. Ask the operator, who resumes the wallet when its books add up. Then a new run"
  },
  organization_moved: {
    meaning: "The operator has moved the organization to another part of the service. Nothing was changed",
    advice: "Send the request to the service's own address, not to that of one part; then again"
  },
  configuration_changed: {
    meaning:
      "Keys, limits, webhooks or budgets changed after the preview, or this request was applied already. Nothing was changed",
    advice: "Preview the configuration again, then apply it with the new `digest`"
  },
  gone: {
    meaning: "The events after this `Last-Event-ID` were deleted: they are kept for 30 days",
    advice: "Connect without the header, and read what you missed with `GET /v1/runs` and `GET /v1/wallet/transactions`"
  },
  payload_too_large: {
    meaning: "The body is larger than 1 MiB",
    advice: "Send less in one request"
  },
  unsupported_media_type: {
    meaning: "The body is not JSON",
    advice: "Send `Content-Type: application/json`"
  },
  idempotency_key_reused: {
    meaning: "This `Idempotency-Key` belongs to a request with another body",
    advice: "A new key for a new request"
  },
  rate_limited: {
    meaning:
      "Too many requests, sign-in attempts, checkouts, open runs or event streams. Of a run or batch: what costs nothing has stored what it may today",
    advice: `Wait for the seconds in \`Retry-After\`, then again. For open runs: wait until some end. For a run or batch: after ${midnight}`
  },
  internal_error: {
    meaning: "A mistake in the service. Nothing was charged for it",
    advice: "Report it with the `request_id`"
  },
  provider_error: {
    meaning: "No provider delivered. Nothing was charged",
    advice: "Read `attempts` and `hints`. A new run later may deliver"
  },
  outcome_unknown: {
    meaning: "A call that acts was sent, and nobody knows whether it was carried out. Nothing was charged",
    advice:
      "Check with the recipient or the operator before you run it again. The run's hints show what is found out later"
  },
  service_unavailable: {
    meaning:
      "The database or room on its disk, Stripe, a name server or the history index is not available, or a command is stored but not decided yet",
    advice: "Again, after `Retry-After` if there is one"
  },
  provider_timeout: {
    meaning: "Every attempt timed out. Nothing was charged",
    advice: "A new run later may deliver"
  }
}
