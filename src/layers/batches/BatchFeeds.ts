/**
 * The rows of batches, for the process that starts them.
 *
 * One process at a time feeds a batch: it holds a lease, and each of its writes requires the lease's token. A process that lost its lease
 * writes nothing any more. The run that it may still start is the row's only run, because it has the row's Idempotency-Key.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RowEnd } from "../../schema/batches/Batch.ts"
import { countFree } from "../usage/freeStorage.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { bigints, done, hasRows, ints, jsons, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"

export const Feed = Schema.Struct({
  batch_id: Schema.String,
  org_id: Schema.String,
  key_id: Schema.NullOr(Schema.String),
  started_by: Schema.NullOr(Schema.String),
  request_id: Schema.String,
  /** JSON text. */
  metadata: Schema.NullOr(Schema.String),
  max_total: Schema.NullOr(Schema.BigInt),
  charged: Schema.BigInt,
  status: Schema.String,
  budget_id: Schema.String,
  /** The budget of the API key in which its runs count too. */
  parent_id: Schema.NullOr(Schema.String),
  lease_token: Schema.String,
  /** Unfinished batches of the organization. */
  siblings: Schema.Int,
  /** What its open rows and its next ones may hold: what is available to it, and what its runs hold already. */
  funds: Schema.BigInt
})
export type Feed = typeof Feed.Type

export const OpenRow = Schema.Struct({
  row: Schema.Int,
  /** JSON text of the run's request. */
  request: Schema.String,
  /** Earlier runs of the row, which were blocked. */
  retries: Schema.Int
})
export type OpenRow = typeof OpenRow.Type

export interface EndedRow {
  readonly row: number
  readonly status: RowEnd
  readonly run_id: string | null
  readonly charged: bigint | null
  /** JSON text. */
  readonly error: string | null
}

/** Which batch, and the proof that this process feeds it. */
export type Holder = Pick<Feed, "batch_id" | "lease_token">

const feedRows = storedAs(Feed.fields)
const openRows = storedAs(OpenRow.fields)
const renewedRows = storedAs({ status: Schema.String, siblings: Schema.Int, funds: Schema.BigInt, waiting: Schema.Int })
const idRows = rowsOf({ batch_id: Schema.String })

/** A batch that no process feeds. */
const unfed = "finished_at IS NULL AND (lease_until IS NULL OR lease_until < now())"

/** Of a row beside its request and its error. */
const rowBytes = 256

export interface Renewed {
  readonly status: string
  readonly siblings: number
  readonly funds: bigint
  /** Batches that no process feeds. */
  readonly waiting: number
}

export class BatchFeeds extends Context.Service<
  BatchFeeds,
  {
    /** Leases at most `most` batches that no process feeds, those first that were fed the longest time ago. */
    readonly claim: (most: number) => Effect.Effect<ReadonlyArray<Feed>>
    /** Null if the lease was lost. */
    readonly renew: (feed: Holder) => Effect.Effect<Renewed | null>
    readonly release: (feed: Holder) => Effect.Effect<void>
    /** Rows that another process had started. Their runs may or may not exist. */
    readonly begun: (feed: Holder) => Effect.Effect<ReadonlyArray<OpenRow>>
    /** Starts the next rows: from now on they are `running`. */
    readonly next: (feed: Holder, most: number) => Effect.Effect<ReadonlyArray<OpenRow>>
    /** Records the ends of rows. A row that has ended already stays as it is. */
    readonly ended: (feed: Holder, rows: ReadonlyArray<EndedRow>) => Effect.Effect<void>
    /** Ends the rows that have not started as `blocked` with this error, JSON text. They make no run. */
    readonly blockRest: (feed: Holder, error: string) => Effect.Effect<void>
    /** Ends the batch if all of its rows have ended. */
    readonly finish: (feed: Holder) => Effect.Effect<boolean>
    /**
     * Gives the batch a budget with another parent, for what is left of `max_total`, because its API key got another budget. Does nothing
     * while runs of the batch hold money. Null then, and if the lease was lost.
     */
    readonly rebudget: (feed: Feed, parent_id: string | null) => Effect.Effect<string | null>
  }
>()("rungate/layers/batches/BatchFeeds") {
  static readonly due = () => `EXISTS (SELECT FROM batches WHERE ${unfed})`

  static readonly layer = Layer.effect(
    BatchFeeds,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { leaseSeconds } = yield* Settings
      const around =
        sql.literal(`(SELECT count(*)::int FROM batches s WHERE s.org_id = b.org_id AND s.finished_at IS NULL) AS siblings,
        (SELECT w.balance - w.reserved FROM wallets w WHERE w.org_id = b.org_id)
          + (SELECT o.reserved + coalesce(p.held, 0) FROM key_budgets o LEFT JOIN key_budgets p ON p.budget_id = o.parent_id
             WHERE o.budget_id = b.budget_id) AS funds`)
      const until = sql.literal(`now() + interval '${leaseSeconds} seconds'`)
      /** Locks the batch for this statement's transaction, if the lease still holds. */
      const held = ({ batch_id, lease_token }: Holder) =>
        sql`SELECT batch_id FROM batches WHERE batch_id = ${batch_id} AND lease_token = ${lease_token} FOR NO KEY UPDATE`

      /** What a row that ended without a charge keeps: its request, if it may be retried, and its error. */
      const keptBytes = sql.literal(
        `${rowBytes} + coalesce(octet_length(r.request::text), 0) + coalesce(octet_length(r.error::text), 0)`
      )
      /** The bytes that such rows of a common table expression keep. */
      const keptBy = ({ batch_id }: Holder, rows: string) => sql`(
            SELECT b.org_id, sum(k.bytes)::bigint FROM batches b, ${sql.literal(rows)} k
            WHERE b.batch_id = ${batch_id} AND k.status IN ('blocked', 'invalid') GROUP BY b.org_id)`

      return BatchFeeds.of({
        claim: (most) =>
          feedRows.all(sql`
            WITH free AS (
              SELECT batch_id FROM batches WHERE ${sql.literal(unfed)}
              ORDER BY fed_at LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED
            )
            UPDATE batches b SET lease_token = gen_random_uuid()::text, lease_until = ${until}, fed_at = now()
            FROM free, key_budgets k WHERE b.batch_id = free.batch_id AND k.budget_id = b.budget_id
            RETURNING b.batch_id, b.org_id, b.key_id, b.started_by, b.request_id, b.metadata::text AS metadata, b.max_total, b.charged, b.status,
                      b.budget_id, k.parent_id, b.lease_token, ${around}`),
        renew: ({ batch_id, lease_token }) =>
          renewedRows.first(sql`
            UPDATE batches b SET lease_until = ${until} WHERE batch_id = ${batch_id} AND lease_token = ${lease_token}
            RETURNING b.status, ${around},
              (SELECT count(*)::int FROM batches w WHERE w.finished_at IS NULL AND (w.lease_until IS NULL OR w.lease_until < now())) AS waiting`),
        release: ({ batch_id, lease_token }) =>
          done(sql`UPDATE batches SET lease_token = NULL, lease_until = NULL, fed_at = now()
            WHERE batch_id = ${batch_id} AND lease_token = ${lease_token}`),
        begun: ({ batch_id }) =>
          openRows.all(sql`
            SELECT row, request::text AS request, retries FROM batch_rows WHERE batch_id = ${batch_id} AND status = 'running' ORDER BY row`),
        next: (feed, most) =>
          openRows.all(sql`
            WITH held AS (${held(feed)}), taken AS (
              SELECT r.row FROM batch_rows r JOIN held USING (batch_id) WHERE r.status = 'pending' ORDER BY r.row LIMIT ${most} FOR UPDATE OF r
            ), started AS (
              UPDATE batch_rows r SET status = 'running' FROM taken
              WHERE r.batch_id = ${feed.batch_id} AND r.row = taken.row AND r.status = 'pending'
              RETURNING r.row, r.request::text AS request, r.retries
            )
            SELECT row, request, retries FROM started ORDER BY row`),
        ended: (feed, rows) =>
          done(sql`
            WITH held AS (${held(feed)}), over AS (
              UPDATE batch_rows r SET status = n.status, run_id = n.run_id, charged = n.charged, error = n.error::json,
                                      request = CASE WHEN n.status = 'blocked' THEN r.request END
              FROM held, ${tableOf("n", rows, { row: ints, status: texts, run_id: texts, charged: bigints, error: jsons })}
              WHERE r.batch_id = held.batch_id AND r.row = n.row AND r.status = 'running'
              RETURNING r.status, r.charged, ${keptBytes} AS bytes
            )${countFree(sql, keptBy(feed, "over"))}
            UPDATE batches b SET
              succeeded = b.succeeded + c.succeeded, no_match = b.no_match + c.no_match, failed = b.failed + c.failed,
              blocked = b.blocked + c.blocked, invalid = b.invalid + c.invalid, cancelled = b.cancelled + c.cancelled,
              charged = b.charged + c.charged
            FROM (SELECT count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded, count(*) FILTER (WHERE status = 'no_match')::int AS no_match,
                         count(*) FILTER (WHERE status = 'failed')::int AS failed, count(*) FILTER (WHERE status = 'blocked')::int AS blocked,
                         count(*) FILTER (WHERE status = 'invalid')::int AS invalid,
                         count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled, coalesce(sum(charged), 0)::bigint AS charged
                  FROM over) c
            WHERE b.batch_id = ${feed.batch_id} AND EXISTS (SELECT FROM held)`),
        blockRest: (feed, error) =>
          done(sql`
            WITH held AS (${held(feed)}), rest AS (
              UPDATE batch_rows r SET status = 'blocked', error = ${error}::json FROM held
              WHERE r.batch_id = held.batch_id AND r.status = 'pending' RETURNING r.status, ${keptBytes} AS bytes
            )${countFree(sql, keptBy(feed, "rest"))}
            UPDATE batches SET blocked = blocked + (SELECT count(*)::int FROM rest) WHERE batch_id = ${feed.batch_id} AND EXISTS (SELECT FROM held)`),
        finish: ({ batch_id, lease_token }) =>
          hasRows(sql`
            UPDATE batches b SET status = CASE WHEN status = 'cancelling' THEN 'cancelled' ELSE 'finished' END, finished_at = now(),
              lease_token = NULL, lease_until = NULL
            WHERE batch_id = ${batch_id} AND lease_token = ${lease_token}
              AND NOT EXISTS (SELECT FROM batch_rows r WHERE r.batch_id = b.batch_id AND r.status IN ('pending', 'running'))
            RETURNING batch_id`),
        rebudget: (feed, parent_id) =>
          Effect.orDie(
            Effect.gen(function* () {
              const kept = yield* idRows(held(feed))
              if (kept.length === 0) return null
              // The old budget allows nothing more, and the new one has what it had left. Together they never allow more than max_total.
              const budget_id = newId("bat")
              const moved = yield* sql`
                WITH old AS (
                  SELECT budget_id, org_id, key_id, amount - spent_total AS rest FROM key_budgets
                  WHERE budget_id = ${feed.budget_id} AND reserved = 0 FOR UPDATE
                ), closed AS (
                  UPDATE key_budgets b SET amount = b.spent_total, version = b.version + 1 FROM old WHERE b.budget_id = old.budget_id
                )
                INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, parent_id)
                SELECT ${budget_id}, org_id, key_id, greatest(0, rest), 'total', ${parent_id} FROM old RETURNING 1`
              if (moved.length === 0) return null
              yield* sql`UPDATE batches SET budget_id = ${budget_id} WHERE batch_id = ${feed.batch_id}`
              return budget_id
            }).pipe(sql.withTransaction)
          )
      })
    })
  )
}
