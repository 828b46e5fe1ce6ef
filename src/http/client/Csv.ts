/**
 * CSV (RFC 4180) for the command and the console: reads it with Papa Parse, and writes it as the API does.
 *
 * It accepts the separators and line endings that spreadsheets write, and reports where quotes are broken.
 */
import { parse } from "papaparse"

export { csvLines } from "../api/shapes/Csv.ts"

export interface Csv {
  /** Trimmed cells. Rows without any text are left out. */
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** The first line with a quote that is not closed or not doubled: cells from there on may have run together. */
  readonly brokenLine: number | null
}

export const readCsv = (text: string): Csv => {
  const { data, errors } = parse<ReadonlyArray<string>>(text, {
    delimitersToGuess: [",", ";", "\t"],
    // Papa Parse would use the first line ending for all lines, but files that were joined mix them. Trimming removes "\r".
    newline: text.includes("\n") ? "\n" : "\r",
    skipEmptyLines: "greedy",
    transform: (cell) => cell.trim()
  })
  const broken = errors.find(({ type }) => type === "Quotes")
  return { rows: data, brokenLine: broken === undefined ? null : text.slice(0, broken.index).split(/\r\n?|\n/).length }
}
