/** Shows a batch and the results of its rows. */
import type { BatchRow, ResultRow } from "../../layers/batches/BatchStore.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import type { Cell } from "../api/shapes/Csv.ts"

export const batchUrl = (batch_id: string) => `/v1/batches/${batch_id}`

export const batchView = (row: BatchRow) => {
  const { batch_id, status, metadata, max_total, total, charged, created_at, finished_at } = row
  const { succeeded, no_match, failed, blocked, invalid, cancelled } = row
  const ended = succeeded + no_match + failed + blocked + invalid + cancelled
  const labels: unknown = metadata === null ? {} : JSON.parse(metadata)
  return {
    id: batch_id,
    status,
    done: finished_at !== null,
    rows: { total, open: total - ended, succeeded, no_match, failed, blocked, invalid, cancelled },
    max_total: max_total === null ? null : usd(MicroUsd(max_total)),
    charged: usd(MicroUsd(charged)),
    currency: "USD",
    metadata: labels,
    results_url: `${batchUrl(batch_id)}/results`,
    created_at: created_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null
  }
}

const charge = ({ charged }: ResultRow) => (charged === null ? null : usd(MicroUsd(charged)))

/** One line of JSON. The result is the stored text. */
export const resultLine = (one: ResultRow): string => {
  const head = JSON.stringify({ row: one.row, status: one.status, run_id: one.run_id, charged: charge(one) })
  const parts = [head.slice(0, -1)]
  // Stored JSON may be written over several lines.
  if (one.result !== null) parts.push(`"result":${one.result.replaceAll(/[\r\n]+/g, " ")}`)
  if (one.error_code !== null)
    parts.push(`"error":${JSON.stringify({ code: one.error_code, message: one.error_message ?? "" })}`)
  else if (one.error !== null) parts.push(`"error":${one.error}`)
  return `${parts.join(",")}}\n`
}

export const resultColumns = ["row", "status", "run_id", "charged", "error_code", "error_message", "result"]

const problemOf = (text: string | null): { readonly code: string | null; readonly message: string | null } =>
  text === null ? { code: null, message: null } : JSON.parse(text)

export const resultCells = (one: ResultRow): ReadonlyArray<Cell> => {
  const refusal = problemOf(one.error)
  return [
    ...[one.row, one.status, one.run_id, charge(one)],
    ...[one.error_code ?? refusal.code, one.error_message ?? refusal.message, one.result]
  ]
}
