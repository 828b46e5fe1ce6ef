/** The contract of batches: many runs in one request, with one limit on what they cost together. */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Digits, listQuery, operation, optional, pages, readsOwn } from "./shapes/Common.ts"
import { batchesOpenMax, batchRowsMax } from "../../schema/batches/Batch.ts"
import { Wire } from "../../schema/Errors.ts"
import { Usd } from "../../schema/money/Money.ts"
import { Metadata } from "../../schema/runs/Metadata.ts"
import { RunRequest } from "./Runs.ts"
import { LabelQuery } from "./shapes/RunQuery.ts"
import { Batch } from "../../schema/nouns/Batch.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"

const { wait_seconds: _wait, async: _async, ...runFields } = RunRequest.fields
const BatchRun = Schema.Struct(runFields).annotate({
  identifier: "BatchRun",
  description: "the body of POST /v1/run, without wait_seconds and async"
})
export type BatchRun = typeof BatchRun.Type

const maxTotal = optional(Usd.annotate({ description: "the most that all runs of the batch hold and charge together" }))

export const BatchRequest = component("BatchRequest", {
  runs: Schema.Array(BatchRun).check(Schema.isMinLength(1), Schema.isMaxLength(batchRowsMax)),
  max_total: maxTotal,
  metadata: optional(Metadata)
}).pipe(
  withExample({
    runs: [{ capability: "email.verify", input: { email: "jane.doe@example.com" } }],
    max_total: "25.00",
    metadata: { campaign: "spring" }
  })
)
export type BatchRequest = typeof BatchRequest.Type

export const BatchRetry = component("BatchRetry", {
  max_total: optional(
    Usd.annotate({
      description: "the new limit of the whole batch, with what it has charged; by default the limit stays"
    })
  )
}).pipe(withExample({ max_total: "30.00" }))

/** The query of a batch in CSV. */
export const CsvBatchQuery = Schema.StructWithRest(
  Schema.Struct({
    capability: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
    map: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(4_000))),
    max_total: Schema.optionalKey(Usd)
  }),
  [LabelQuery]
)

/** Two rows that have ended. */
const resultsExample = `${[
  {
    row: 1,
    status: "succeeded",
    run_id: "run_01m83b2xa1j5r7w9c3e6h8k0mq",
    charged: "0.003",
    result: { email_status: "valid" }
  },
  {
    row: 2,
    status: "invalid",
    run_id: null,
    charged: null,
    error: { code: "invalid_request", message: "input.email is not an e-mail address" }
  }
]
  .map((line) => JSON.stringify(line))
  .join("\n")}\n`

export class BatchesApi extends HttpApiGroup.make("batches").add(
  operation(
    { role: "member", keys: "runs", verified: true, own: true, command: "batch" },
    "Start a batch",
    `Runs up to ${batchRowsMax.toLocaleString("en")} requests. All runs together never hold and charge more than max_total. A request whose form is wrong is refused as a whole and names the field, such as runs.17.routing.max_cost. A row whose input is wrong ends as invalid and stops no other. A row that the wallet, a limit, max_total or a revoked key stops ends as blocked, and its error says why. With Content-Type text/csv each line is a run of capability, and map says which column fills which field of its input: full_name=Name,company_domain=Website. Labels of its runs are parameters such as metadata.customer=acme. The body may have 8 MiB. An organization has at most ${batchesOpenMax} unfinished batches.`
  ).post("create", "/batches", {
    headers: { "idempotency-key": Schema.optionalKey(Schema.String) },
    query: CsvBatchQuery,
    payload: [BatchRequest, Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" }))],
    success: Batch.pipe(HttpApiSchema.status(202)),
    error: [Wire.capability_not_found, Wire.endpoint_not_found, Wire.idempotency_key_reused]
  }),
  readsOwn("List batches", "Newest first.", "batch list").get("list", "/batches", pages(Batch)),
  readsOwn("Read a batch", "Its progress and what it has charged.", "batch get").get("get", "/batches/:batch_id", {
    success: Batch
  }),
  readsOwn(
    "Read a batch's results",
    "One JSON object per line, for the rows that have ended so far, in their order. With limit it is one page of at most 8 MiB; cursor is the row of the last line before, and a page without a line is the last one. With `Accept: text/csv` the answer is CSV."
  ).get("results", "/batches/:batch_id/results", {
    query: { limit: listQuery.limit, cursor: Schema.optionalKey(Digits) },
    success: Schema.String.annotate({ description: "one BatchResult per line", examples: [resultsExample] }).pipe(
      HttpApiSchema.asText({ contentType: "application/x-ndjson" })
    )
  }),
  operation(
    { role: "member", keys: "runs", verified: true, own: true, command: "batch retry" },
    "Retry a batch's blocked rows",
    "Runs the rows again that ended as blocked, in the same batch and within the same max_total, or a new one. Rows that ended otherwise are not run again, so nothing is paid twice. The rows run with the API key or session of this request, and count in its budget. A batch that has not finished, or has no blocked row, is answered as it is, so the request can be repeated. A cancelled batch can't be retried. A key with a scope retries its own batches only."
  ).post("retry", "/batches/:batch_id/retry", {
    payload: BatchRetry,
    success: Batch.pipe(HttpApiSchema.status(202))
  }),
  operation(
    { role: "member", keys: "stops", own: true },
    "Cancel a batch",
    "Rows that have not started are cancelled, also those that wait for an approval. Runs that have started go on to their end and are charged. Afterwards no run of the batch holds money."
  ).post("cancel", "/batches/:batch_id/cancel", { success: Batch })
) {}
