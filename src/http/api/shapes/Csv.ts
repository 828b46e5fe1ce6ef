/**
 * Writes CSV (RFC 4180) with Papa Parse.
 *
 * A spreadsheet executes a cell that begins like a formula, and texts come from callers and providers. Such a cell gets an apostrophe in
 * front, which spreadsheets hide. Numbers, such as the amount -0.01, stay as they are.
 */
import { unparse } from "papaparse"

export type Cell = string | number | null

const formula = /^(?!-?\d{1,30}(\.\d{1,30})?$)[=+\-@\t\r\n]/

/** A cell as it was before it got an apostrophe. */
export const plainCell = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell

/** One line for each row of cells. */
export const csvLines = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.length === 0 ? "" : `${unparse([...rows], { newline: "\n", escapeFormulae: formula })}\n`

/** One line for each row, with the fields that the columns name. */
export const csvRows = <Name extends string>(
  columns: ReadonlyArray<Name>,
  rows: ReadonlyArray<{ readonly [name in Name]?: Cell }>
): string => csvLines(rows.map((row) => columns.map((name) => row[name] ?? null)))
