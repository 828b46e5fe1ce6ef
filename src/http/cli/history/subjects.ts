/** Reads the subjects of `history`: arguments, a file with one subject per line, or a column of a CSV file. */
import { Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import { nearest } from "../../../schema/nearest.ts"
import { bad } from "../terminal/exits.ts"
import { argument, type FlagsOf, text } from "../terminal/flags.ts"
import { readText } from "../runs/input.ts"

/** Split larger lists into several calls. */
const subjectsMost = 100_000

const lettersOf = (text: string) => text.trim().toLowerCase()

const columnOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: string, path: string) => {
  const [heading = [], ...body] = rows
  const names = heading.map(lettersOf)
  const index = names.indexOf(lettersOf(column))
  if (index < 0) {
    const meant = nearest(column, heading)
    return bad(
      `${path} has no column "${column}".${meant === null ? "" : ` Did you mean ${meant}?`} Its columns are: ${heading.join(", ")}.`
    )
  }
  return body.map((row) => row[index] ?? "")
}

export const subjectFlags = {
  subjects: argument("subject", "e-mail address, domain, profile, URL, handle, phone number or words").pipe(
    Argument.variadic()
  ),
  file: text("file", "a file with one subject per line, or - for stdin").pipe(Flag.withAlias("f")),
  csv: text("csv", "a CSV file with a header line, or - for stdin"),
  column: text("column", "column of the CSV file with the subjects")
}

/** The subjects in order, without empty and repeated ones. `single`: one argument, which is shown in full. */
export const subjectsOf = Effect.fnUntraced(function* ({ subjects, file, csv, column }: FlagsOf<typeof subjectFlags>) {
  if (csv === null && column !== null) return yield* bad("--column needs --csv.")
  const fromFile = file === null ? [] : (yield* readText(file)).split(/\r?\n/)
  const fromCsv: Array<string> = []
  if (csv !== null) {
    const { readCsv } = yield* Effect.promise(() => import("../../client/Csv.ts"))
    const { rows, brokenLine } = readCsv(yield* readText(csv))
    if (brokenLine !== null)
      return yield* bad(
        `${csv} has a broken quote in line ${brokenLine}. Close each quoted cell, and write a quote inside it twice.`
      )
    const only = rows[0]?.length === 1 ? rows[0][0] : undefined
    const named = column ?? only
    if (named === undefined) {
      return yield* bad(`${csv} has several columns. Give --column with one of: ${(rows[0] ?? []).join(", ")}.`)
    }
    const values = columnOf(rows, named, csv)
    if ("exit_code" in values) return yield* values
    fromCsv.push(...values)
  }
  const all = [...new Set([...subjects, ...fromFile, ...fromCsv].map((one) => one.trim()).filter((one) => one !== ""))]
  if (all.length === 0)
    return yield* bad("No subject is given. Give subjects, -f <file>, or --csv <file> --column <name>.")
  if (all.length > subjectsMost) return yield* bad(`${all.length} subjects are too many. The limit is ${subjectsMost}.`)
  const single = file === null && csv === null && all.length === 1
  return { all, single }
})
