/**
 * Writes CSV (RFC 4180) with Papa Parse.
 *
 * A spreadsheet executes a cell that begins like a formula, and texts come from callers and providers. Such a cell gets an apostrophe in
 * front, which spreadsheets hide. Numbers, such as the amount -0.01, stay as they are.
 */
import { unparse } from "papaparse"

export type Cell = string | number | null

const formula = /^(?!-?\d{1,30}(\.\d{1,30})?$)[=+\-@\t\r\n]/

/** A header line, if there are columns, and one line per row. */
export const csvText = (columns: ReadonlyArray<string> | null, rows: ReadonlyArray<ReadonlyArray<Cell>>): string => {
  const all = columns === null ? [...rows] : [columns, ...rows]
  return all.length === 0 ? "" : `${unparse(all, { newline: "\n", escapeFormulae: formula })}\n`
}
