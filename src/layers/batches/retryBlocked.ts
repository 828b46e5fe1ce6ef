/**
 * Starts the blocked rows of a finished batch again, in one transaction.
 *
 * A row whose run was blocked gets the next Idempotency-Key, because that run has ended and charged nothing. A row without a run keeps its
 * key, so it joins a run that nobody recorded. Rows that ended otherwise are not touched. The batch goes on with the key that retries it.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { batchesOpenMax, batchStatuses } from "../../schema/batches/Batch.ts"
import { uncountFree } from "../usage/freeStorage.ts"
import { oneNumber, rowsOf } from "../postgres/Rows.ts"

export interface Retry {
  readonly org_id: string
  readonly batch_id: string
  /** The API key of this request. Null for a session. */
  readonly key_id: string | null
  /** Whether the key has a scope. Such a key retries only batches that it started. */
  readonly scoped: boolean
  /** As for a new batch. Null: whoever started it stays. */
  readonly started_by: string | null
  readonly request_id: string
  /** Replaces that of the batch. Null: it stays. */
  readonly max_total: bigint | null
}

export type Retried =
  | { readonly _tag: "Retried"; readonly rows: number }
  /** It has not finished, no row is blocked, or it does not exist. */
  | { readonly _tag: "Unchanged" }
  /** The key has a scope, and another key or a person started the batch. */
  | { readonly _tag: "NotItsOwn" }
  /** It was cancelled. */
  | { readonly _tag: "Cancelled" }
  /** The requests of its blocked rows were erased. */
  | { readonly _tag: "Erased" }
  /** The new limit is below what the batch has charged. */
  | { readonly _tag: "BelowCharged"; readonly charged: bigint }
  /** The organization has too many unfinished batches. */
  | { readonly _tag: "Full" }

const lockedRows = rowsOf({
  status: Schema.Literals(batchStatuses),
  blocked: Schema.Int,
  charged: Schema.BigInt,
  budget_id: Schema.String,
  own: Schema.Boolean
})

export const retryBlocked =
  (sql: SqlClient.SqlClient) =>
  ({ org_id, batch_id, key_id, started_by, scoped, request_id, max_total }: Retry): Effect.Effect<Retried> =>
    Effect.gen(function* () {
      // As for a new batch: concurrent requests can't exceed the limit of unfinished batches together.
      yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR NO KEY UPDATE`
      const [batch] = yield* lockedRows(sql`
        SELECT status, blocked, charged, budget_id,
               coalesce(coalesce(made_by, key_id, '') IN (SELECT key_line(org_id, ${key_id})), false) AS own
        FROM batches WHERE org_id = ${org_id} AND batch_id = ${batch_id} FOR NO KEY UPDATE`)
      if (scoped && batch?.own === false) return { _tag: "NotItsOwn" } satisfies Retried
      if (batch?.status === "cancelling" || batch?.status === "cancelled")
        return { _tag: "Cancelled" } satisfies Retried
      if (batch?.status !== "finished" || batch.blocked === 0) return { _tag: "Unchanged" } satisfies Retried
      const { charged, budget_id } = batch
      if (max_total !== null && max_total < charged) return { _tag: "BelowCharged", charged } satisfies Retried
      const open = yield* oneNumber(
        sql`SELECT count(*)::int AS count FROM batches WHERE org_id = ${org_id} AND finished_at IS NULL`
      )
      if (open >= batchesOpenMax) return { _tag: "Full" } satisfies Retried
      // They wait for money no longer, and count again if they are blocked again.
      const rows = yield* sql`
        WITH again AS (UPDATE batch_rows SET status = 'pending', retries = retries + (run_id IS NOT NULL)::int, run_id = NULL, charged = NULL, error = NULL
        WHERE batch_id = ${batch_id} AND status = 'blocked' AND request IS NOT NULL
          RETURNING row, octet_length(request::text) AS bytes
        )${uncountFree(sql, org_id, "again")} SELECT row FROM again`
      if (rows.length === 0) return { _tag: "Erased" } satisfies Retried
      // A finished batch holds nothing. So its budget allows what the new limit leaves beside the charges.
      if (max_total !== null)
        yield* sql`
          UPDATE key_budgets SET amount = spent_total + ${max_total - charged}::bigint, version = version + 1 WHERE budget_id = ${budget_id}`
      yield* sql`
        UPDATE batches SET status = 'running', finished_at = NULL, blocked = blocked - ${rows.length}::int, key_id = ${key_id}, started_by = coalesce(${started_by}::text, started_by),
               made_by = coalesce(made_by, key_id), request_id = ${request_id}, max_total = coalesce(${max_total}::bigint, max_total), fed_at = now()
        WHERE batch_id = ${batch_id}`
      return { _tag: "Retried", rows: rows.length } satisfies Retried
    }).pipe(sql.withTransaction, Effect.orDie)
