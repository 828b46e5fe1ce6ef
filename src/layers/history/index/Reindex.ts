/**
 * Makes the index of history anew from the runs themselves: those that are in no segment though they have ended are put into one, and every
 * segment is made once more.
 *
 * Goes through all runs and then through all segments, each step whole, and keeps how far it got: it goes on where it was broken off. Beside a
 * busy service questions are answered all the time, from each old segment until the new one takes its place.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { HistoryIndex } from "./HistoryIndex.ts"
import { historySegments } from "./Segments.ts"

/** Runs that are looked for in the index in one step. */
const pageMax = 1_000
const name = "reindex"

export type ReindexStep =
  /** So many runs were looked for, and so many of them were in no segment. */
  | { readonly _tag: "Checked"; readonly runs: number; readonly missing: number }
  /** One segment of so many runs was made anew; so many are left. */
  | { readonly _tag: "Renewed"; readonly runs: number; readonly left: number }

interface Place {
  readonly org_id: string
  readonly run_id: string
}

export class Reindex extends Context.Service<
  Reindex,
  {
    /** The next step; null at the end, and the next one begins anew. */
    readonly step: Effect.Effect<ReindexStep | null>
    /** Forgets how far an earlier one got. */
    readonly restart: Effect.Effect<void>
    /** Runs there are, about: what progress is measured by. */
    readonly runs: Effect.Effect<number>
  }
>()("rungate/layers/history/index/Reindex") {
  static readonly layer = Layer.effect(
    Reindex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const index = yield* HistoryIndex
      const segments = yield* historySegments
      const restart = sql`DELETE FROM history_progress WHERE name = ${name}`

      const reached = sql<Place>`SELECT org_id, run_id FROM history_progress WHERE name = ${name}`
      const keep = ({ org_id, run_id }: Place) => sql`
        INSERT INTO history_progress (name, org_id, run_id) VALUES (${name}, ${org_id}, ${run_id})
        ON CONFLICT (name) DO UPDATE SET org_id = excluded.org_id, run_id = excluded.run_id, updated_at = now()`

      /** The next page of runs. At their end what waits is indexed here, too: there may be no service. */
      const checked = Effect.gen(function* () {
        // Before any row: whoever holds it may be about to remove the segments that this would hold.
        yield* segments.lock
        const [known] = yield* reached
        // No segment was made by these rules, so all are to be made anew.
        if (known === undefined) yield* sql`UPDATE history_segments SET rules = 0`
        const at = known ?? { org_id: "", run_id: "" }
        const rows = yield* sql<Place & { erased: boolean }>`
          SELECT org_id, run_id, erased_at IS NOT NULL AS erased FROM runs WHERE (org_id, run_id) > (${at.org_id}, ${at.run_id})
          ORDER BY org_id, run_id LIMIT ${pageMax}`
        const last = rows.at(-1)
        if (last === undefined) return null
        const kept = rows.filter((row) => !row.erased)
        let missing = 0
        for (const [org_id, runs] of Map.groupBy(kept, (row) => row.org_id))
          missing += yield* index.restore(
            org_id,
            runs.map((row) => row.run_id)
          )
        yield* keep(last)
        return { _tag: "Checked", runs: kept.length, missing } as const
      })

      const renewed = Effect.gen(function* () {
        while ((yield* index.gather) > 0);
        const runs = yield* index.renew
        if (runs === null) {
          yield* restart
          return null
        }
        const [row] = yield* sql<{ left: bigint }>`SELECT count(*) AS left FROM history_segments WHERE rules = 0`
        return { _tag: "Renewed", runs, left: Number(row?.left ?? 0n) } as const
      })

      const step: Effect.Effect<ReindexStep | null> = Effect.orDie(
        Effect.gen(function* () {
          return (yield* sql.withTransaction(checked)) ?? (yield* renewed)
        })
      )

      const runs = sql<{ runs: bigint }>`
        SELECT greatest(reltuples::bigint, 0) AS runs FROM pg_class WHERE oid = 'runs'::regclass`

      return Reindex.of({
        step,
        restart: Effect.asVoid(Effect.orDie(restart)),
        runs: Effect.orDie(Effect.map(runs, (rows) => Number(rows[0]?.runs ?? 0n)))
      })
    })
  )
}
