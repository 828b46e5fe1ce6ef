/** How the operator's commands print: data goes to stdout, messages to stderr. Tables stay tables in files and pipes, because operators read them there. */
import { Console } from "effect"
import { fail } from "../cli/terminal/exits.ts"
import { harmless } from "../cli/terminal/text.ts"
import { table as fittedTable } from "../cli/terminal/table.ts"
import type { Violation } from "../../layers/audit/Violation.ts"
import { utcOf } from "../cli/terminal/values.ts"

export const unknown = (message: string) => fail("not_found", message)

/** What went wrong outside, in its own words. */
export const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

export const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** The title of each column, and its cell in a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>

/** As wide as its cells. */
export const table = <Row>(rows: ReadonlyArray<Row>, columns: Columns<Row>): ReadonlyArray<string> =>
  fittedTable(
    rows,
    Object.entries(columns).map(([title, of]) => ({ title, of })),
    Number.POSITIVE_INFINITY,
    (line) => line
  )

export const violationLines = (violations: ReadonlyArray<Violation>) =>
  violations.map(({ equation, subject, detail }) => harmless(`VIOLATION ${equation}: ${subject}: ${detail}`))

/** To the second. */
export const when = (time: string | null) => (time === null ? "-" : utcOf(time))
