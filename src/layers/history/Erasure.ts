/**
 * Erases personal data of runs: the input, the result, the metadata, and their entries in the index, in events, in usage and in budgets of labels. The run, its charge and its ledger entries stay.
 *
 * The index finds runs by their input and their result. Labels are not in it, so an erasure looks at each different label of the organization.
 *
 * It works in batches of one transaction each. An erasure of a million runs therefore holds locks only briefly, and continues where it stopped.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { jsons, texts } from "../postgres/Rows.ts"
import { BatchErasure } from "./BatchErasure.ts"
import { eraseEvents } from "./EventErasure.ts"
import { beingRebuilt, type IndexBehind } from "./FreshRuns.ts"
import { damageReports } from "./index/Damage.ts"
import { rowsAs } from "./index/Rows.ts"
import { HistoryIndex } from "./index/HistoryIndex.ts"
import { HistoryStore } from "./HistoryStore.ts"
import { matchedIn } from "./Matched.ts"
import { eraseValues } from "../ledger/LabelTurn.ts"
import { UsageRollups } from "../usage/UsageRollups.ts"
import { makeId } from "../../schema/Ids.ts"
import { isRecord, parsedOrText } from "../../schema/json/Json.ts"
import { valueBudgetIds } from "../../schema/wallet/LabelBudget.ts"
import type { Subject } from "../../schema/subjects/Subject.ts"

const RunId = Schema.Struct({ run_id: Schema.String })
const attemptRows = rowsAs(
  "runs to erase",
  Schema.Struct({
    ...RunId.fields,
    attempts: Schema.NullOr(Schema.String),
    metadata: Schema.NullOr(Schema.String)
  })
)
const finishedRows = rowsAs("finished runs", RunId)
const labelRows = rowsAs("labels", Schema.Struct({ label: Schema.String, value: Schema.NullOr(Schema.String) }))
const labelledRows = rowsAs("runs with a label", RunId)
const dueRows = rowsAs("organizations with old runs", Schema.Struct({ org_id: Schema.String, after: Schema.String }))
const oldRows = rowsAs("old runs", RunId)

const batchMax = 1_000
const labelsMax = 1_000
/** Runs in progress are the newest and come first. This many of them don't hide finished ones. */
const inFlightMax = 1_000
const dayMillis = 86_400_000
const unread = { capability: null, plan: null, result: null }
/** Replaces the input. */
const erasedInput = "{}"

/** Not in SQL, because Postgres fails on a detail with a NUL, and old versions stored details unchecked. */
const withoutDetails = (attempts: string | null): string | null => {
  const list: unknown = attempts === null ? null : parsedOrText(attempts)
  if (!Array.isArray(list)) return null
  return JSON.stringify(
    list
      .filter(isRecord)
      .map(({ provider, outcome, duration_ms }) => ({ provider, outcome, duration_ms, detail: null }))
  )
}

export class Erasure extends Context.Service<
  Erasure,
  {
    /**
     * Erases every finished run that names the subject, in a label too, and cancels rows of batches that name it and have not started.
     * `in_flight` is the number of matching runs in progress.
     */
    readonly subject: (
      org_id: string,
      subject: Subject
    ) => Effect.Effect<{ readonly erased: number; readonly in_flight: number }, IndexBehind>
    /** Erases up to `limit` finished runs that were created more than `days` days ago. Returns how many. */
    readonly olderThan: (days: number, limit: number) => Effect.Effect<number>
  }
>()("rungate/layers/history/Erasure") {
  static readonly layer = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const history = yield* HistoryStore
      const index = yield* HistoryIndex
      const usage = yield* UsageRollups
      const batches = yield* BatchErasure
      const reports = yield* damageReports

      const erase = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        const rows = yield* attemptRows(sql`
          SELECT run_id, attempts::text AS attempts, metadata::text AS metadata FROM runs
          WHERE org_id = ${org_id} AND run_id = ANY(${texts(run_ids)}) AND finished_at IS NOT NULL AND erased_at IS NULL
          FOR UPDATE`)
        const ids = rows.map((row) => row.run_id)
        yield* index.forget(org_id, ids)
        yield* usage.forgetLabels(org_id, ids)
        const values = rows.flatMap(({ metadata }) => (metadata === null ? [] : valueBudgetIds(org_id, metadata)))
        yield* eraseValues(sql, org_id, [...new Set(values)])
        yield* sql`
          DELETE FROM reusable_results x USING runs r
          WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(ids)}) AND x.org_id = r.org_id AND x.input_hash = r.input_hash AND x.run_id = r.run_id`
        yield* sql`UPDATE warranty_disputes SET evidence = NULL WHERE org_id = ${org_id} AND run_id = ANY(${texts(ids)})`
        // Details and messages may quote the input. A raw run's plan contains the request.
        yield* sql`
          UPDATE runs r SET input = ${erasedInput}::text::json, result = NULL, plan = '{}', hints = NULL, metadata = NULL, input_hash = NULL, erased_at = now(),
                 error_message = CASE WHEN error_code IS NOT NULL THEN 'erased' END, attempts = n.attempts::json
          FROM unnest(${texts(ids)}, ${jsons(rows.map((row) => withoutDetails(row.attempts)))}) AS n(run_id, attempts)
          WHERE r.org_id = ${org_id} AND r.run_id = n.run_id`
        yield* eraseEvents(sql, org_id, ids)
        return rows.length
      })

      /** Erases nothing if a segment of the runs is damaged: it would keep their terms. */
      const eraseInTransaction = (org_id: string, run_ids: ReadonlyArray<string>) =>
        Effect.catchTag(sql.withTransaction(erase(org_id, run_ids)), "SegmentDamaged", (damage) =>
          Effect.andThen(reports.report(damage), Effect.fail(beingRebuilt))
        )

      const isFinished = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        const rows = yield* finishedRows(sql`
          SELECT run_id FROM runs WHERE org_id = ${org_id} AND run_id = ANY(${texts(run_ids)}) AND finished_at IS NOT NULL AND erased_at IS NULL`)
        return rows.map((row) => row.run_id)
      })

      /** Erases the finished ones of the runs that `newest` reads. Returns how many, and those that are in progress. */
      const eraseMatches = Effect.fnUntraced(function* <E>(
        org_id: string,
        newest: Effect.Effect<ReadonlyArray<string>, E>
      ) {
        let erased = 0
        for (;;) {
          const matches = yield* newest
          const finished = yield* isFinished(org_id, matches)
          const done = finished.length === 0 ? 0 : yield* eraseInTransaction(org_id, finished.slice(0, batchMax))
          erased += done
          if (done === 0) return { erased, open: matches.filter((run_id) => !finished.includes(run_id)) }
        }
      })

      /** Digests of labels after another one, each with its value in one of the runs that have it. Each is read in one step of the index. */
      const labelsAfter = (org_id: string, after: string) =>
        labelRows(sql`
          WITH RECURSIVE l AS (
            (SELECT label, run_id FROM run_labels WHERE org_id = ${org_id} AND label > decode(${after}, 'hex') ORDER BY label, run_id LIMIT 1)
            UNION ALL
            SELECT n.* FROM l CROSS JOIN LATERAL (
              SELECT label, run_id FROM run_labels WHERE org_id = ${org_id} AND label > l.label ORDER BY label, run_id LIMIT 1) n)
          SELECT encode(p.label, 'hex') AS label, one.value FROM (SELECT * FROM l LIMIT ${labelsMax}) p
          LEFT JOIN runs r ON r.org_id = ${org_id} AND r.run_id = p.run_id
          LEFT JOIN LATERAL jsonb_each_text(r.metadata) AS one ON run_label(one.key, one.value) = p.label
          ORDER BY p.label`)

      const labelled = (org_id: string, label: string) =>
        Effect.map(
          labelledRows(sql`
            SELECT run_id FROM run_labels WHERE org_id = ${org_id} AND label = decode(${label}, 'hex')
            ORDER BY run_id DESC LIMIT ${batchMax + inFlightMax}`),
          (rows) => rows.map(({ run_id }) => run_id)
        )

      const subject = Effect.fn("Erasure.subject")(function* (org_id: string, target: Subject) {
        // First: a row that starts meanwhile is a run in progress.
        const rows = yield* batches.subject(org_id, target)
        const matches = [yield* eraseMatches(org_id, history.newest(org_id, target, batchMax + inFlightMax))]
        for (let after = "", more = true; more; ) {
          const labels = yield* labelsAfter(org_id, after)
          for (const { label, value } of labels)
            if (value !== null && matchedIn({ ...unread, input: JSON.stringify(value) }, target) !== null)
              matches.push(yield* eraseMatches(org_id, labelled(org_id, label)))
          after = labels.at(-1)?.label ?? after
          more = labels.length === labelsMax
        }
        return {
          erased: rows.erased + matches.reduce((sum, { erased }) => sum + erased, 0),
          in_flight: rows.in_flight + new Set(matches.flatMap(({ open }) => open)).size
        }
      })

      /**
       * Erases each organization's oldest runs. The stored progress saves reading erased runs again. It stays before a run that is still in
       * progress, so that this run is erased after it ends.
       */
      const olderThan = Effect.fn("Erasure.olderThan")(function* (days: number, limit: number) {
        const before = makeId("run", (yield* Clock.currentTimeMillis) - days * dayMillis).slice(0, -16)
        const due = sql`r.run_id < ${before} AND r.finished_at IS NOT NULL AND r.erased_at IS NULL`
        const orgs = yield* dueRows(sql`
          SELECT o.org_id, coalesce(p.run_id, '') AS after FROM orgs o LEFT JOIN history_progress p ON p.name = 'retain ' || o.org_id
          WHERE EXISTS (SELECT FROM runs r WHERE r.org_id = o.org_id AND r.run_id > coalesce(p.run_id, '') AND ${due})
          ORDER BY o.org_id LIMIT ${limit}`)
        let erased = 0
        for (const { org_id, after } of orgs) {
          if (erased >= limit) break
          const rows = yield* oldRows(sql`
            SELECT r.run_id FROM runs r WHERE r.org_id = ${org_id} AND r.run_id > ${after} AND ${due} ORDER BY r.run_id LIMIT ${batchMax}`)
          const last = rows.at(-1)
          if (last === undefined) continue
          const done = yield* eraseInTransaction(
            org_id,
            rows.map((row) => row.run_id)
          ).pipe(Effect.catchTag("IndexBehind", () => Effect.succeed(null)))
          // The next pass tries again, when the index is rebuilt.
          if (done === null) continue
          erased += done
          yield* sql`
            INSERT INTO history_progress (name, org_id, run_id) SELECT ${`retain ${org_id}`}, ${org_id}, ${last.run_id}
            WHERE NOT EXISTS (SELECT FROM runs WHERE org_id = ${org_id} AND run_id > ${after} AND run_id < ${last.run_id} AND finished_at IS NULL)
            ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, updated_at = now()`
        }
        return erased
      })

      return Erasure.of({
        subject: (org_id, target) => Effect.catchTag(subject(org_id, target), "SqlError", (error) => Effect.die(error)),
        olderThan: (days, limit) => Effect.orDie(olderThan(days, limit))
      })
    })
  )
}
