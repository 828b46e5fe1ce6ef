/**
 * Rebuilds the history index from the runs: first it indexes finished runs that no segment contains, then it rebuilds every segment.
 *
 * Each step is one transaction. The progress is stored, so an interrupted rebuild continues where it stopped. The service keeps answering
 * history queries meanwhile: each old segment is used until the new one replaces it.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { damageReports } from "./Damage.ts"
import { HistoryIndex } from "./HistoryIndex.ts"
import { done } from "../../postgres/Rows.ts"
import { historyLocks } from "./Locks.ts"
import { missing, rowsAs } from "./Rows.ts"

/** Runs that one step checks. */
const pageMax = 1_000
const name = "reindex"

export type ReindexStep =
  /** `runs` were checked, of which `missing` were in no segment. */
  | { readonly _tag: "Checked"; readonly runs: number; readonly missing: number }
  /** Damaged segments with `runs` were rebuilt, before they can be checked. */
  | { readonly _tag: "Repaired"; readonly runs: number }
  /** One segment with `runs` was rebuilt, and `left` segments remain. */
  | { readonly _tag: "Renewed"; readonly runs: number; readonly left: number }

const Place = Schema.Struct({ org_id: Schema.String, run_id: Schema.String })
type Place = typeof Place.Type

const progressRows = rowsAs("progress of a reindex", Place)
const runRows = rowsAs("runs of a reindex", Schema.Struct({ ...Place.fields, erased: Schema.Boolean }))
const leftRows = rowsAs("segments left to rebuild", Schema.Struct({ left: Schema.BigInt }))
const countRows = rowsAs("number of runs", Schema.Struct({ runs: Schema.BigInt }))

export const makeReindex = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const index = yield* HistoryIndex
  const locks = yield* historyLocks
  const reports = yield* damageReports
  const restart = sql`DELETE FROM history_progress WHERE name = ${name}`

  // Two rebuilds at once check one page after the other.
  const progress = progressRows(sql`SELECT org_id, run_id FROM history_progress WHERE name = ${name} FOR UPDATE`)
  const keep = ({ org_id, run_id }: Place) => sql`
    INSERT INTO history_progress (name, org_id, run_id) VALUES (${name}, ${org_id}, ${run_id})
    ON CONFLICT (name) DO UPDATE SET org_id = excluded.org_id, run_id = excluded.run_id, updated_at = now()`

  /** Returns the stored progress. At the start, all segments are marked for rebuilding. */
  const begin = Effect.gen(function* () {
    const [stored] = yield* progress
    if (stored !== undefined) return stored
    // Taken before any row is locked: the holder may be about to delete segments that this step would lock.
    yield* locks.lockAll
    const [meanwhile] = yield* progress
    if (meanwhile !== undefined) return meanwhile
    yield* sql`UPDATE history_segments SET rules = 0`
    return { org_id: "", run_id: "" }
  })

  /** Checks the next page of runs; null at the end. */
  const checkPage = Effect.gen(function* () {
    const at = yield* begin
    const rows = yield* runRows(sql`
      SELECT org_id, run_id, erased_at IS NOT NULL AS erased FROM runs WHERE (org_id, run_id) > (${at.org_id}, ${at.run_id})
      ORDER BY org_id, run_id LIMIT ${pageMax}`)
    const last = rows.at(-1)
    if (last === undefined) return null
    const unerased = rows.filter((row) => !row.erased)
    yield* locks.lock(unerased.map((row) => row.org_id))
    let missing = 0
    for (const [org_id, runs] of Map.groupBy(unerased, (row) => row.org_id))
      missing += yield* index.restore(
        org_id,
        runs.map((row) => row.run_id)
      )
    yield* keep(last)
    return { _tag: "Checked", runs: unerased.length, missing } as const
  })

  const rebuildSegment = Effect.gen(function* () {
    while ((yield* index.gather) > 0 || (yield* index.repair) !== null);
    const runs = yield* index.renew
    if (runs === null) {
      yield* restart
      return null
    }
    const [row] = yield* leftRows(sql`SELECT count(*) AS left FROM history_segments WHERE rules = 0`)
    return { _tag: "Renewed", runs, left: Number((row ?? missing("the count of segments")).left) } as const
  })

  const step: Effect.Effect<ReindexStep | null> = Effect.orDie(
    Effect.gen(function* () {
      return (yield* sql.withTransaction(checkPage)) ?? (yield* rebuildSegment)
    }).pipe(
      Effect.catchTag("SegmentDamaged", (damage) =>
        Effect.gen(function* () {
          yield* reports.report(damage)
          return { _tag: "Repaired", runs: (yield* index.repair) ?? 0 } as const
        })
      )
    )
  )

  const runs = countRows(sql`
    SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint AS runs
    FROM pg_partition_tree('runs') t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf`)

  return {
    /** Performs the next step. Null at the end; the step after it starts again. */
    step,
    /** Deletes the progress of an earlier rebuild. */
    restart: done(restart),
    /** The approximate number of runs, to show the progress. */
    runs: Effect.orDie(Effect.map(runs, (rows) => Number((rows[0] ?? missing("the table of runs")).runs)))
  }
})
