/** What a batch of runs is made of: its limits, how its rows end, and the keys under which its rows run. Pure. */
import type { ErrorCode } from "../Errors.ts"

/** Rows of a batch. More rows are several batches. */
export const batchRowsMax = 10_000
/** Unfinished batches of an organization. */
export const batchesOpenMax = 100

export const batchStatuses = ["running", "cancelling", "cancelled", "finished"] as const

/**
 * How a row may end. `invalid`: its request was refused, so it made no run. `blocked`: money, a limit, the API key or a provider's outage
 * stopped it, and the same row may succeed when it is retried.
 */
export const rowEnds = ["succeeded", "no_match", "failed", "blocked", "invalid", "cancelled"] as const
export type RowEnd = (typeof rowEnds)[number]

/**
 * The Idempotency-Key of a row's run: however often a row is started, and by whichever process, it is one run. `retries` counts earlier
 * runs of the row, which were blocked and charged nothing. No caller can send this key, because theirs have no spaces.
 */
export const rowKey = (batch_id: string, row: number, retries: number): string =>
  retries === 0 ? `${batch_id} ${row}` : `${batch_id} ${row} ${retries}`

/** The row's end when its run has ended with this status, and this error if it has one. */
export const rowEndOf = (runStatus: string, errorCode: string | null): RowEnd => {
  // A run that the wallet can't pay has failed, and was never executed.
  if (errorCode === "insufficient_balance") return "blocked"
  switch (runStatus) {
    case "succeeded":
    case "no_match":
    case "blocked":
    case "cancelled":
      return runStatus
    default:
      return "failed"
  }
}

/** Refusals that are about the content of a row. All others are about what surrounds it. */
const contentCodes: ReadonlySet<ErrorCode> = new Set([
  "invalid_request",
  "capability_not_found",
  "endpoint_not_found",
  "idempotency_key_reused"
])

/** The row's end when its request was refused with this code. */
export const refusedRowEnd = (code: ErrorCode): RowEnd => (contentCodes.has(code) ? "invalid" : "blocked")

/** A batch may use 1/2 of the runs that its organization executes at once, so that single runs start at once beside it. */
const slotsPart = 2
/** And 1/4 of the organization's open runs. */
const queuePart = 4

/** Open runs of one batch. Batches of one organization share what they may have together. */
export const openRowsMax = (
  settings: { readonly orgConcurrency: number; readonly orgQueue: number },
  batches: number
) =>
  Math.max(
    1,
    Math.floor(Math.min(settings.orgConcurrency / slotsPart, settings.orgQueue / queuePart) / Math.max(1, batches))
  )
