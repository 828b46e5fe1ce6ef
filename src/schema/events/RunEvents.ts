/**
 * The events that a run's state implies and that its log does not have yet.
 *
 * They follow from the state alone. So a process may be killed at any point, and whoever looks at the run next adds what is missing, in
 * order and once.
 */
import { usd } from "../money/Money.ts"
import { type Attempt, isFinal, type RunStatus } from "../runs/Run.ts"
import type { NewEvent } from "./Event.ts"

export interface RunState {
  readonly run_id: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
  readonly status: RunStatus
  readonly quoted: bigint
  readonly charged: bigint | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly error_code: string | null
  readonly error_message: string | null
  readonly created_at: Date
  /** When the run was queued or began to run. Null when it is not open. */
  readonly since: Date | null
  readonly finished_at: Date | null
}

/** Outcome of the attempt that is under way. */
const underWay = "started"

const createdStep = 0
const startedStep = 1
/** The last step of a run. A run has far fewer attempts. */
export const finishedStep = 30_000

/** Steps of what members say about a run, which its state does not show later. */
const approvalSteps: Readonly<Record<string, number>> = { "run.approval_required": 29_998, "run.approved": 29_999 }

/** An event of the inbox. That of a run names it in its data. */
export const inboxEvent = (kind: NewEvent["kind"], data: object, happened_at: Date): NewEvent => {
  const step = approvalSteps[kind] ?? null
  const run_id = step !== null && "run_id" in data ? String(data.run_id) : null
  return { kind, run_id, step, data, happened_at }
}

const latest = (a: Date, b: Date): Date => (a > b ? a : b)

/** `logged` are the steps that the log has. `now` is the time of an attempt that ended just now. */
export const missingEvents = (run: RunState, logged: ReadonlySet<number>, now: Date): ReadonlyArray<NewEvent> => {
  const { run_id, capability, endpoint, provider, attempts, created_at } = run
  const about = { run_id, capability, endpoint }
  const events: Array<NewEvent> = []
  const add = (kind: NewEvent["kind"], step: number, happened_at: Date, data: object) => {
    if (!logged.has(step)) events.push({ kind, run_id, step, data, happened_at })
  }
  const final = isFinal(run.status)
  const ended = attempts.filter(({ outcome }) => outcome !== underWay)
  const finishedAt = run.finished_at ?? now
  add("run.created", createdStep, created_at, { ...about, quoted: usd(run.quoted), poll_url: `/v1/runs/${run_id}` })
  if (attempts.length > 0) {
    const spentMillis = ended.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
    const began = final ? new Date(finishedAt.getTime() - spentMillis) : (run.since ?? now)
    add("run.started", startedStep, latest(created_at, began), {
      ...about,
      provider: attempts[0]?.provider ?? provider
    })
  }
  for (const [index, attempt] of ended.entries()) {
    add("run.attempt", startedStep + 1 + index, latest(created_at, finishedAt), {
      ...about,
      number: index + 1,
      ...attempt
    })
  }
  if (final) {
    add("run.finished", finishedStep, finishedAt, {
      ...about,
      provider,
      status: run.status,
      charged: run.charged === null ? null : usd(run.charged),
      duration_ms: Math.max(0, finishedAt.getTime() - created_at.getTime()),
      attempts: ended.length,
      error: run.error_code === null ? null : { code: run.error_code, message: run.error_message ?? "" }
    })
  }
  return events
}
