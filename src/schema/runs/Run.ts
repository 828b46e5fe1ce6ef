/**
 * A run: its statuses, the allowed transitions, and its form on the wire (specification 2.1, 3).
 *
 * `cancelled` is a tenth status, set by a successful cancel. A final status never changes.
 */
import { Schema } from "effect"

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
}).annotate({ identifier: "Attempt" })
export type Attempt = typeof Attempt.Type

export const Control = Schema.Struct({
  control: Schema.Literals(["daily_spend_guard", "per_run_limit", "key_budget", "batch_max_total", "contact_guard"]),
  manage: Schema.String.annotate({ description: "the path at which the control is read and changed" })
}).annotate({ identifier: "Control" })
export type Control = typeof Control.Type

const controls: Readonly<Record<string, ReadonlyArray<Control>>> = {
  budget_exceeded: [{ control: "daily_spend_guard", manage: "/v1/spend-guard" }],
  cost_limit_exceeded: [{ control: "per_run_limit", manage: "/v1/spend-guard" }],
  contact_guard: [{ control: "contact_guard", manage: "/v1/spend-guard" }]
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
  return code === null ? [] : (controls[code] ?? [])
}

export const RunError = Schema.Struct({ code: Schema.String, message: Schema.String }).annotate({
  identifier: "RunError"
})
export type RunError = typeof RunError.Type

const listed = {
  run_id: Schema.String,
  status: RunStatus,
  kind: Schema.Literals(["capability", "endpoint"]),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  routing_reason: Schema.String,
  billing: Schema.Struct({
    currency: Schema.Literal("USD"),
    quoted: Schema.String,
    charged: Schema.NullOr(Schema.String),
    platform_funded: Schema.Boolean
  }),
  timing: Schema.Struct({ duration_ms: Schema.Int }),
  attempts: Schema.Array(Attempt),
  error: Schema.optionalKey(RunError),
  hints: Schema.Array(Schema.String),
  controls: Schema.optionalKey(Schema.Array(Control)),
  done: Schema.Boolean,
  poll_url: Schema.String,
  stoppable: Schema.Boolean,
  request_id: Schema.String,
  reused_from: Schema.optionalKey(
    Schema.String.annotate({ description: "the run whose result this is; nothing was bought" })
  ),
  /** An older service sends none. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  created_at: Schema.String
}

const example = {
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
  attempts: [{ provider: "leadmagic", outcome: "succeeded", duration_ms: 215, detail: null }],
  hints: []
} as const

/** A run in a list, without its result. An older service sends neither the key nor the subject. */
export const ListedRun = Schema.Struct({
  ...listed,
  key_id: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "the API key that started it; null for a session" })
  ),
  subject: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "the first texts of its input, to tell runs apart; null after erasure and for a large input"
    })
  )
}).annotate({
  identifier: "ListedRun",
  examples: [{ ...example, key_id: "key_01m81nzk95mq351g8pvrxgm8m4", subject: "jane.doe@example.com" }]
})
/** A run as `POST /v1/run` and `GET /v1/runs/{run_id}` return it. */
export const Run = Schema.Struct({ ...listed, result: Schema.optionalKey(Schema.Json) }).annotate({
  identifier: "Run",
  examples: [{ ...example, result: { email: "jane.doe@example.com", email_status: "valid", score: 97 } }]
})

const pending = { ...example, billing: { ...example.billing, charged: null }, attempts: [] } as const
export const PendingRun = Run.annotate({
  identifier: "PendingRun",
  description: "still executing: done is false, poll poll_url",
  examples: [{ ...pending, status: "running", done: false }]
})

/** A run that ended without success is returned with the HTTP status of its error code. */
export const FailedRun = Run.annotate({
  identifier: "FailedRun",
  description: "the run ended without success: done is true, error says why, and its code decides the status",
  examples: [
    {
      ...pending,
      status: "no_match",
      error: { code: "no_match", message: "No provider found a match (leadmagic: no_match)." }
    }
  ]
})
