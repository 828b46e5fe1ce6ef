/** The file of a batch with what became of each row beside it: as `rungate batch -o` writes it, and as the console saves it. */
import { isRecord } from "../../schema/json/Json.ts"
import type { BatchResult } from "../../schema/nouns/Batch.ts"
import { type Cell, csvLines } from "../api/shapes/Csv.ts"

const own = ["status", "run_id", "charged", "error"]

/** The lines of a CSV, without its header. */
export interface Sheet {
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

const fieldsOf = (result: unknown) => (isRecord(result) ? result : {})

const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value)
}

/** Rows that have not ended are `open`. Columns of results begin with `result.`. */
export const joinedCsv = ({ header, rows }: Sheet, lines: ReadonlyArray<typeof BatchResult.Encoded>): string => {
  const lineByRow = new Map(lines.map((line) => [line.row, line]))
  const fields = [...new Set(lines.flatMap(({ result }) => Object.keys(fieldsOf(result))))]
  const joined = rows.map((row, index) => {
    const line = lineByRow.get(index + 1)
    const result = fieldsOf(line?.result)
    return [
      ...header.map((_, column) => row[column] ?? ""),
      ...[line?.status ?? "open", line?.run_id ?? null, line?.charged ?? null],
      line?.error === undefined ? null : `${line.error.code}: ${line.error.message}`,
      ...fields.map((name) => cellOf(result[name]))
    ]
  })
  return csvLines([[...header, ...own, ...fields.map((name) => `result.${name}`)], ...joined])
}
