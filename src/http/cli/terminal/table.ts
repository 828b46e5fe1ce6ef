/**
 * Tables for people: as wide as the terminal, money and counts to the right, the columns that may shrink cut with ….
 *
 * Cells are other people's text, so they are made harmless here, once.
 */
import { cut, harmless, padEnd, padStart, widthOf } from "./text.ts"

export interface Column<A> {
  readonly title: string
  readonly of: (row: A) => string | number | null
  /** Money and counts. */
  readonly right?: boolean
  /** May be cut, down to so many columns, when the terminal is narrow; a column without it keeps its width. */
  readonly least?: number
}

const gap = 2
const empty = "-"

/** How wide each column is, so that all fit into `columns` where they can. */
const layout = (natural: ReadonlyArray<number>, least: ReadonlyArray<number | null>, columns: number) => {
  const widths = [...natural]
  let over = widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1) - columns
  // Shrink the widest column first.
  while (over > 0) {
    let widest = -1
    widths.forEach((width, index) => {
      const floor = least[index] ?? null
      if (floor !== null && width > floor && (widest < 0 || width > (widths[widest] ?? 0))) widest = index
    })
    if (widest < 0) return widths
    widths[widest] = (widths[widest] ?? 1) - 1
    over--
  }
  return widths
}

/** Lines without a newline at their end; `head` styles the first. */
export const table = <A>(
  rows: ReadonlyArray<A>,
  columns: ReadonlyArray<Column<A>>,
  width: number,
  head: (line: string) => string
): ReadonlyArray<string> => {
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = column.of(row)
      return value === null || value === "" ? empty : harmless(String(value))
    })
  )
  const natural = columns.map((column, index) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[index] ?? "")), widthOf(column.title))
  )
  const widths = layout(
    natural,
    columns.map((column) => column.least ?? null),
    width
  )
  const line = (texts: ReadonlyArray<string>) =>
    columns
      .map((column, index) => {
        const room = widths[index] ?? 0
        const text = cut(texts[index] ?? "", room)
        return column.right === true ? padStart(text, room) : padEnd(text, room)
      })
      .join(" ".repeat(gap))
      .trimEnd()
  return [head(line(columns.map((column) => column.title))), ...cells.map(line)]
}

/** `name  value` lines, for one thing. */
export const facts = (
  pairs: ReadonlyArray<readonly [string, string | number | null]>,
  width: number,
  head: (text: string) => string
): ReadonlyArray<string> => {
  const names = pairs.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  return pairs.map(
    ([name, value]) =>
      `${head(padEnd(name, names))}  ${cut(value === null || value === "" ? empty : harmless(String(value)), Math.max(20, width - names - gap))}`
  )
}
