/**
 * Stores batches and reads them: what the API needs. BatchFeeds.ts has what the process needs that starts the rows.
 *
 * A batch, its rows and its budget are stored in one transaction, so a batch is there as a whole or not at all.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { batchesOpenMax, batchStatuses } from "../../schema/batches/Batch.ts"
import { freeLimitOf } from "../../schema/wallet/FreeStorage.ts"
import { freeIsFull, isLimitedKey } from "../usage/freeStorage.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { jsons, oneRowOf, rowsOf, texts } from "../postgres/Rows.ts"
import { runsWithin } from "../runs/runsWithin.ts"
import { type Retried, type Retry, retryBlocked } from "./retryBlocked.ts"

export interface NewBatch {
  readonly org_id: string
  readonly key_id: string | null
  /** The person who starts it in a session. Null for an API key. */
  readonly started_by: string | null
  /** The budget of the API key. */
  readonly key_budget_id: string | null
  readonly request_id: string
  readonly idempotency_key: string | null
  readonly fingerprint: string
  readonly max_total: bigint | null
  /** JSON text. */
  readonly metadata: string | null
  /** JSON texts of the runs' requests, in the order of the rows. */
  readonly requests: ReadonlyArray<string>
}

export const BatchRow = Schema.Struct({
  batch_id: Schema.String,
  status: Schema.Literals(batchStatuses),
  metadata: Schema.NullOr(Schema.String),
  max_total: Schema.NullOr(Schema.BigInt),
  total: Schema.Int,
  succeeded: Schema.Int,
  no_match: Schema.Int,
  failed: Schema.Int,
  blocked: Schema.Int,
  invalid: Schema.Int,
  cancelled: Schema.Int,
  /** Open rows whose runs wait for an approval. */
  waiting: Schema.Int,
  charged: Schema.BigInt,
  created_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date)
})
export type BatchRow = typeof BatchRow.Type

const text = Schema.NullOr(Schema.String)
const EndedRow = Schema.Struct({
  row: Schema.Int,
  status: Schema.String,
  run_id: text,
  charged: Schema.NullOr(Schema.BigInt),
  /** JSON text. */
  error: text
})
type EndedRow = typeof EndedRow.Type
const RunEnd = Schema.Struct({
  run_id: Schema.String,
  /** JSON text. */
  result: text,
  error_code: text,
  error_message: text
})
export interface ResultRow extends EndedRow, Omit<typeof RunEnd.Type, "run_id"> {}

export interface ResultPage {
  readonly rows: ReadonlyArray<ResultRow>
  /** Further rows have ended. */
  readonly more: boolean
}

const batchRows = rowsOf(BatchRow.fields)
const endedRows = rowsOf(EndedRow.fields)
const runEnds = rowsOf(RunEnd.fields)
const noEnd = { result: null, error_code: null, error_message: null }
const holderRows = rowsOf({ batch_id: Schema.String, fingerprint: Schema.String })
const roomRow = oneRowOf({ count: Schema.Int, unstored: Schema.Boolean })

/** The API keys of which one must have started the batch. Null: the batches of the whole organization. */
export type Makers = ReadonlyArray<string> | null

/** The Idempotency-Key has a batch already. */
interface Existing {
  readonly _tag: "Existing"
  readonly batch_id: string
  readonly fingerprint: string
}
export type Created =
  | { readonly _tag: "Created"; readonly batch_id: string }
  | Existing
  /** The organization has too many unfinished batches. */
  | { readonly _tag: "Full" }
  /** `storesNothing` is true of it. */
  | { readonly _tag: "StorageFull"; readonly limit: bigint }

/** Results that are read at once. A client that stops reading a stream keeps as many in memory. */
const resultBytesMax = 256 * 1024

/** No sum of charges comes near it. */
const unlimited = 9_000_000_000_000_000_000n

export class BatchStore extends Context.Service<
  BatchStore,
  {
    readonly create: (batch: NewBatch) => Effect.Effect<Created>
    /** The batch of an Idempotency-Key. */
    readonly existing: (org_id: string, idempotency_key: string | null) => Effect.Effect<Existing | null>
    /** Null for an unknown batch and another organization's. */
    readonly find: (org_id: string, batch_id: string, keys: Makers) => Effect.Effect<BatchRow | null>
    /** Newest first. */
    readonly list: (
      org_id: string,
      keys: Makers,
      page: { readonly before: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<BatchRow>>
    /** Rows that have ended, with the results of their runs, after row `after`: at most `limit`, and few bytes unless one row has many. */
    readonly results: (
      org_id: string,
      batch_id: string,
      page: { readonly after: number; readonly limit: number }
    ) => Effect.Effect<ResultPage>
    /**
     * Cancels the rows that have not started. From its answer on, no run of the batch can hold money. False for a finished batch, and for
     * one that neither `key_id` nor a key that it replaced has started. Null cancels any.
     */
    readonly cancel: (org_id: string, batch_id: string, key_id: string | null) => Effect.Effect<boolean>
    /** Starts the blocked rows of a finished batch again. */
    readonly retry: (retry: Retry) => Effect.Effect<Retried>
  }
>()("rungate/layers/batches/BatchStore") {
  static readonly layer = Layer.effect(
    BatchStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const freeLimit = freeLimitOf((yield* Settings).freeDailyMb)
      const columns =
        sql.literal(`batch_id, status, metadata::text AS metadata, max_total, total, succeeded, no_match, failed, blocked,
        invalid, cancelled, charged, created_at, finished_at, CASE WHEN finished_at IS NOT NULL THEN 0 ELSE (
          SELECT count(*)::int FROM approvals a JOIN runs r ON r.org_id = a.org_id AND r.run_id = a.run_id
          WHERE a.org_id = batches.org_id AND a.state = 'pending' AND r.budget_id = batches.budget_id) END AS waiting`)

      const existing = Effect.fnUntraced(function* (org_id: string, idempotency_key: string | null) {
        if (idempotency_key === null) return null
        const [holder] = yield* holderRows(
          sql`SELECT batch_id, fingerprint FROM batches WHERE org_id = ${org_id} AND idempotency_key = ${idempotency_key}`
        )
        return holder === undefined ? null : ({ _tag: "Existing", ...holder } satisfies Existing)
      }, Effect.orDie)

      const create: BatchStore["Service"]["create"] = (batch) =>
        Effect.gen(function* () {
          const { org_id, idempotency_key } = batch
          // Locks the organization's row: concurrent requests can't exceed the limit together, nor use one Idempotency-Key twice. Runs are
          // admitted meanwhile: the foreign keys to this row don't wait for this lock.
          yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR NO KEY UPDATE`
          const before = yield* existing(org_id, idempotency_key)
          if (before !== null) return before
          const limited = sql`EXISTS (SELECT FROM api_keys k WHERE k.key_id = ${batch.key_id} AND ${sql.literal(isLimitedKey)})`
          const { count, unstored } = yield* roomRow(sql`
            SELECT (SELECT count(*)::int FROM batches b WHERE b.org_id = w.org_id AND b.finished_at IS NULL) AS count,
                   ${freeIsFull(sql, "w.org_id", "w.balance - w.reserved + w.allowances_held > 0", limited, freeLimit)} AS unstored
            FROM wallets w WHERE w.org_id = ${org_id}`)
          if (count >= batchesOpenMax) return { _tag: "Full" } satisfies Created
          if (unstored) return { _tag: "StorageFull", limit: freeLimit } satisfies Created
          const batch_id = newId("bat")
          yield* sql`
            INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, parent_id)
            VALUES (${batch_id}, ${org_id}, ${batch.key_id ?? batch_id}, ${batch.max_total ?? unlimited}, 'total', ${batch.key_budget_id})`
          yield* sql`
            INSERT INTO batches (batch_id, org_id, key_id, started_by, request_id, idempotency_key, fingerprint, metadata, max_total, budget_id, total)
            VALUES (${batch_id}, ${org_id}, ${batch.key_id}, ${batch.started_by}, ${batch.request_id}, ${idempotency_key}, ${batch.fingerprint},
                    ${batch.metadata}::jsonb, ${batch.max_total}, ${batch_id}, ${batch.requests.length}::int)`
          yield* sql`
            INSERT INTO batch_rows (batch_id, row, request)
            SELECT ${batch_id}, n.row::int, n.request::json FROM unnest(${jsons(batch.requests)}) WITH ORDINALITY AS n(request, row)`
          return { _tag: "Created", batch_id } satisfies Created
        }).pipe(sql.withTransaction, Effect.orDie)

      const madeBy = (keys: Makers) =>
        keys === null ? sql.literal("true") : sql`coalesce(made_by, key_id) = ANY(${texts(keys)})`

      const find = (org_id: string, batch_id: string, keys: Makers) =>
        batchRows(
          sql`SELECT ${columns} FROM batches WHERE org_id = ${org_id} AND batch_id = ${batch_id} AND ${madeBy(keys)}`
        ).pipe(
          Effect.map((rows) => rows[0] ?? null),
          Effect.orDie
        )

      const list: BatchStore["Service"]["list"] = (org_id, keys, { before, limit }) =>
        batchRows(sql`
          SELECT ${columns} FROM batches WHERE org_id = ${org_id} AND (${before}::text IS NULL OR batch_id < ${before})
            AND ${madeBy(keys)}
          ORDER BY batch_id DESC LIMIT ${limit}`).pipe(Effect.orDie)

      const results: BatchStore["Service"]["results"] = (org_id, batch_id, { after, limit }) =>
        Effect.gen(function* () {
          const ended = yield* endedRows(sql`
            SELECT row, status, run_id, charged, error::text AS error FROM batch_rows
            WHERE batch_id = ${batch_id} AND row > ${after}::int AND status NOT IN ('pending', 'running') ORDER BY row LIMIT ${limit + 1}`)
          const page = ended.slice(0, limit)
          const run_ids = page.map((one) => one.run_id)
          const shown = page.slice(0, yield* runsWithin(sql, org_id, run_ids, resultBytesMax))
          const ends = yield* runEnds(sql`
            SELECT r.run_id, r.result::text AS result, r.error_code, r.error_message
            FROM unnest(${texts(shown.map((one) => one.run_id))}) AS n(run_id)
            CROSS JOIN LATERAL (SELECT * FROM runs r WHERE r.org_id = ${org_id} AND r.run_id = n.run_id LIMIT 1) r`)
          const byId = new Map(ends.map(({ run_id, ...end }) => [run_id, end]))
          const rows = shown.map((one) => ({ ...one, ...(byId.get(one.run_id ?? "") ?? noEnd) }))
          return { rows, more: shown.length < ended.length }
        }).pipe(Effect.orDie)

      const cancel: BatchStore["Service"]["cancel"] = (org_id, batch_id, key_id) =>
        Effect.gen(function* () {
          const open = yield* holderRows(sql`
            UPDATE batches SET status = 'cancelling' WHERE org_id = ${org_id} AND batch_id = ${batch_id} AND finished_at IS NULL
              AND (${key_id}::text IS NULL OR coalesce(made_by, key_id, '') IN (SELECT key_line(${org_id}, ${key_id})))
            RETURNING batch_id, fingerprint`)
          if (open.length === 0) return false
          // The version makes every process read the budget again, so that none admits a run over what it remembers.
          yield* sql`
            UPDATE key_budgets b SET amount = 0, version = b.version + 1 FROM batches t
            WHERE t.batch_id = ${batch_id} AND b.budget_id = t.budget_id AND b.amount > 0`
          const cancelled = yield* sql`
            UPDATE batch_rows SET status = 'cancelled', request = NULL WHERE batch_id = ${batch_id} AND status = 'pending' RETURNING row`
          yield* sql`UPDATE batches SET cancelled = cancelled + ${cancelled.length}::int WHERE batch_id = ${batch_id}`
          return true
        }).pipe(sql.withTransaction, Effect.orDie)

      const retry = retryBlocked(sql)
      return BatchStore.of({ create, existing, find, list, results, cancel, retry })
    })
  )
}
