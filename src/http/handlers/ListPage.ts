/** Pages of lists. A list is read with one row more than its page has, which tells whether another page follows. */
import { Effect } from "effect"
import { notACursor } from "../../schema/Errors.ts"
import { looksLike, type Prefix } from "../../schema/Ids.ts"
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

interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** A page whose cursor is the id of its last item. `read` gets the id before which it begins, and how many rows to read. */
export const pageOf = Effect.fnUntraced(function* <Row, Item extends { readonly id: string }, E, R>(
  prefix: Prefix,
  { limit = listLimitDefault, cursor }: PageQuery,
  read: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>,
  shown: (row: Row) => Item
) {
  if (cursor !== undefined && !looksLike(prefix, cursor)) return yield* notACursor
  const rows = yield* read(cursor ?? null, limit + 1)
  const page = cut(rows.map(shown), limit, ({ id }) => id)
  return { items: page.rows, next_cursor: page.next }
})
