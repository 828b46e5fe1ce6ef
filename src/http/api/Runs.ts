/** The contract of runs: execute, list, read, cancel (specification 4.1, 4.3-4.5). */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { operation, optional, pages, readsOwn, WaitQuery, WaitSeconds } from "./shapes/Common.ts"
import { AcceptRequest } from "../../schema/catalog/Acceptance.ts"
import { Wire } from "../../schema/Errors.ts"
import { ContactSeconds } from "../../schema/guards/ContactGuard.ts"
import { ReuseRequest } from "../../schema/guards/Reuse.ts"
import { Usd } from "../../schema/money/Money.ts"
import { Metadata } from "../../schema/runs/Metadata.ts"
import { RunDetails } from "../../schema/receipts/RunDetails.ts"
import { strategies } from "../../schema/runs/Routing.ts"
import { RunWarranty } from "../../schema/nouns/Dispute.ts"
import { RunQuery } from "./shapes/RunQuery.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"
import { FailedRun, ListedRun, PendingRun, Run } from "../../schema/nouns/Run.ts"

const Slug = Schema.NonEmptyString.check(Schema.isMaxLength(200))

export const RunRequest = component("RunRequest", {
  capability: optional(Slug.annotate({ description: "slug of a capability; either this, or provider and endpoint" })),
  provider: optional(Slug.annotate({ description: "slug of a provider whose raw endpoint is called" })),
  endpoint: optional(
    Schema.NonEmptyString.check(Schema.isMaxLength(1000)).annotate({ description: "the provider's own path" })
  ),
  method: optional(Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE"])),
  input: Schema.Json.annotate({
    description: "matches the input_schema of inspect; for a raw endpoint the provider's own body"
  }).annotateKey({
    messageMissingKey:
      'is missing: a JSON object with the fields that POST /v1/inspect shows, such as {"email": "ada@example.com"}'
  }),
  path: optional(Schema.JsonObject.annotate({ description: "raw only: fills {placeholders} of the endpoint" })),
  query: optional(Schema.JsonObject.annotate({ description: "raw only: query parameters" })),
  routing: optional(
    Schema.Struct({
      provider: optional(
        Slug.annotate({ description: "auto, or a provider to pin; a pinned provider never falls back" })
      ),
      strategy: optional(Schema.Literals(strategies)),
      max_cost: optional(Usd),
      max_total: optional(Usd),
      allow_fallback: optional(Schema.Boolean)
    })
  ),
  metadata: optional(Metadata),
  accept: optional(AcceptRequest),
  reuse: optional(ReuseRequest),
  unless_contacted_within_seconds: optional(
    ContactSeconds.annotate({
      description:
        "email.send, network.invite and network.message only: block the run (contact_guard) if one of its recipients was contacted within this time"
    })
  ),
  response: optional(Schema.Struct({ include_raw: optional(Schema.Boolean) })),
  wait_seconds: optional(
    WaitSeconds.annotate({ description: "how long the request waits for the result; the default is 30" })
  ),
  async: optional(Schema.Boolean.annotate({ description: "true returns 202 immediately" }))
}).pipe(withExample({ capability: "email.verify", input: { email: "jane.doe@example.com" } }))
export type RunRequest = typeof RunRequest.Type

const failedStatuses = [402, 404, 409, 429, 500, 502, 504] as const

export class RunsApi extends HttpApiGroup.make("runs").add(
  operation(
    { role: "member", keys: "runs", verified: true, own: true, command: "run" },
    "Run a capability or a raw endpoint",
    "Starts a run, waits up to wait_seconds for its end, and returns it: 200 if it succeeded, 202 while it is executing, otherwise the status of its error. Send an Idempotency-Key: a retry joins the same run and nothing is billed twice. outcome_unknown means that the provider may have carried out a call that acts, such as sending a message. Check before you run it again."
  ).post("run", "/run", {
    headers: { "idempotency-key": Schema.optionalKey(Schema.String), prefer: Schema.optionalKey(Schema.String) },
    payload: RunRequest,
    success: [Run, PendingRun.pipe(HttpApiSchema.status(202))],
    error: [
      Wire.capability_not_found,
      Wire.endpoint_not_found,
      Wire.provider_not_available,
      Wire.idempotency_key_reused,
      Wire.internal_error,
      Wire.service_unavailable,
      ...failedStatuses.map((status) => FailedRun.pipe(HttpApiSchema.status(status)))
    ]
  }),
  readsOwn(
    "List runs",
    "Newest first, without results. With `Accept: text/csv` the answer is CSV: all rows up to 10,000 or `limit`, and a `Link` header if there are more.",
    "runs list"
  ).get("list", "/runs", { ...pages(ListedRun), query: RunQuery }),
  readsOwn("Read a run", "With wait, returns when the run ends or the time is up.", "runs get").get(
    "get",
    "/runs/:run_id",
    { query: { wait: Schema.optionalKey(WaitQuery) }, success: Run }
  ),
  readsOwn(
    "Read what a run asked for, and why it went as it did",
    "Returns the request, every offer that was considered with the reason it was left out, what was held, charged and released, the run's ledger entries with the warranty's refund, and how its warranty stands. GET /v1/runs/{run_id}/receipt signs the same facts of a run that has ended."
  ).get("details", "/runs/:run_id/details", {
    success: component("RunDetails", {
      ...RunDetails.fields,
      warranty: Schema.NullOr(RunWarranty).annotate({
        description: "null if the outcome warranty covers no such run, or the service has none"
      })
    })
  }),
  operation(
    { role: "member", keys: "stops", own: true, command: "runs cancel" },
    "Cancel a run",
    "Cancels a run that has not started, and releases its hold."
  ).post("cancel", "/runs/:run_id/cancel", { success: Run })
) {}
