/**
 * Indexes runs that were made before their subjects were, or by rules that have changed since. Goes through all runs in order and keeps how
 * far it got, so that it goes on where it was broken off; beside a busy service it changes nothing but the index.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, booleans, texts } from "./Columns.ts"
import { runSubjects } from "./Subjects.ts"

const pageMax = 200
const name = "reindex"
/** Held by a step, and shared by what erases: a step writes nothing of a run that was erased meanwhile. Any number; nobody else's. */
export const historyLock = 7_411_006

interface Row {
  readonly org_id: string
  readonly run_id: string
  readonly input: string
  readonly plan: string
  readonly result: string | null
}

export interface ReindexStep {
  /** Runs read in this step; 0 at the end. */
  readonly runs: number
  readonly subjects: number
}

export class Reindex extends Context.Service<
  Reindex,
  {
    /** The next page. At the end the next one begins anew. */
    readonly step: Effect.Effect<ReindexStep>
    /** Forgets how far an earlier one got. */
    readonly restart: Effect.Effect<void>
    /** Runs there are, about: what progress is measured by. */
    readonly runs: Effect.Effect<number>
  }
>()("rungate/layers/Reindex") {
  static readonly layer = Layer.effect(
    Reindex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const restart = sql`DELETE FROM history_progress WHERE name = ${name}`

      const page = sql<Row>`
        WITH cursor AS (SELECT coalesce(max(org_id), '') AS org_id, coalesce(max(run_id), '') AS run_id FROM history_progress WHERE name = ${name})
        SELECT r.org_id, r.run_id, r.input::text AS input, r.plan::text AS plan, r.result::text AS result FROM runs r, cursor c
        WHERE (r.org_id, r.run_id) > (c.org_id, c.run_id) AND r.erased_at IS NULL ORDER BY r.org_id, r.run_id LIMIT ${pageMax} FOR SHARE OF r`

      const step = Effect.gen(function* () {
        yield* sql`SELECT pg_advisory_xact_lock(${historyLock})`
        const rows = yield* page
        const last = rows.at(-1)
        if (last === undefined) {
          yield* restart
          return { runs: 0, subjects: 0 }
        }
        const found = rows.flatMap((row) =>
          runSubjects(row.org_id, row).map((subject) => ({ ...subject, run_id: row.run_id }))
        )
        yield* sql`DELETE FROM history_rollups WHERE subject = ANY(${bigints(found.map((s) => s.subject))})`
        yield* sql`
          INSERT INTO run_subjects (subject, run_id, in_result, exact, path)
          SELECT * FROM unnest(${bigints(found.map((s) => s.subject))}, ${texts(found.map((s) => s.run_id))},
            ${booleans(found.map((s) => s.in_result))}, ${booleans(found.map((s) => s.exact))}, ${texts(found.map((s) => s.path))})
          ON CONFLICT (subject, run_id) DO UPDATE SET in_result = excluded.in_result, exact = excluded.exact, path = excluded.path`
        yield* sql`
          INSERT INTO word_queue (run_id, org_id)
          SELECT r.run_id, r.org_id FROM unnest(${texts(rows.map((row) => row.org_id))}, ${texts(rows.map((row) => row.run_id))}) AS n(org_id, run_id)
          JOIN runs r USING (org_id, run_id) WHERE r.finished_at IS NOT NULL ON CONFLICT DO NOTHING`
        yield* sql`
          INSERT INTO history_progress (name, org_id, run_id) VALUES (${name}, ${last.org_id}, ${last.run_id})
          ON CONFLICT (name) DO UPDATE SET org_id = excluded.org_id, run_id = excluded.run_id, updated_at = now()`
        return { runs: rows.length, subjects: found.length }
      })

      const runs = sql<{ runs: bigint }>`
        SELECT greatest(reltuples::bigint, 0) AS runs FROM pg_class WHERE oid = 'runs'::regclass`

      return Reindex.of({
        step: Effect.orDie(sql.withTransaction(step)),
        restart: Effect.asVoid(Effect.orDie(restart)),
        runs: Effect.orDie(Effect.map(runs, (rows) => Number(rows[0]?.runs ?? 0n)))
      })
    })
  )
}
