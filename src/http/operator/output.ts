/** How the operator's commands print: data goes to stdout, messages to stderr. Tables stay tables in files and pipes, because operators read them there. */
import { Console } from "effect"
import { fail } from "../cli/terminal/exits.ts"
import { table as fittedTable } from "../cli/terminal/table.ts"

export const bad = (message: string) => fail("usage", message)
export const unknown = (message: string) => fail("not_found", message)

export const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** Replaces control characters, because names and notes come from customers. */
export const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?")

/** The title of each column, and its cell in a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>

/** As wide as its cells. */
export const table = <Row>(rows: ReadonlyArray<Row>, columns: Columns<Row>): ReadonlyArray<string> =>
  fittedTable(
    rows,
    Object.entries(columns).map(([title, of]) => ({ title, of: (row: Row) => plain(String(of(row) ?? "")) })),
    Number.POSITIVE_INFINITY,
    (line) => line
  )

interface Violation {
  readonly equation: string
  readonly subject: string
  readonly detail: string
}
export const violationLines = (violations: ReadonlyArray<Violation>) =>
  violations.map(({ equation, subject, detail }) => plain(`VIOLATION ${equation}: ${subject}: ${detail}`))

/** To the second. */
export const when = (time: string | null) => (time === null ? "-" : `${time.slice(0, 19)}Z`)
