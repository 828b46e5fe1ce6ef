/** Whom `history` is asked about: arguments, a file with one subject per line, or a column of a CSV file. */
import { Effect } from "effect"
import { csvRows } from "./csv.ts"
import { fail } from "../terminal/exits.ts"
import { readText } from "../runs/input.ts"

/** Larger lists belong into several calls. */
const subjectsMost = 100_000

const lettersOf = (text: string) => text.trim().toLowerCase()

const columnOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: string, path: string) => {
  const [heading = [], ...body] = rows
  const names = heading.map(lettersOf)
  const index = names.indexOf(lettersOf(column))
  if (index < 0) {
    return fail("usage", `${path} has no column "${column}"; it has: ${heading.map((name) => name.trim()).join(", ")}.`)
  }
  return body.map((row) => row[index] ?? "")
}

export interface Named {
  readonly subjects: ReadonlyArray<string>
  readonly file: string | null
  readonly csv: string | null
  readonly column: string | null
}

/** In their order, without empty ones and repetitions. `single`: one argument, which is answered in full. */
export const subjectsOf = Effect.fnUntraced(function* ({ subjects, file, csv, column }: Named) {
  if (csv === null && column !== null) return yield* fail("usage", "--column says which column of --csv it is.")
  const fromFile = file === null ? [] : (yield* readText(file)).split(/\r?\n/)
  const fromCsv: Array<string> = []
  if (csv !== null) {
    const rows = csvRows(yield* readText(csv))
    const only = rows[0]?.length === 1 ? rows[0][0] : undefined
    const named = column ?? only
    if (named === undefined) {
      return yield* fail("usage", `Which column of ${csv}? Say --column with one of: ${(rows[0] ?? []).join(", ")}.`)
    }
    const found = columnOf(rows, named, csv)
    if ("exit_code" in found) return yield* found
    fromCsv.push(...found)
  }
  const all = [...new Set([...subjects, ...fromFile, ...fromCsv].map((one) => one.trim()).filter((one) => one !== ""))]
  if (all.length === 0)
    return yield* fail("usage", "About whom? Give subjects, -f <file> or --csv <file> --column <name>.")
  if (all.length > subjectsMost)
    return yield* fail("usage", `That are ${all.length} subjects; ask about ${subjectsMost} at most.`)
  const single = file === null && csv === null && all.length === 1
  return { all, single }
})
