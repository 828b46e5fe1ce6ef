/**
 * Lists as CSV, for requests with `Accept: text/csv`.
 *
 * Without `limit` the answer has all rows, up to `csvRowsMax`, because spreadsheets don't page. If rows are left, the header
 * `Link: <…>; rel="next"` has the address of the next page, with or without `limit`.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { listLimitDefault } from "../api/shapes/Common.ts"
import { type Cell, csvLines, csvRows } from "../api/shapes/Csv.ts"
import type { Page, PageQuery } from "./ListPage.ts"

/** A few megabytes of memory and a fraction of a second. */
const csvRowsMax = 10_000
/** Rows per statement, so that other requests are served in between. */
const rowsPerRead = 1_000

/** The preference for a media type, from 0 (not accepted) to 1. Wildcards don't count: JSON is the default. */
const preference = (accept: string, type: string): number => {
  for (const part of accept.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase())
    if (name !== type) continue
    const weight = parameters.find((one) => one.startsWith("q="))?.slice(2)
    return weight === undefined ? 1 : Number(weight) || 0
  }
  return 0
}

/** Whether the client prefers CSV. */
export const wantsCsv = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
  const accept = headers["accept"] ?? ""
  const csv = preference(accept, "text/csv")
  return csv > 0 && csv >= preference(accept, "application/json")
})

interface CsvList<Name extends string, A, E, R> {
  /** The file's name, such as runs.csv. */
  readonly name: string
  readonly columns: ReadonlyArray<Name>
  readonly cells: (row: A) => { readonly [name in Name]?: Cell }
  readonly query: PageQuery
  readonly page: (cursor: string | null, limit: number) => Effect.Effect<Page<A>, E, R>
}

/** The address of the request with another cursor. Relative, because a proxy may have changed host and path prefix. */
const nextUrl = (url: string, cursor: string): string => {
  const query = new URLSearchParams(url.split("?")[1] ?? "")
  query.set("cursor", cursor)
  return `?${query}`
}

const csvAnswer = Effect.fnUntraced(function* <Name extends string, A, E, R>({
  query,
  ...list
}: CsvList<Name, A, E, R>) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { limit: most = csvRowsMax } = query
  let text = csvLines([list.columns])
  let count = 0
  let cursor = query.cursor ?? null
  do {
    const { rows, next }: Page<A> = yield* list.page(cursor, Math.min(rowsPerRead, most - count))
    text += csvRows(list.columns, rows.map(list.cells))
    count += rows.length
    cursor = next
  } while (cursor !== null && count < most)
  return HttpServerResponse.text(text, {
    contentType: "text/csv; charset=utf-8",
    headers: {
      "content-disposition": `attachment; filename="${list.name}"`,
      vary: "accept",
      ...(cursor === null ? {} : { link: `<${nextUrl(url, cursor)}>; rel="next"` })
    }
  })
})

/** One page for an answer as JSON, or the answer as CSV to a client that prefers it. */
export const pageOrCsv = Effect.fnUntraced(function* <Name extends string, A, E, R>(list: CsvList<Name, A, E, R>) {
  const { cursor = null, limit = listLimitDefault } = list.query
  return (yield* wantsCsv) ? yield* csvAnswer(list) : yield* list.page(cursor, limit)
})
