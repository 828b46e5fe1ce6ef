/**
 * Erases personal data that batches store themselves: the requests of rows that have not run or were blocked, errors, which may quote a
 * request, and labels.
 *
 * The input and the result of a row that ran belong to its run (Erasure.ts). Each step is one transaction that locks the batch
 * before its rows, as the feeder does.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { rowKey } from "../../schema/batches/Batch.ts"
import { decodeRowRequest } from "../../schema/batches/RowRequest.ts"
import type { Subject } from "../../schema/subjects/Subject.ts"
import { ints, oneNumber, rowsOf, tableOf, texts } from "../postgres/Rows.ts"
import { matchedIn } from "./Matched.ts"

/** Rows per read. */
const pageMax = 1_000
/** Batches per step of the retention. Each has up to 10,000 rows. */
const batchesMax = 20

const StoredRow = Schema.Struct({
  batch_id: Schema.String,
  row: Schema.Int,
  status: Schema.String,
  /** JSON texts. */
  request: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  retries: Schema.Int
})
type StoredRow = typeof StoredRow.Type

const storedRows = rowsOf(StoredRow.fields)
const labelledRows = rowsOf({ batch_id: Schema.String, metadata: Schema.String, finished: Schema.Boolean })

const none = { capability: null, plan: null, result: null }

/** What a search of the history would read of a row's request. */
const requestTexts = (request: string) => {
  const one = decodeRowRequest(request)
  if (one._tag === "Capability") return { ...none, capability: one.capability, input: JSON.stringify(one.input) }
  return { ...none, input: JSON.stringify([one.input, one.path, one.query]) }
}

const names = ({ request, error }: StoredRow, subject: Subject): boolean =>
  (request !== null && matchedIn(requestTexts(request), subject) !== null) ||
  (error !== null && matchedIn({ ...none, input: error }, subject) !== null)

export class BatchErasure extends Context.Service<
  BatchErasure,
  {
    /**
     * Cancels the rows that name the subject and have not started, and erases the requests of blocked ones, and errors and labels that quote
     * it. Returns the number of rows that were cancelled, or lost the only copy of their request. In flight are started rows whose runs do
     * not exist yet, and unfinished batches whose labels name the subject: their rows start with them.
     */
    readonly subject: (
      org_id: string,
      subject: Subject
    ) => Effect.Effect<{ readonly erased: number; readonly in_flight: number }>
    /** Erases the errors, labels and blocked rows' requests of finished batches that were created more than `days` days ago. */
    readonly olderThan: (days: number) => Effect.Effect<void>
    /** Deletes batches that finished before the months that are kept, with their rows. */
    readonly drop: (months: number) => Effect.Effect<void>
  }
>()("rungate/layers/history/BatchErasure") {
  static readonly layer = Layer.effect(
    BatchErasure,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const idsOf = (rows: ReadonlyArray<StoredRow>) => tableOf("n", rows, { batch_id: texts, row: ints })
      const withoutDetails = sql.literal("json_build_object('code', r.error->>'code', 'message', 'erased')")

      /** The organization's rows of these kinds that name the subject. */
      const matching = Effect.fnUntraced(function* (
        org_id: string,
        subject: Subject,
        kinds: ReadonlyArray<Statement.Fragment>
      ) {
        const matches: Array<StoredRow> = []
        let after: Pick<StoredRow, "batch_id" | "row"> = { batch_id: "", row: 0 }
        for (;;) {
          const ofKind = (kind: Statement.Fragment) => sql`
            (SELECT r.batch_id, r.row, r.status, r.request::text AS request, r.error::text AS error, r.retries
             FROM batches b JOIN batch_rows r USING (batch_id)
             WHERE b.org_id = ${org_id} AND ${kind} AND (r.batch_id, r.row) > (${after.batch_id}, ${after.row}::int)
             ORDER BY r.batch_id, r.row LIMIT ${pageMax})`
          const page = yield* storedRows(
            sql`SELECT * FROM (${sql.join(" UNION ALL ", false)(kinds.map(ofKind))}) r ORDER BY r.batch_id, r.row LIMIT ${pageMax}`
          )
          matches.push(...page.filter((row) => names(row, subject)))
          const last = page.at(-1)
          if (last === undefined || page.length < pageMax) return matches
          after = last
        }
      })

      /**
       * A row may start, be blocked or be retried between the search and this. So this decides by the status that the row has now. A run
       * that the wallet blocked has a copy of the request, and is counted there.
       */
      const eraseRequests = (org_id: string, rows: ReadonlyArray<StoredRow>) =>
        Effect.gen(function* () {
          const ids = texts([...new Set(rows.map(({ batch_id }) => batch_id))])
          yield* sql`SELECT 1 FROM batches WHERE org_id = ${org_id} AND batch_id = ANY(${ids}) ORDER BY batch_id FOR NO KEY UPDATE`
          return yield* oneNumber(sql`
            WITH erased AS (
              UPDATE batch_rows r SET status = 'cancelled', request = NULL,
                     error = '{"code":"erased","message":"The subject of this row was erased before it ran."}'
              FROM ${idsOf(rows)} WHERE r.batch_id = n.batch_id AND r.row = n.row AND r.status = 'pending' RETURNING r.batch_id
            ), forgotten AS (
              UPDATE batch_rows r SET request = NULL
              FROM ${idsOf(rows)} WHERE r.batch_id = n.batch_id AND r.row = n.row AND r.status = 'blocked' RETURNING r.run_id
            ), counts AS (
              SELECT batch_id, count(*)::int AS rows FROM erased GROUP BY batch_id
            ), counted AS (
              UPDATE batches b SET cancelled = b.cancelled + counts.rows FROM counts
              WHERE b.org_id = ${org_id} AND b.batch_id = counts.batch_id
            )
            SELECT (coalesce((SELECT sum(rows) FROM counts), 0) + (SELECT count(*) FROM forgotten WHERE run_id IS NULL))::int AS count`)
        }).pipe(sql.withTransaction)

      /** Started rows without a run. The others are found by their runs. */
      const withoutRun = (org_id: string, rows: ReadonlyArray<StoredRow>) =>
        oneNumber(sql`
          SELECT count(*)::int AS count
          FROM ${tableOf("n", rows, { batch_id: texts, row: ints }, { key: texts(rows.map((one) => rowKey(one.batch_id, one.row, one.retries))) })}
          JOIN batch_rows r ON r.batch_id = n.batch_id AND r.row = n.row AND r.status = 'running'
          WHERE NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.org_id = ${org_id} AND k.idempotency_key = n.key)`)

      /** Erases the labels of finished batches that name the subject. Returns the number of unfinished ones that do. */
      const eraseLabels = Effect.fnUntraced(function* (org_id: string, target: Subject) {
        let [after, unfinished] = ["", 0]
        for (;;) {
          const page = yield* labelledRows(sql`
            SELECT batch_id, metadata::text AS metadata, finished_at IS NOT NULL AS finished FROM batches
            WHERE org_id = ${org_id} AND batch_id > ${after} AND metadata IS NOT NULL ORDER BY batch_id LIMIT ${pageMax}`)
          const naming = page.filter(({ metadata }) => matchedIn({ ...none, input: metadata }, target) !== null)
          unfinished += naming.filter(({ finished }) => !finished).length
          for (const { batch_id, finished } of naming)
            if (finished)
              yield* sql`UPDATE batches SET metadata = NULL WHERE org_id = ${org_id} AND batch_id = ${batch_id} AND finished_at IS NOT NULL`
          const last = page.at(-1)
          if (last === undefined || page.length < pageMax) return unfinished
          after = last.batch_id
        }
      })

      const subject = Effect.fnUntraced(function* (org_id: string, target: Subject) {
        // One statement reads both kinds, so a row that changes from one to the other is not missed.
        const kept = yield* matching(org_id, target, [
          sql.literal("b.finished_at IS NULL AND r.status IN ('pending', 'running')"),
          sql.literal("b.blocked > 0 AND r.status = 'blocked' AND r.request IS NOT NULL")
        ])
        const erased = kept.length === 0 ? 0 : yield* eraseRequests(org_id, kept)
        const in_flight = kept.length === 0 ? 0 : yield* withoutRun(org_id, kept)
        const quoting = yield* matching(org_id, target, [sql.literal("r.error IS NOT NULL")])
        if (quoting.length > 0)
          yield* sql`
            UPDATE batch_rows r SET error = ${withoutDetails} FROM ${idsOf(quoting)} WHERE r.batch_id = n.batch_id AND r.row = n.row`
        return { erased, in_flight: in_flight + (yield* eraseLabels(org_id, target)) }
      })

      const olderThan = (days: number) =>
        oneNumber(sql`
          WITH old AS (
            SELECT batch_id FROM batches
            WHERE finished_at IS NOT NULL AND erased_at IS NULL AND created_at < now() - make_interval(days => ${days}::int)
            ORDER BY batch_id LIMIT ${batchesMax} FOR NO KEY UPDATE SKIP LOCKED
          ), erased AS (
            UPDATE batches b SET erased_at = now(), metadata = NULL FROM old WHERE b.batch_id = old.batch_id
          ), unquoted AS (
            UPDATE batch_rows r SET error = CASE WHEN r.error IS NOT NULL THEN ${withoutDetails} END, request = NULL
            FROM old WHERE r.batch_id = old.batch_id AND (r.error IS NOT NULL OR r.request IS NOT NULL)
          )
          SELECT count(*)::int AS count FROM old`)

      const drop = (months: number) =>
        oneNumber(sql`
          WITH old AS (
            SELECT batch_id FROM batches
            WHERE finished_at < date_trunc('month', now(), 'UTC') - make_interval(months => ${months}::int)
            ORDER BY batch_id LIMIT ${batchesMax} FOR UPDATE SKIP LOCKED
          ), dropped AS (
            DELETE FROM batches b USING old WHERE b.batch_id = old.batch_id
          )
          SELECT count(*)::int AS count FROM old`)

      const untilNone = (step: ReturnType<typeof drop>) =>
        Effect.asVoid(Effect.repeat(step, { until: (count) => count < batchesMax }))

      return BatchErasure.of({
        subject: (org_id, target) => Effect.orDie(subject(org_id, target)),
        olderThan: (days) => Effect.orDie(untilNone(olderThan(days))),
        drop: (months) => Effect.orDie(untilNone(drop(months)))
      })
    })
  )
}
