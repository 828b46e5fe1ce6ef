/**
 * Reads a CSV of a batch: each line is the input of one run.
 *
 * `map` says which column fills which field, `full_name=Name,company_domain=Website`. Without it, the names of the columns decide, as in the
 * console: "First Name" fills first_name. An empty cell leaves its field out. A cell of a numeric or boolean field is read as such if it
 * looks like one, several values of a list stand in one cell, separated by semicolons (client/Columns.ts), and otherwise the run's own check names the field.
 */
import { Effect, Result } from "effect"
import { inSlices } from "../../layers/platform/inSlices.ts"
import { refused } from "../../schema/Errors.ts"
import { isStorable } from "../../schema/json/JsonScan.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { type CellValue, cellValue, guessedColumns, type InputFields } from "../client/Columns.ts"
import { linesOfBody } from "./CsvLines.ts"
import { shortened } from "../../schema/json/StorableText.ts"

export type CsvRow = Readonly<Record<string, CellValue>>

const shownChars = 60
const shown = (text: string) => shortened(text, shownChars)

/** Field and column of each part. A column's name may have an `=`, because the first one counts. */
const pairsOf = Effect.fnUntraced(function* (map: string, header: ReadonlyArray<string>, fields: InputFields) {
  const pairs = new Map<string, number>()
  for (const part of map.split(",")) {
    const at = part.indexOf("=")
    const [field, column] = [part.slice(0, Math.max(0, at)).trim(), part.slice(at + 1).trim()]
    if (at <= 0 || column === "")
      return yield* refused("query.map", `has "${shown(part)}": write field=Column, separated by commas`)
    if (!fields.has(field))
      return yield* refused(
        "query.map",
        `names the field "${shown(field)}", which the input does not have.${didYouMean(field, [...fields.keys()])}`
      )
    if (pairs.has(field)) return yield* refused("query.map", `names the field "${field}" twice`)
    const index = header.indexOf(column)
    if (index < 0)
      return yield* refused(
        "query.map",
        `names the column "${shown(column)}", which the CSV does not have.${didYouMean(column, header)}`
      )
    pairs.set(field, index)
  }
  return pairs
})

/** The rows, in small steps. Fails with the path of a cell that can't be stored. */
const rowsOf = function* (
  lines: ReadonlyArray<ReadonlyArray<string>>,
  pairs: ReadonlyMap<string, number>,
  fields: InputFields
): Generator<void, Result.Result<ReadonlyArray<CsvRow>, string>> {
  const rows: Array<CsvRow> = []
  for (const [index, line] of lines.entries()) {
    const row: Record<string, CellValue> = {}
    for (const [field, column] of pairs) {
      const cell = line[column] ?? ""
      if (!isStorable(cell)) return Result.fail(`runs.${index}.input.${field}`)
      if (cell !== "") row[field] = cellValue(cell, fields.get(field) ?? null)
    }
    rows.push(row)
    yield
  }
  return Result.succeed(rows)
}

export const csvRuns = Effect.fnUntraced(function* (text: string, map: string | undefined, fields: InputFields) {
  const [header, ...lines] = yield* linesOfBody(text)
  if (header === undefined || lines.length === 0)
    return yield* refused("body", "has no rows: send a header line and at least one row")
  const guessed = Object.entries(guessedColumns([...fields.keys()], header))
  const pairs =
    map === undefined || map === ""
      ? new Map(guessed.map(([field, column]) => [field, header.indexOf(column)]))
      : yield* pairsOf(map, header, fields)
  if (pairs.size === 0)
    return yield* refused(
      "query.map",
      `is required: no column has the name of a field. Fields: ${[...fields.keys()].join(", ")}`
    )
  const rows = yield* inSlices(rowsOf(lines, pairs, fields))
  return Result.isSuccess(rows)
    ? rows.success
    : yield* refused(rows.failure, "has a NUL character or half a surrogate pair, which can't be stored")
})
