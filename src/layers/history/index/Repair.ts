/**
 * Rebuilds segments from the runs themselves: outdated ones, and damaged ones.
 *
 * After a reader reported damage, all segments of the organization and family are read completely, because a faulty disk rarely damages only one. If
 * the ids in a damaged segment can't be read either, its runs are the finished ones that are in no other segment and in no queue. New segments
 * are built without a lock. They replace the old ones in one transaction, so no run is found twice or not at all.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints } from "../../postgres/Rows.ts"
import { damageReports } from "./Damage.ts"
import type { segmentDrafts } from "./Drafts.ts"
import { historyLocks } from "./Locks.ts"
import { damageOf } from "./Places.ts"
import { rowsAs } from "./Rows.ts"
import type { SegmentDamaged } from "./SegmentDamaged.ts"
import { type Family, historySegments, isFamily } from "./Segments.ts"
import type { SegmentRow } from "./SegmentRow.ts"

/** Segments of one organization and family that new ones replace. */
interface Replaced {
  readonly org_id: string
  readonly family: Family
  readonly segments: ReadonlyArray<bigint>
}

const damageRows = rowsAs(
  "damaged segments",
  Schema.Struct({ segment: Schema.BigInt, org_id: Schema.String, family: Schema.String })
)
const runRows = rowsAs("runs of damaged segments", Schema.Struct({ run_id: Schema.String }))

export const segmentRepair = Effect.fnUntraced(function* (draftsOf: Effect.Success<typeof segmentDrafts>["draftsOf"]) {
  const sql = yield* SqlClient.SqlClient
  const segments = yield* historySegments
  const locks = yield* historyLocks
  const reports = yield* damageReports

  /** Replaces segments by new ones of these runs, unless one of them changed meanwhile. Returns the number of runs; 0 if nothing was replaced. */
  const replace = Effect.fnUntraced(function* (old: Replaced, run_ids: ReadonlyArray<string>) {
    const drafts = yield* draftsOf(
      run_ids.map((run_id) => ({ org_id: old.org_id, run_id })),
      [old.family]
    )
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* locks.lock([old.org_id])
        const same = yield* sql`SELECT 1 FROM history_segments WHERE segment = ANY(${bigints(old.segments)})`
        if (same.length < old.segments.length) return 0
        yield* segments.drop(old.segments)
        if (drafts.length > 0) yield* segments.write(drafts)
        return run_ids.length
      })
    )
  })

  /** The ids of a segment's runs; null if it is damaged and can't tell them. */
  const idsOf = (org_id: string, row: SegmentRow) =>
    damageOf(org_id, row) !== null
      ? Effect.succeed(null)
      : Effect.catchTag(segments.runIdsOf(row), "SegmentDamaged", () => Effect.succeed(null))

  /** What is damaged in a segment; null if it is intact. */
  const damageIn = (org_id: string, row: SegmentRow) =>
    Effect.as(segments.verify(org_id, row), null).pipe(
      Effect.catchTag("SegmentDamaged", (damage) => Effect.succeed(damage))
    )

  /** Finds the damaged segments of an organization and their runs. All is read as of one moment. */
  const damaged = (org_id: string, family: Family, reported: ReadonlySet<bigint>) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
        const elsewhere = new Set<string>()
        const readable = new Set<string>()
        const replaced: Array<bigint> = []
        const damages: Array<SegmentDamaged> = []
        let unreadable = false
        for (const row of yield* segments.listUnchecked(org_id, family)) {
          const run_ids = yield* idsOf(org_id, row)
          const damage = yield* damageIn(org_id, row)
          if (damage !== null) damages.push(damage)
          const isReplaced = damage !== null || reported.has(row.segment)
          if (isReplaced) replaced.push(row.segment)
          if (run_ids === null) unreadable = true
          else for (const run_id of run_ids) (isReplaced ? readable : elsewhere).add(run_id)
        }
        const old: Replaced = { org_id, family, segments: replaced }
        if (!unreadable) return { old, damages, run_ids: [...readable].sort() }
        const finished = yield* runRows(sql`
          SELECT run_id FROM runs WHERE org_id = ${org_id} AND finished_at IS NOT NULL AND erased_at IS NULL
          EXCEPT SELECT unnest(run_ids) FROM history_queue WHERE org_id = ${org_id}`)
        const run_ids = finished.map((row) => row.run_id).filter((run_id) => !elsewhere.has(run_id))
        return { old, damages, run_ids: run_ids.sort() }
      })
    )

  /** Rebuilds the damaged segments of one organization and family with a report. Null if there is no report. */
  const next = Effect.gen(function* () {
    const reported = yield* damageRows(sql`
      SELECT segment, org_id, family FROM history_damage
      WHERE (org_id, family) = (SELECT org_id, family FROM history_damage ORDER BY found_at LIMIT 1)`)
    const [first] = reported
    if (first === undefined || !isFamily(first.family)) return null
    const { org_id, family } = first
    const { old, damages, run_ids } = yield* damaged(org_id, family, new Set(reported.map((row) => row.segment)))
    for (const damage of damages) yield* reports.report(damage)
    const runs = old.segments.length === 0 ? 0 : yield* replace(old, run_ids)
    yield* sql`DELETE FROM history_damage d WHERE NOT EXISTS (SELECT FROM history_segments s WHERE s.segment = d.segment)`
    if (runs > 0)
      yield* Effect.logWarning(
        `history index: rebuilt damaged segments of ${org_id} (${family}) from ${runs} runs. Questions about them are answered again.`
      )
    return runs
  })

  return { replace, next }
})
