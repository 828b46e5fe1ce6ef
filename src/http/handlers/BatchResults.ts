/** The results of a batch as lines of JSON and as CSV. */
import type { ResultRow } from "../../layers/batches/BatchStore.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"

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

export const resultColumns = ["row", "status", "run_id", "charged", "error_code", "error_message", "result"] as const

const problemOf = (text: string | null): { readonly code: string | null; readonly message: string | null } =>
  text === null ? { code: null, message: null } : JSON.parse(text)

export const resultCells = (one: ResultRow) => {
  const { code, message } = problemOf(one.error)
  return {
    ...one,
    charged: charge(one),
    error_code: one.error_code ?? code,
    error_message: one.error_message ?? message
  }
}
