/**
 * The organization of a request is in another cell, or on its way to one. As when the database is away, no handler can answer, so the request
 * dies, and the outermost middleware tells the client where or when to try again.
 */
import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { oneFlag, rowsOf } from "./Rows.ts"

export class Elsewhere extends Schema.TaggedError<Elsewhere>()("Elsewhere", {
  /** Null while it is on its way. */
  cell: Schema.NullOr(Schema.String)
}) {}

export const isElsewhere = Schema.is(Elsewhere)

const cellRows = rowsOf({ cell: Schema.NullOr(Schema.String) })

/** Shorter than a fence stands before any row leaves, so nothing that has left is missed. */
const lookMillis = 100
const looks = new WeakMap<SqlClient.SqlClient, { readonly until: number; readonly some: boolean }>()

/** Whether any organization has left or is about to. Asked ten times a second at most, so strangers' tokens cost a usual installation nothing. */
const someMoved = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const now = yield* Clock.currentTimeMillis
  const last = looks.get(sql)
  if (last !== undefined && now < last.until && last.until <= now + lookMillis) return last.some
  const some = yield* oneFlag(
    sql`SELECT EXISTS (SELECT FROM cell_moves WHERE state IN ('draining', 'fenced', 'moved')) AS some`
  )
  looks.set(sql, { until: now + lookMillis, some })
  return some
})

/** Dies if the organization has left or is being copied, by its id or by the digest of one of its tokens. Only what was not found asks. */
export const diesIfMoved = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  of: { readonly org_id: string } | { readonly token_hash: Uint8Array }
) {
  if (!(yield* someMoved(sql))) return null
  const org_id =
    "org_id" in of
      ? sql`${of.org_id}`
      : sql`(SELECT t.org_id FROM moved_tokens t WHERE t.token_hash = ${of.token_hash})`
  const [moved] = yield* cellRows(sql`
    SELECT CASE state WHEN 'moved' THEN cell END AS cell FROM cell_moves WHERE org_id = ${org_id} AND state IN ('fenced', 'moved')`)
  return moved === undefined ? null : yield* Effect.die(new Elsewhere({ cell: moved.cell }))
}, Effect.orDie)
