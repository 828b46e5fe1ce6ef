/**
 * Reads the lines of a CSV in small steps, between which the service answers other requests. It stops at the first thing that is wrong, so a
 * hostile text costs no more than the part of it that is read.
 */
import { Effect, Result } from "effect"
import { parse, type Parser, type ParseResult } from "papaparse"
import { inSlices } from "../../layers/platform/inSlices.ts"
import { batchRowsMax } from "../../schema/batches/Batch.ts"
import { refused } from "../../schema/Errors.ts"

type Line = ReadonlyArray<string>

const columnsMax = 500
/** Characters of a step. Papa Parse takes a few milliseconds for them, whatever they are. */
const stepChars = 16 * 1024
/** Each step reads a row again that has not ended, so a row must be short. Four cells may be full: a spreadsheet's have 32,767 characters. */
const rowCharsMax = 4 * 32 * 1024
/** With empty lines, of which a hostile text may have millions. */
const linesMax = 5 * batchRowsMax

/** Of the first ten rows, as far as they are in one step. */
const delimiterOf = (text: string, newline: "\n" | "\r") =>
  parse<Line>(text.slice(0, stepChars), {
    delimitersToGuess: [",", ";", "\t"],
    newline,
    skipEmptyLines: "greedy",
    preview: 10
  }).meta.delimiter

/** The lines with trimmed cells and without empty ones, the header first. A failure says what is wrong with the text. */
export const csvLines = function* (given: string): Generator<void, Result.Result<ReadonlyArray<Line>, string>> {
  const text = given.replace(/^\ufeff/, "")
  // Papa Parse would use the first line ending for all lines, but files that were joined mix them. Trimming removes "\r".
  const newline = text.includes("\n") ? "\n" : "\r"
  const lines: Array<Line> = []
  let wrong: string | null = null
  let read = 0
  let rows = 0
  let step = () =>
    parse<Line>(text, {
      delimiter: delimiterOf(text, newline),
      newline,
      chunkSize: stepChars,
      chunk,
      complete: () => {}
    })

  const wrongIn = ({ data, errors, meta }: ParseResult<Line>): string | null => {
    const [first, second] = errors.filter(({ type }) => type === "Quotes")
    const row = first?.row ?? 0
    // The last quote of a step may seem wrong because its separator belongs to the next step. Then it is the only error, of a row that has not ended.
    if (first !== undefined && (row < data.length || second !== undefined))
      return `has a quote that is not closed or not doubled, in row ${rows + row + 1}`
    const wide = data.findIndex((line) => line.length > columnsMax)
    if (wide >= 0) return `has more than ${columnsMax} columns, in row ${rows + wide + 1}`
    if (read - meta.cursor > rowCharsMax)
      return `has more than ${rowCharsMax} characters in row ${rows + data.length + 1}. Is a quote not closed?`
    const many = lines.length > batchRowsMax + 1 || rows + data.length > linesMax
    return many ? `has more than ${batchRowsMax} rows; send them in several requests` : null
  }
  const chunk = (parsed: ParseResult<Line>, parser: Parser) => {
    read = Math.min(read + stepChars, text.length)
    for (const line of parsed.data) {
      const cells = line.map((cell) => cell.trim())
      if (cells.some((cell) => cell !== "")) lines.push(cells)
    }
    wrong = wrongIn(parsed)
    rows += parsed.data.length
    parser.pause()
    step = () => parser.resume()
  }

  while (wrong === null && read < text.length) {
    step()
    yield
  }
  return wrong === null ? Result.succeed(lines) : Result.fail(wrong)
}

/** The lines of a request's body. */
export const linesOfBody = Effect.fnUntraced(function* (body: string) {
  const read = yield* inSlices(csvLines(body))
  return Result.isSuccess(read) ? read.success : yield* refused("body", read.failure)
})
