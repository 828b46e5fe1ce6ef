/**
 * Keeps the rollups of usage: counts finished runs, once each, and takes back the labels of erased runs.
 *
 * Any number of processes may try; a lock lets one at a time through. Each step is one transaction that removes runs from the queue and counts
 * them, so a process that is killed in between has done neither.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { crashPoint } from "../platform/CrashPoint.ts"
import { bigints, dates, oneFlag, rowsOf, tableOf, texts, uuids } from "../postgres/Rows.ts"
import { recentRuns } from "../postgres/partitions/recentRuns.ts"
import { type Counted, countedOf } from "./Counted.ts"
import { factColumns, factGroups, factOf, factRows, factSums, waitingIds } from "./Facts.ts"
import { usageLabels } from "./Labels.ts"

/** Id of the advisory lock on the rollups; it must be unique in an installation. */
export const usageLock = 7_411_900
/** Runs per step: half as many cost a sixth more for each run. A turn's runs are never split, so a step may have that many more. */
const stepMax = 2_048

const batchRows = rowsOf({ org_id: Schema.String, batch: Schema.BigInt, oldest: Schema.String })

/** Writes rows of rollups, with their signs. The caller holds the lock. */
const write = Effect.fnUntraced(function* (rows: ReadonlyArray<Counted>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH groups AS (
      INSERT INTO usage_groups (org_id, group_id, capability, provider, key_id, endpoint, status, name, value)
      SELECT DISTINCT * FROM ${tableOf("n", rows, { org_id: texts, group_id: uuids, capability: texts, provider: texts, key_id: texts, endpoint: texts, status: texts, name: texts, value: texts })}
      ON CONFLICT DO NOTHING
    )
    INSERT INTO usage_days AS d (org_id, name, day, group_id, runs, charged)
    SELECT * FROM ${tableOf("n", rows, { org_id: texts, name: texts, day: dates, group_id: uuids, runs: bigints, charged: bigints })}
    ON CONFLICT (org_id, name, day, group_id) DO UPDATE SET runs = d.runs + excluded.runs, charged = d.charged + excluded.charged`
})

/** Counts the runs of `taken`, SQL that removes rows of the queue and returns their organizations and ids. */
const countTaken = Effect.fnUntraced(function* (
  taken: Statement.Fragment,
  oldest: ReadonlyArray<{ readonly run_id: string }>
) {
  const sql = yield* SqlClient.SqlClient
  const labels = yield* usageLabels
  const table = recentRuns(sql, oldest, yield* Clock.currentTimeMillis)
  const rows = yield* factRows(sql`
    WITH taken AS (${taken}) SELECT ${sql.literal(factSums)} FROM (
      SELECT r.run_id, ${sql.literal(factColumns)}
      FROM (SELECT DISTINCT t.org_id, u.run_id FROM taken t, unnest(t.run_ids) AS u (run_id)) a JOIN ${table} r USING (org_id, run_id)
      WHERE r.finished_at IS NOT NULL
    ) n ${sql.literal(factGroups)}`)
  const facts = rows.map(factOf)
  if (facts.length > 0) yield* write(countedOf(facts, yield* labels.admit(facts)))
})

export class UsageRollups extends Context.Service<
  UsageRollups,
  {
    /** Counts a batch of waiting runs. Returns their number: 0 when none waits, or another process counts. */
    readonly count: Effect.Effect<number>
    /**
     * Takes the labels of runs out of the rollups, in the caller's transaction and before the runs lose them. The runs still count, without
     * labels.
     */
    readonly forgetLabels: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("rungate/layers/usage/UsageRollups") {
  /** Whether a run waits. */
  static readonly due = () => "EXISTS (SELECT FROM usage_queue)"

  static readonly layer = Layer.effect(
    UsageRollups,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const labels = yield* usageLabels
      const within = Effect.provideService(SqlClient.SqlClient, sql)
      /** The last organization of the step before, so that every organization gets its turn. */
      let after = ""

      const step = Effect.gen(function* () {
        const free = yield* oneFlag(sql`
          SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), ${usageLock}) AS free, set_config('synchronous_commit', 'off', true)`)
        if (!free) return 0
        const rows = yield* batchRows(sql`
          SELECT org_id, batch, coalesce((SELECT min(u.run_id COLLATE "C") FROM unnest(w.run_ids) AS u (run_id)), '') AS oldest FROM (
            SELECT org_id, batch, sum(runs) OVER (ORDER BY org_id, batch) - runs AS before FROM (
              SELECT org_id, batch, runs FROM usage_queue WHERE org_id > ${after} ORDER BY org_id, batch LIMIT ${stepMax}
            ) first
          ) q JOIN usage_queue w USING (org_id, batch) WHERE before < ${stepMax}::int`)
        const last = rows.reduce((most, { org_id }) => (org_id > most ? org_id : most), "")
        // The ids of the runs stay in PostgreSQL: sending them there and back would take a third of the time.
        if (rows.length > 0) {
          const taken = sql`
            DELETE FROM usage_queue q
            USING ${tableOf("c", rows, { org_id: texts, batch: bigints })}
            WHERE q.org_id = c.org_id AND q.batch = c.batch RETURNING q.org_id, q.run_ids`
          yield* countTaken(
            taken,
            rows.map(({ oldest }) => ({ run_id: oldest }))
          )
        }
        yield* crashPoint("usage.counted")
        after = last
        return rows.length
      })

      const count = Effect.gen(function* () {
        const began = after
        const done = yield* sql.withTransaction(step)
        // Nothing after the last organization: begin again with the first.
        return done === 0 && began !== "" ? yield* sql.withTransaction(step) : done
      }).pipe(within)

      const forgetLabels = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        const labelled = sql`
          SELECT r.run_id, ${sql.literal(factColumns)} FROM runs r
          WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)}) AND r.metadata IS NOT NULL AND r.finished_at IS NOT NULL`
        const any = yield* oneFlag(sql`SELECT EXISTS (${labelled}) AS finished`)
        if (!any) return
        yield* sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${usageLock})`
        const rows = yield* factRows(sql`
          SELECT ${sql.literal(factSums)} FROM (${labelled} AND r.run_id NOT IN (${waitingIds(sql, org_id)})) n ${sql.literal(factGroups)}`)
        const facts = rows.map(factOf)
        const gone = countedOf(facts, yield* labels.storedLabels(facts)).filter((row) => row.name !== "")
        if (gone.length === 0) return
        yield* sql`
          UPDATE usage_days d SET runs = d.runs - n.runs, charged = d.charged - n.charged
          FROM ${tableOf("n", gone, { name: texts, day: dates, group_id: uuids, runs: bigints, charged: bigints })}
          WHERE d.org_id = ${org_id} AND d.name = n.name AND d.day = n.day AND d.group_id = n.group_id`
        const groups = texts(gone.map((r) => r.group_id))
        yield* sql`DELETE FROM usage_days WHERE org_id = ${org_id} AND name = ANY(${texts(gone.map((r) => r.name))}) AND group_id = ANY(${groups}::uuid[]) AND runs = 0`
        yield* sql`
          DELETE FROM usage_groups g WHERE g.org_id = ${org_id} AND g.group_id = ANY(${groups}::uuid[])
            AND NOT EXISTS (SELECT FROM usage_days d WHERE d.org_id = g.org_id AND d.name = g.name AND d.group_id = g.group_id)`
        yield* sql`
          DELETE FROM usage_values v USING ${tableOf("n", gone, { name: texts, day: dates, value: texts })}
          WHERE v.org_id = ${org_id} AND v.name = n.name AND v.day = n.day AND v.value = n.value
            AND NOT EXISTS (SELECT FROM usage_days d JOIN usage_groups g USING (org_id, group_id)
                            WHERE d.org_id = v.org_id AND d.name = v.name AND d.day = v.day AND g.value = v.value)`
      })

      return UsageRollups.of({
        count: Effect.orDie(count),
        forgetLabels: (org_id, run_ids) => Effect.orDie(forgetLabels(org_id, run_ids))
      })
    })
  )
}
