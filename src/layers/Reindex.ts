/**
 * Brings the index of subjects to what today's rules find, of runs that were indexed by older ones or not at all: what is missing is added,
 * what differs is corrected, what the rules no longer find is removed, and so is what is left of erased runs.
 *
 * Goes through all runs in order and keeps how far it got, so that it goes on where it was broken off; beside a busy service it changes
 * nothing but the index, and of the index only what is wrong. Runs that come or end meanwhile are indexed by the service itself.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { bigints, booleans, texts } from "./Columns.ts"
import { noRunIndex, type ReindexUnderWay, runIndex } from "./RunIndex.ts"
import { runSubjects } from "./Subjects.ts"
import { Words } from "./Words.ts"

const pageMax = 200
/** Of inputs and results as they are stored, compressed; reading so much takes less than a connection may idle. */
const pageBytesMax = 2_000_000
/** A page waits for turns that end its runs, and they for it. Whom Postgres picks to give way tries again. */
const deadlocksMax = 5
const name = "reindex"
/** Held by a step, and shared by what erases: a step writes nothing of a run that was erased meanwhile. Any number; nobody else's. */
export const historyLock = 7_411_006

interface RunText {
  readonly org_id: string
  readonly run_id: string
  readonly capability: string | null
  readonly input: string
  readonly plan: string
  readonly result: string | null
  readonly erased: boolean
}

/** A row of the index. */
interface Place {
  readonly subject: bigint
  readonly run_id: string
  readonly in_result: boolean
  readonly exact: boolean
  readonly path: string
}

export interface ReindexStep {
  /** Runs read in this step, without erased ones. */
  readonly runs: number
  readonly subjects: number
  /** Rows of the index that were missing or wrong, and those that no rule finds. */
  readonly written: number
  readonly removed: number
}

const keyOf = ({ subject, run_id }: Place) => `${run_id} ${subject}`
const alike = (one: Place, other: Place) =>
  one.in_result === other.in_result && one.exact === other.exact && one.path === other.path

const columns = (places: ReadonlyArray<Place>) => ({
  subjects: bigints(places.map((one) => one.subject)),
  runs: texts(places.map((one) => one.run_id))
})

export class Reindex extends Context.Service<
  Reindex,
  {
    /** What steps need, until the scope is closed. Takes a while; fails while another process re-indexes. */
    readonly prepared: Effect.Effect<void, ReindexUnderWay, Scope.Scope>
    /** The next page; null at the end, and the next one begins anew. */
    readonly step: Effect.Effect<ReindexStep | null>
    /** Forgets how far an earlier one got. */
    readonly restart: Effect.Effect<void>
    /** Runs there are, about: what progress is measured by. */
    readonly runs: Effect.Effect<number>
    /** Clears up after one that was killed. */
    readonly tidied: Effect.Effect<void>
  }
>()("rungate/layers/Reindex") {
  static readonly layer = Layer.effect(
    Reindex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const words = yield* Words
      const restart = sql`DELETE FROM history_progress WHERE name = ${name}`

      /** The places of the page are bound first: as a join, Postgres would sort all that is left for each page. */
      const page = Effect.gen(function* () {
        const [at = { org_id: "", run_id: "" }] = yield* sql<{ org_id: string; run_id: string }>`
          SELECT org_id, run_id FROM history_progress WHERE name = ${name}`
        return yield* sql<RunText>`
          WITH next AS MATERIALIZED (
            SELECT org_id, run_id, pg_column_size(input) + coalesce(pg_column_size(result), 0) AS bytes FROM runs
            WHERE (org_id, run_id) > (${at.org_id}, ${at.run_id}) ORDER BY org_id, run_id LIMIT ${pageMax}
          ), weighed AS (SELECT org_id, run_id, sum(bytes) OVER (ORDER BY org_id, run_id) - bytes AS before FROM next)
          SELECT r.org_id, r.run_id, r.capability, r.input::text AS input, r.plan::text AS plan, r.result::text AS result,
                 r.erased_at IS NOT NULL AS erased
          FROM weighed w JOIN runs r ON r.org_id = w.org_id AND r.run_id = w.run_id
          WHERE w.before < ${pageBytesMax} ORDER BY r.org_id, r.run_id FOR SHARE OF r`
      })

      /** Makes the index of these runs hold these places and no others. */
      const corrected = Effect.fnUntraced(function* (rows: ReadonlyArray<RunText>, found: ReadonlyArray<Place>) {
        const held = yield* sql<Place>`
          SELECT subject, run_id, in_result, exact, path FROM run_subjects WHERE run_id = ANY(${texts(rows.map((row) => row.run_id))})`
        const before = new Map(held.map((place) => [keyOf(place), place]))
        const wrong = found.filter((place) => {
          const known = before.get(keyOf(place))
          return known === undefined || !alike(known, place)
        })
        const after = new Set(found.map(keyOf))
        const gone = held.filter((place) => !after.has(keyOf(place)))
        if (gone.length > 0) {
          const { subjects, runs } = columns(gone)
          yield* sql`
            DELETE FROM run_subjects s USING unnest(${subjects}, ${runs}) AS n(subject, run_id)
            WHERE s.subject = n.subject AND s.run_id = n.run_id`
        }
        if (wrong.length > 0) {
          const { subjects, runs } = columns(wrong)
          yield* sql`
            INSERT INTO run_subjects (subject, run_id, in_result, exact, path)
            SELECT * FROM unnest(${subjects}, ${runs}, ${booleans(wrong.map((one) => one.in_result))}, ${booleans(wrong.map((one) => one.exact))},
                                 ${texts(wrong.map((one) => one.path))})
            ON CONFLICT (subject, run_id) DO UPDATE SET in_result = excluded.in_result, exact = excluded.exact, path = excluded.path`
        }
        const changed = [...wrong, ...gone]
        if (changed.length > 0) {
          const orgs = new Map(rows.map((row) => [row.run_id, row.org_id]))
          yield* sql`
            DELETE FROM history_rollups h
            USING unnest(${texts(changed.map((one) => orgs.get(one.run_id) ?? ""))}, ${columns(changed).subjects}) AS n(org_id, subject)
            WHERE h.org_id = n.org_id AND h.subject = n.subject`
        }
        return { written: wrong.length, removed: gone.length }
      })

      const step = Effect.gen(function* () {
        yield* sql`SELECT pg_advisory_xact_lock(${historyLock})`
        const rows = yield* page
        const last = rows.at(-1)
        if (last === undefined) {
          yield* restart
          return null
        }
        const kept = rows.filter((row) => !row.erased)
        const found = kept.flatMap((row) =>
          runSubjects(row.org_id, row).map((subject) => ({ ...subject, run_id: row.run_id }))
        )
        const { written, removed } = yield* corrected(rows, found)
        for (const [org_id, runs] of Map.groupBy(kept, (row) => row.org_id))
          yield* words.restore(
            org_id,
            runs.map((row) => row.run_id)
          )
        yield* sql`
          INSERT INTO history_progress (name, org_id, run_id) VALUES (${name}, ${last.org_id}, ${last.run_id})
          ON CONFLICT (name) DO UPDATE SET org_id = excluded.org_id, run_id = excluded.run_id, updated_at = now()`
        return { runs: kept.length, subjects: found.length, written, removed }
      })

      const runs = sql<{ runs: bigint }>`
        SELECT greatest(reltuples::bigint, 0) AS runs FROM pg_class WHERE oid = 'runs'::regclass`

      const isDeadlock = ({ reason }: SqlError.SqlError) => reason._tag === "DeadlockError"
      const withSql = Effect.provideService(SqlClient.SqlClient, sql)
      return Reindex.of({
        prepared: runIndex.pipe(
          Effect.catchTag("SqlError", (error) => Effect.die(error)),
          withSql
        ),
        step: sql.withTransaction(step).pipe(Effect.retry({ times: deadlocksMax, while: isDeadlock }), Effect.orDie),
        restart: Effect.asVoid(Effect.orDie(restart)),
        runs: Effect.orDie(Effect.map(runs, (rows) => Number(rows[0]?.runs ?? 0n))),
        tidied: noRunIndex.pipe(withSql, Effect.orDie)
      })
    })
  )
}
