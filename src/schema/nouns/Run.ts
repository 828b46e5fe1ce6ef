/**
 * A run as it is stored, as JSON and as CSV.
 *
 * Its JSON is built as text: result, attempts and hints are stored as the text that is sent. So a provider's payload is returned byte for
 * byte, and nothing is parsed again.
 */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { decisionFields } from "../guards/Approval.ts"
import { isErrorCode, statusOf } from "../Errors.ts"
import { usd } from "../money/Money.ts"
import { component, amountText, timeText } from "./Noun.ts"
import { reasonOf } from "../guards/Reuse.ts"
import { nextStep } from "../accounts/OwnAccount.ts"
import { ownMessage } from "../accounts/OwnMessages.ts"
import { inputSubject } from "../runs/InputSubject.ts"
import { decodePlan } from "../runs/Plan.ts"
import { Attempt, Control, controlsOf, isFinal, isRunStatus, isStoppable, RunError, RunStatus } from "../runs/Run.ts"

/** What a run waits for that needs a member's yes, with the words for the person of an agent. */
const Waiting = component("RunApproval", {
  code: Schema.Literal("approval_required"),
  rule: Schema.String.annotate({ description: "the name of the rule that it matches" }),
  role: decisionFields.role,
  url: Schema.String.annotate({ description: "the page on which a member decides" }),
  expires_at: timeText,
  tell: Schema.String.annotate({ description: "what an agent tells its person" })
})
const approvalColumns = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ rule: Schema.String, role: Schema.String, url: Schema.String, expires_at: Schema.String })
  )
)
const waitingJson = (run: RunRow, text: string): string => {
  const { rule, role, url, expires_at } = approvalColumns(text)
  const tell = `The run ${run.run_id} may cost up to $${usd(run.quoted)} and waits for a yes (rule "${rule}"). ${role === "member" ? "A member" : `An ${role}`} of your organization can approve or deny it until ${expires_at} at ${url}. Nothing is charged before.`
  return JSON.stringify({ code: "approval_required", rule, role, url, expires_at, tell })
}

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
    quoted: amountText,
    charged: Schema.NullOr(amountText),
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
  approval: Schema.optionalKey(Waiting),
  /** An older service sends none. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  created_at: timeText
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
})
  .annotate({
    identifier: "ListedRun",
    examples: [{ ...example, key_id: "key_01m81nzk95mq351g8pvrxgm8m4", subject: "jane.doe@example.com" }]
  })
  .pipe(
    withColumns({
      list: ["run_id", "status", "capability", "provider", "billing.charged", "timing.duration_ms", "created_at"],
      terminal: ["capability", "timing.duration_ms"],
      wide: ["timing.duration_ms", "provider", "created_at"],
      titles: { capability: "What", "timing.duration_ms": "Took", created_at: "Started" },
      kinds: { capability: "text", "billing.charged": "money", created_at: "time" }
    })
  )
/** A run as `POST /v1/run` and `GET /v1/runs/{run_id}` return it. */
export const Run = Schema.Struct({ ...listed, result: Schema.optionalKey(Schema.Json) })
  .annotate({
    identifier: "Run",
    examples: [{ ...example, result: { email: "jane.doe@example.com", email_status: "valid", score: 97 } }]
  })
  .pipe(
    withColumns({
      facts: [
        ...([
          "run_id",
          "status",
          "capability",
          "provider",
          "billing.charged",
          "billing.quoted",
          "reused_from"
        ] as const),
        ...(["metadata", "created_at", "timing.duration_ms", "routing_reason", "error"] as const)
      ],
      titles: { capability: "What", metadata: "Labels", "timing.duration_ms": "Took", routing_reason: "Routing" },
      kinds: { "billing.charged": "money", "billing.quoted": "money", created_at: "time" }
    })
  )

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

/** A stored run. */
export const RunRow = Schema.Struct({
  org_id: Schema.String,
  run_id: Schema.String,
  request_id: Schema.String,
  key_id: Schema.NullOr(Schema.String),
  kind: Schema.Literals(["capability", "endpoint"]),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  status: Schema.String,
  quoted: Schema.BigInt,
  charged: Schema.NullOr(Schema.BigInt),
  routing_reason: Schema.String,
  /** JSON texts, passed on untouched. */
  attempts: Schema.NullOr(Schema.String),
  hints: Schema.NullOr(Schema.String),
  /** JSON text of the plan of a run that has not ended and may be called through an own account. Null for others. */
  plan: Schema.NullOr(Schema.String),
  result: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.String),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  /** The control that blocked the run, where `error_code` does not say it. */
  control: Schema.NullOr(Schema.String),
  /** The run whose result it has, without a purchase. */
  reused_from: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date),
  /** Time at which its input and result were erased. */
  erased_at: Schema.NullOr(Schema.Date),
  /** JSON text of the approval that it waits for. Null for a run that waits for none. */
  approval: Schema.NullOr(Schema.String),
  /** What its organization could spend when the row was read, or when the run ended. Null where nobody read it, as in lists. */
  available: Schema.NullOr(Schema.BigInt)
})
export type RunRow = typeof RunRow.Type
/** A run in a list. */
export const ListedRow = Schema.Struct({
  ...RunRow.fields,
  /** JSON text of its input. Null for a large one, which would cost a list too much. */
  input: Schema.NullOr(Schema.String)
})
export type ListedRow = typeof ListedRow.Type
export const isFinalRow = (run: RunRow): boolean => isRunStatus(run.status) && isFinal(run.status)
/** Its call is under way. */
export const isOpenAttempt = (attempt: Attempt) => attempt.outcome === "started"

/** The status that `POST /v1/run` answers: 202 while it runs, then 200 or that of its error. */
export const httpStatusOf = (run: RunRow): number => {
  if (!isFinalRow(run)) return 202
  return run.error_code !== null && isErrorCode(run.error_code) ? statusOf[run.error_code] : 200
}

export const pollUrl = (run_id: string) => `/v1/runs/${run_id}`

const erasedHint = (at: Date) =>
  `The input, result and metadata of this run were erased on ${at.toISOString().slice(0, 10)}; its charge stays in the ledger.`

const decodeAttempts = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Attempt)))

/** Without a call under way: it has no outcome yet, and it may still wait until its provider takes another call. */
const endedAttempts = (run: RunRow): string => {
  if (run.attempts === null) return "[]"
  return isFinalRow(run)
    ? run.attempts
    : JSON.stringify(decodeAttempts(run.attempts).filter((one) => !isOpenAttempt(one)))
}

/** False for a run that was served through the organization's own account, whose last call was made through it, or whose first one will be. */
const isPlatformFunded = ({ attempts, plan }: RunRow): boolean => {
  if (plan !== null && (attempts ?? "[]") === "[]") return nextStep(decodePlan(JSON.parse(plan)), [])?.own !== true
  // Most runs have no such call, and their attempts are not parsed.
  if (attempts === null || !/"account": ?"own"/.test(attempts)) return true
  const calls = decodeAttempts(attempts)
  return (calls.find(({ outcome }) => outcome === "succeeded") ?? calls.at(-1))?.account !== "own"
}

/** The run as a caller sees it who may not read the wallet. */
export const withoutWallet = <Row extends RunRow>(run: Row): Row => ({
  ...run,
  error_message: ownMessage(run.error_code, run.error_message)
})

/** `now` in milliseconds since 1970, for the duration of a run that is not finished. */
export const runJson = (run: RunRow, now: number, withResult: boolean): string => {
  const done = isFinalRow(run)
  const ended = run.finished_at?.getTime() ?? now
  const head = JSON.stringify({
    run_id: run.run_id,
    status: run.status,
    kind: run.kind,
    capability: run.capability,
    endpoint: run.endpoint,
    provider: run.provider,
    routing_reason: reasonOf(run),
    billing: {
      currency: "USD",
      quoted: usd(run.quoted),
      charged: run.charged === null ? null : usd(run.charged),
      platform_funded: isPlatformFunded(run)
    },
    timing: { duration_ms: Math.max(0, ended - run.created_at.getTime()) },
    done,
    poll_url: pollUrl(run.run_id),
    stoppable: isRunStatus(run.status) && isStoppable(run.status),
    request_id: run.request_id,
    created_at: run.created_at.toISOString()
  })
  const hints = run.erased_at === null ? (run.hints ?? "[]") : JSON.stringify([erasedHint(run.erased_at)])
  const parts = [
    head.slice(0, -1),
    `"metadata":${run.metadata ?? "{}"}`,
    `"attempts":${endedAttempts(run)}`,
    `"hints":${hints}`
  ]
  if (withResult && run.result !== null) parts.push(`"result":${run.result}`)
  if (run.reused_from !== null) parts.push(`"reused_from":${JSON.stringify(run.reused_from)}`)
  if (run.approval !== null) parts.push(`"approval":${waitingJson(run, run.approval)}`)
  if (run.error_code !== null)
    parts.push(`"error":${JSON.stringify({ code: run.error_code, message: run.error_message ?? "" })}`)
  const controls = controlsOf({ code: run.error_code, control: run.control, key_id: run.key_id })
  if (controls.length > 0) parts.push(`"controls":${JSON.stringify(controls)}`)
  return `${parts.join(",")}}`
}

/** A run of a list: without its result, and with what tells it apart from others. */
export const listedJson = (run: ListedRow, now: number): string => {
  const apart = JSON.stringify({ key_id: run.key_id, subject: inputSubject(run.input) })
  return `${runJson(run, now, false).slice(0, -1)},${apart.slice(1)}`
}

/** The columns of runs as CSV. */
export const runColumns = [
  ...(["run_id", "status", "kind", "capability", "endpoint", "provider", "quoted", "charged", "currency"] as const),
  ...(["duration_ms", "error_code", "error_message", "routing_reason", "metadata", "request_id"] as const),
  ...(["created_at", "finished_at"] as const)
]

export const runCells = (run: RunRow) => ({
  ...run,
  quoted: usd(run.quoted),
  charged: run.charged === null ? null : usd(run.charged),
  currency: "USD",
  duration_ms: run.finished_at === null ? null : Math.max(0, run.finished_at.getTime() - run.created_at.getTime()),
  routing_reason: reasonOf(run),
  created_at: run.created_at.toISOString(),
  finished_at: run.finished_at?.toISOString() ?? null
})
