/** Pages and periods of lists. A list is read with one row more than its page has, which tells whether another page follows. */
import { Effect } from "effect"
import { notACursor, refused } from "../../schema/Errors.ts"
import { looksLike, type Prefix } from "../../schema/Ids.ts"
import type { Zones } from "../../schema/money/SpendDay.ts"
import { fromOf, toOf } from "../../schema/Period.ts"
import { listLimitDefault } from "../api/shapes/Common.ts"

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: string | null
}

/** `rows` are the page's and perhaps one more. */
export const cut = <A>(rows: ReadonlyArray<A>, limit: number, cursorOf: (row: A) => string): Page<A> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, next: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** The number of a row, 18 digits at most, so it fits a bigint of the database. */
export const rowNumber = (text: string): bigint | null => (/^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null)

/** The cursor of a list whose rows have numbers. */
export const numberBefore = (cursor: string | null) => {
  const before = cursor === null ? null : rowNumber(cursor)
  return cursor !== null && before === null ? notACursor : Effect.succeed(before)
}

/** The first moment of the period and the first after it. Null is no bound. */
export const periodOf = Effect.fnUntraced(function* (
  query: { readonly from?: string; readonly to?: string },
  zones?: Zones
) {
  const from = query.from === undefined ? null : fromOf(query.from, zones)
  const to = query.to === undefined ? null : toOf(query.to, zones)
  if (from !== null && to !== null && from >= to) return yield* refused("query.to", "must be after from")
  return { from, to }
})

type Read<Row, E, R> = (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>

/** A page whose cursor is the id of its last row. `read` gets the id before which it begins, and how many rows to read. */
export const pageBy = Effect.fnUntraced(function* <Row, Item, E, R>(
  prefix: Prefix,
  { limit = listLimitDefault, cursor }: PageQuery,
  read: Read<Row, E, R>,
  idOf: (row: Row) => string,
  shown: (row: Row) => Item
) {
  if (cursor !== undefined && !looksLike(prefix, cursor)) return yield* notACursor
  const page = cut(yield* read(cursor ?? null, limit + 1), limit, idOf)
  return { items: page.rows.map(shown), next_cursor: page.next }
})

/** The same for items that show their id as `id`. */
export const pageOf = <Row, Item extends { readonly id: string }, E, R>(
  prefix: Prefix,
  query: PageQuery,
  read: Read<Row, E, R>,
  shown: (row: Row) => Item
) =>
  pageBy(
    prefix,
    query,
    (before, limit) => Effect.map(read(before, limit), (rows) => rows.map(shown)),
    ({ id }) => id,
    (item) => item
  )
