/** The file of a batch with what became of each row beside it, as the command `rungate batch -o` writes it. */
import { csvText } from "../../../client/Csv.ts"
import type { Sheet } from "./readFile.ts"
import type { Line } from "./readResults.ts"

const own = ["status", "run_id", "charged", "error"]

const fieldsOf = (result: unknown): Readonly<Record<string, unknown>> =>
  typeof result === "object" && result !== null && !Array.isArray(result) ? { ...result } : {}

const cellOf = (value: unknown): string | number | null => {
  if (value === null || value === undefined) return null
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value)
}

/** Rows that have not ended are `open`. Columns of results begin with `result.`. */
export const joinedCsv = ({ header, rows }: Sheet, lines: ReadonlyArray<Line>): string => {
  const lineByRow = new Map(lines.map((line) => [line.row, line]))
  const fields = [...new Set(lines.flatMap(({ result }) => Object.keys(fieldsOf(result))))]
  return csvText(
    [...header, ...own, ...fields.map((name) => `result.${name}`)],
    rows.map((row, index) => {
      const line = lineByRow.get(index + 1)
      const result = fieldsOf(line?.result)
      return [
        ...header.map((_, column) => row[column] ?? ""),
        ...[line?.status ?? "open", line?.run_id ?? null, line?.charged ?? null],
        line?.error === undefined ? null : `${line.error.code}: ${line.error.message}`,
        ...fields.map((name) => cellOf(result[name]))
      ]
    })
  )
}
