/**
 * Tables that fit the terminal. Money and counts are right-aligned, and long text wraps between words.
 *
 * Only a single word that is wider than its column is truncated, with an ellipsis. Control characters in cells are replaced here.
 */
import { cut, harmless, padEnd, padStart, widthOf, wrap } from "./text.ts"

export interface Column<A> {
  readonly title: string
  readonly of: (row: A) => string | number | null
  /** Money and counts. */
  readonly right?: boolean
  /** The column may shrink to this width on a narrow terminal. A column without it keeps its width. */
  readonly least?: number
  /** The column is left out when the table is too wide even so; the lowest number first. */
  readonly dropped?: number
}

const gap = 2
const empty = "-"
/** Values are never narrower than this, even on a very narrow terminal. */
const valueLeast = 20

/** The width of each column, so that the table fits into `columns` if possible. */
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

/** The columns without those that must be left out for the others to fit. */
const fitting = <A>(
  columns: ReadonlyArray<Column<A>>,
  natural: (column: Column<A>) => number,
  width: number
): ReadonlyArray<Column<A>> => {
  const needed = columns.reduce((sum, one) => sum + Math.min(one.least ?? Infinity, natural(one)) + gap, -gap)
  const droppable = columns.filter(({ dropped }) => dropped !== undefined)
  if (needed <= width || droppable.length === 0) return columns
  const first = droppable.reduce((a, b) => ((a.dropped ?? 0) <= (b.dropped ?? 0) ? a : b))
  return fitting(
    columns.filter((one) => one !== first),
    natural,
    width
  )
}

/** Lines without a newline; `head` styles the first one. A row takes several lines when a cell wraps. */
export const table = <A>(
  rows: ReadonlyArray<A>,
  all: ReadonlyArray<Column<A>>,
  width: number,
  head: (line: string) => string
): ReadonlyArray<string> => {
  const textOf = (row: A, column: Column<A>) => {
    const value = column.of(row)
    return value === null || value === "" ? empty : harmless(String(value))
  }
  const naturalOf = (column: Column<A>) =>
    rows.reduce((most, row) => Math.max(most, widthOf(textOf(row, column))), widthOf(column.title))
  const columns = fitting(all, naturalOf, width)
  const widths = layout(
    columns.map(naturalOf),
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
  const linesOf = (row: A) => {
    const cells = columns.map((column, index) => {
      const text = textOf(row, column)
      const room = widths[index] ?? 0
      return widthOf(text) <= room ? [text] : wrap(text, room)
    })
    const height = cells.reduce((most, one) => Math.max(most, one.length), 1)
    return Array.from({ length: height }, (_, at) => line(cells.map((one) => one[at] ?? "")))
  }
  return [head(line(columns.map((column) => column.title))), ...rows.flatMap(linesOf)]
}

/** `name  value` lines for one object. Long values wrap. */
export const facts = (
  pairs: ReadonlyArray<readonly [string, string | number | null]>,
  width: number,
  head: (text: string) => string
): ReadonlyArray<string> => {
  // Names too: those of a result are the provider's.
  const named = pairs.map(([name, value]) => [harmless(name), value] as const)
  const names = named.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  const room = Math.max(valueLeast, width - names - gap)
  return named.flatMap(([name, value]) => {
    const text = value === null || value === "" ? empty : harmless(String(value))
    const [first = "", ...rest] = widthOf(text) <= room ? [text] : wrap(text, room)
    return [`${head(padEnd(name, names))}  ${first}`, ...rest.map((line) => " ".repeat(names + gap) + line)]
  })
}
