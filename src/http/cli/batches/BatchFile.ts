/** The file of `rungate batch`: its own rows, and beside each what became of it. */
import { Option, Schema } from "effect"
import { isRecord } from "../../../schema/json/Json.ts"
import { BatchResult } from "../../api/Batches.ts"
import { type Cell, csvText } from "../../api/shapes/Csv.ts"

type Result = typeof BatchResult.Type

const decodeLine = Schema.decodeUnknownOption(Schema.fromJsonString(BatchResult))

/** Adds a page of results by row. A line that a newer service wrote otherwise is left out. Returns the row of the last line, or 0. */
export const addResults = (results: Map<number, Result>, text: string): number => {
  let last = 0
  for (const line of text.split("\n")) {
    if (line === "") continue
    last = Number(/^\{"row":(\d+)/.exec(line)?.[1] ?? 0)
    const result = Option.getOrNull(decodeLine(line))
    if (result !== null) results.set(result.row, result)
  }
  return last
}

const own = ["status", "run_id", "charged", "error"]

const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value)
}

/** The CSV: the columns of the input, then those of the results, which begin with `result.`. */
export const batchCsv = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  results: ReadonlyMap<number, Result>
): string => {
  const fields = new Set<string>()
  for (const { result } of results.values())
    if (isRecord(result)) for (const name of Object.keys(result)) fields.add(name)
  const columns = [...header, ...own, ...[...fields].map((name) => `result.${name}`)]
  const lines = rows.map((row, index) => {
    const outcome = results.get(index + 1)
    const result = isRecord(outcome?.result) ? outcome.result : {}
    return [
      ...header.map((_, column): Cell => row[column] ?? ""),
      ...[outcome?.status ?? "open", outcome?.run_id ?? null, outcome?.charged ?? null],
      outcome?.error === undefined ? null : `${outcome.error.code}: ${outcome.error.message}`,
      ...[...fields].map((name) => cellOf(result[name]))
    ]
  })
  return csvText(columns, lines)
}
