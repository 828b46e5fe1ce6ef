/**
 * Says how many runs of a list fit into one page. The database counts their bytes, so no page is in memory before its size is known.
 *
 * It counts from the first run on and stops at the limit: sizes of stored JSON cost as much as reading it.
 */
import { Effect, Option, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { oneNumber, texts } from "../postgres/Rows.ts"

/** A page of inputs and results. An answer of a provider may have four times as much: it is a page of its own. */
export const pageBytesMax = 8 * 1024 * 1024

/** The number of runs, from the first one on, whose inputs and results are within a page. At least 1, so that each page makes progress. */
export const runsWithin = (
  sql: SqlClient.SqlClient,
  org_id: string,
  run_ids: ReadonlyArray<string | null>,
  bytesMax = pageBytesMax
) =>
  run_ids.length < 2
    ? Effect.succeed(run_ids.length)
    : oneNumber(sql`
          WITH RECURSIVE page AS (
            SELECT 0 AS n, 0::bigint AS bytes
            UNION ALL
            SELECT p.n + 1, p.bytes + coalesce((
              SELECT octet_length(r.input::text) + coalesce(octet_length(r.result::text), 0) FROM runs r
              WHERE r.org_id = ${org_id} AND r.run_id = (a.ids)[p.n + 1] LIMIT 1), 0)
            FROM page p, (SELECT ${texts(run_ids)} AS ids) a WHERE p.n < cardinality(a.ids) AND p.bytes <= ${bytesMax}::int
          )
          SELECT max(n) AS fit FROM page WHERE n < 2 OR bytes <= ${bytesMax}::int`)

/** Reads runs page by page, and at most `most` at once. */
export const runsInPages = <Row, E>(
  sql: SqlClient.SqlClient,
  {
    org_id,
    run_ids,
    most
  }: { readonly org_id: string; readonly run_ids: ReadonlyArray<string>; readonly most: number },
  read: (run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Row>, E>
) =>
  Stream.paginate(0, (from: number) =>
    Effect.gen(function* () {
      const next = run_ids.slice(from, from + most)
      const page = next.slice(0, yield* runsWithin(sql, org_id, next))
      const end = from + page.length
      return [yield* read(page), end < run_ids.length ? Option.some(end) : Option.none()] as const
    })
  )
