/** The rows of Activity, and what an event changes in them. Pure. */
import type { AnswerOf } from "../../data/api.ts"
import { nameOf } from "../../running/request.ts"
import type { LiveEvent } from "../../data/live.ts"

/** What a row shows of a run. A hundred thousand whole runs would be hundreds of megabytes. */
export interface RunRow {
  readonly run_id: string
  /** The capability, or provider and endpoint. */
  readonly name: string
  /** What it was about, such as an e-mail address. */
  readonly subject: string
  /** Null for a run of a session. */
  readonly key_id: string | null
  readonly status: string
  readonly done: boolean
  readonly provider: string
  /** Null until the run has ended. */
  readonly duration_ms: number | null
  /** In USD. Null until it is known. */
  readonly charged: string | null
  readonly created_at: string
}

type Listed = AnswerOf<"runs", "list">["items"][number]

export const rowOf = (run: Listed): RunRow => ({
  run_id: run.run_id,
  name: nameOf(run),
  subject: run.subject ?? "",
  key_id: run.key_id ?? null,
  status: run.status,
  done: run.done,
  provider: run.provider ?? "",
  duration_ms: run.done ? run.timing.duration_ms : null,
  charged: run.billing.charged,
  created_at: run.created_at
})

const textIn = ({ data }: LiveEvent, name: string): string | null => {
  const value = data[name]
  return typeof value === "string" ? value : null
}

/** The run that an event is about. Null for events of the wallet. */
export const runOf = (event: LiveEvent): string | null =>
  event.type.startsWith("run.") ? textIn(event, "run_id") : null

/** The row after an event of its run. What has ended does not change any more. */
export const after = (row: RunRow, event: LiveEvent): RunRow => {
  if (row.done) return row
  const provider = textIn(event, "provider") ?? row.provider
  if (event.type === "run.started") return { ...row, status: "running", provider }
  if (event.type !== "run.finished") return row
  const duration_ms = event.data["duration_ms"]
  return {
    ...row,
    status: textIn(event, "status") ?? row.status,
    done: true,
    provider,
    duration_ms: typeof duration_ms === "number" ? duration_ms : null,
    charged: textIn(event, "charged")
  }
}

type Changes = ReadonlyMap<string, RunRow>

/** Both, and of more than `most` those that changed last. A list that was read again has older ones itself. */
export const withChanges = (before: Changes, rows: Changes, most: number): Changes => {
  const kept = [...before].filter(([run_id]) => !rows.has(run_id))
  return new Map([...kept, ...rows].slice(-most))
}

/** Whether a list with these filters may have the event's run. Keys and labels are not in the event, so they may. */
export const mayMatch = (query: Readonly<Record<string, string>>, event: LiveEvent): boolean => {
  const { status, capability, endpoint } = query
  if (capability !== undefined && capability !== textIn(event, "capability")) return false
  if (endpoint !== undefined && endpoint !== textIn(event, "endpoint")) return false
  return status === undefined || event.type !== "run.finished" || status === textIn(event, "status")
}
