/** A batch: many runs in one request, and what became of its rows. */
import { Schema } from "effect"
import { batchStatuses, rowEnds } from "../batches/Batch.ts"
import { metadataAs } from "../runs/Metadata.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, amountAs, idOf, time, withExample } from "./Noun.ts"

const count = Schema.Int

/** What rows wait for that need a member's yes, with the words for the person of an agent. */
const Waiting = component("BatchApproval", {
  code: Schema.Literal("approval_required"),
  waiting: count.annotate({ description: "open rows whose runs wait" }),
  url: Schema.String.annotate({ description: "the page on which a member decides" }),
  tell: Schema.String.annotate({ description: "what an agent tells its person" })
})

/** `address` is the service's. */
export const batchApproval = (batch_id: string, waiting: number, address: string): typeof Waiting.Type => {
  const url = `${address}/approvals`
  const runs = waiting === 1 ? `1 run of the batch ${batch_id} waits` : `${waiting} runs of the batch ${batch_id} wait`
  const tell = `${runs} for a yes. A member of your organization can approve or deny each at ${url}. Nothing is charged for them before.`
  return { code: "approval_required", waiting, url, tell }
}

export const Batch = component("Batch", {
  id: idOf("bat"),
  status: Schema.Literals(batchStatuses),
  done: Schema.Boolean,
  rows: Schema.Struct({
    total: count,
    open: count.annotate({ description: "not ended yet" }),
    succeeded: count,
    no_match: count,
    failed: count,
    blocked: count.annotate({
      description:
        "stopped by money, a limit, the API key or a provider's outage; nothing was charged, and they can be retried"
    }),
    invalid: count.annotate({ description: "refused because of their input; they made no run" }),
    cancelled: count
  }),
  max_total: Schema.NullOr(amount),
  charged: amountAs("of the rows that have ended"),
  currency: Schema.Literal("USD"),
  approval: Schema.optionalKey(Waiting),
  metadata: metadataAs("the labels of the batch; each run without labels of its own has them"),
  results_url: Schema.String,
  created_at: time,
  finished_at: Schema.NullOr(time)
}).pipe(
  withColumns({
    list: [
      ...(["id", "status", "rows.total", "rows.open", "rows.succeeded", "rows.blocked"] as const),
      ...(["charged", "max_total", "created_at"] as const)
    ],
    terminal: ["rows.open"],
    wide: ["max_total", "rows.succeeded", "rows.blocked", "created_at"],
    facts: ["id", "status", "rows", "charged", "max_total", "created_at", "finished_at"],
    titles: { id: "Batch", "rows.total": "Rows", max_total: "Limit" },
    none: { max_total: "none" }
  }),
  withExample({
    id: "bat_01m83b2x7kq4s8d1n6t0v5y9za",
    status: "finished",
    done: true,
    rows: { total: 2, open: 0, succeeded: 1, no_match: 0, failed: 0, blocked: 0, invalid: 1, cancelled: 0 },
    max_total: "25.00",
    charged: "0.003",
    currency: "USD",
    metadata: { campaign: "spring" },
    results_url: "/v1/batches/bat_01m83b2x7kq4s8d1n6t0v5y9za/results",
    created_at: "2026-11-23T09:30:00.000Z",
    finished_at: "2026-11-23T09:30:02.000Z"
  })
)

/** One line of the results. */
export const BatchResult = component("BatchResult", {
  row: count.annotate({ description: "counted from 1, without the header line of a CSV" }),
  status: Schema.Literals(rowEnds),
  run_id: Schema.NullOr(Schema.String),
  charged: Schema.NullOr(amount),
  result: Schema.optionalKey(Schema.Json),
  error: Schema.optionalKey(
    Schema.Struct({ code: Schema.String, message: Schema.String, details: Schema.optionalKey(Schema.Json) })
  )
}).pipe(
  withColumns({ list: ["row", "status", "result", "charged"] }),
  withExample({
    ...{ row: 1, status: "succeeded", run_id: "run_01m83b2xa1j5r7w9c3e6h8k0mq", charged: "0.003" },
    result: { email: "jane.doe@example.com", status: "valid" }
  })
)
