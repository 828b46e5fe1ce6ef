/**
 * A run: its statuses, the allowed transitions, and its form on the wire (specification 2.1, 3).
 *
 * `cancelled` is a tenth status, set by a successful cancel. A final status never changes.
 */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"

export const statuses = [
  "created",
  "reserved",
  "queued",
  "running",
  "succeeded",
  "no_match",
  "failed",
  "timed_out",
  "blocked",
  "cancelled"
] as const
export const RunStatus = Schema.Literals(statuses)
export type RunStatus = (typeof statuses)[number]

/** The statuses that may follow each status. The wallet's turn uses this table, and a database trigger enforces a copy of it. */
export const transitions: Readonly<Record<RunStatus, ReadonlyArray<RunStatus>>> = {
  // A run with `reuse` ends without being admitted, as the run whose result it takes.
  created: ["reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"],
  reserved: ["queued", "running", "failed", "cancelled"],
  queued: ["running", "failed", "cancelled"],
  running: ["queued", "succeeded", "no_match", "failed", "timed_out"],
  succeeded: [],
  no_match: [],
  failed: [],
  timed_out: [],
  blocked: [],
  cancelled: []
}

export const isFinal = (status: RunStatus): boolean => transitions[status].length === 0
export const isStoppable = (status: RunStatus): boolean => transitions[status].includes("cancelled")
export const isRunStatus = (text: string): text is RunStatus => statuses.some((status) => status === text)

/** One attempt at one provider. `outcome` is `succeeded`, `no_match` or the reason for the failure. */
export const Attempt = Schema.Struct({
  provider: Schema.String,
  outcome: Schema.String,
  duration_ms: Schema.Int,
  detail: Schema.NullOr(Schema.String),
  /** Absent for a call through the service's account. */
  account: Schema.optionalKey(
    Schema.Literal("own").annotate({ description: "the call was made through the organization's own account" })
  )
})
  .annotate({ identifier: "Attempt" })
  .pipe(
    withColumns({
      list: ["provider", "outcome", "duration_ms", "detail"],
      titles: { provider: "Attempt", duration_ms: "Took" }
    })
  )
export type Attempt = typeof Attempt.Type

export const Control = Schema.Struct({
  control: Schema.Literals([
    "daily_spend_guard",
    "per_run_limit",
    "key_budget",
    "batch_max_total",
    "label_budget",
    "approval_rule",
    "contact_guard",
    "opt_out"
  ]),
  manage: Schema.String.annotate({ description: "the path at which the control is read and changed" })
}).annotate({ identifier: "Control" })
export type Control = typeof Control.Type

const controls: Readonly<Record<string, ReadonlyArray<Control>>> = {
  budget_exceeded: [{ control: "daily_spend_guard", manage: "/v1/spend-guard" }],
  cost_limit_exceeded: [{ control: "per_run_limit", manage: "/v1/spend-guard" }],
  contact_guard: [{ control: "contact_guard", manage: "/v1/spend-guard" }],
  opt_out: [{ control: "opt_out", manage: "/v1/opt-outs" }]
}

/** A refusal. `control` names the limit where the code does not say it. */
interface Met {
  readonly code: string | null
  readonly control: string | null
  readonly key_id: string | null
}

/** The limits that a run met, and where to change them. */
export const controlsOf = ({ code, control, key_id }: Met): ReadonlyArray<Control> => {
  if (control === "key_budget")
    return [{ control, manage: key_id === null ? "/v1/api-keys" : `/v1/api-keys/${key_id}` }]
  if (control === "batch_max_total") return [{ control, manage: "/v1/batches" }]
  if (control === "label_budget") return [{ control, manage: "/v1/label-budgets" }]
  if (control === "approval_rule") return [{ control, manage: "/v1/approval-rules" }]
  return code === null ? [] : (controls[code] ?? [])
}

export const RunError = Schema.Struct({ code: Schema.String, message: Schema.String }).annotate({
  identifier: "RunError"
})
export type RunError = typeof RunError.Type
