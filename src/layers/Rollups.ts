/**
 * Subjects that thousands of runs name: what the older of those runs come to, so that a question reads only the newest.
 *
 * A rollup holds every match before some run and nothing else, and is exact: runs before it are final, and whoever changes what they say
 * (an erasure, a re-index) deletes it. A question that finds too much behind one asks for it; workers make it, a page at a time.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Catalog } from "./Catalog.ts"
import {
  goesTo,
  groupColumns,
  isLookup,
  looseMax,
  noLookups,
  reusablesMax,
  rulesOf,
  succeededTouch
} from "./Lookups.ts"
import { historyLock } from "./Reindex.ts"
import { makeId } from "../schema/Ids.ts"

/** Longer than a request can take to write its run, however slow or its clock however wrong: after that no run with an earlier id appears. */
const settledMillis = 600_000
/** Runs of a subject among which one is looked for that held money: most did. */
const sampledMax = 20
/** Matches in one step: a second's work. A test takes fewer. */
export const RollupPage = Context.Reference<number>("rungate/layers/Rollups/Page", { defaultValue: () => 20_000 })

interface Step {
  readonly org_id: string
  readonly more: boolean
}

export class Rollups extends Context.Service<
  Rollups,
  {
    /** Works on one that is wanted. False when none is. */
    readonly step: Effect.Effect<boolean>
    /** Wants those of the subjects that the database's own statistics say are in thousands of runs. */
    readonly scout: Effect.Effect<void>
  }
>()("rungate/layers/Rollups") {
  static readonly layer = Layer.effect(
    Rollups,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const not = noLookups(yield* Catalog)
      const rules = rulesOf(not)
      const pageMax = yield* RollupPage

      const step = Effect.gen(function* () {
        const settled = makeId("run", (yield* Clock.currentTimeMillis) - settledMillis).slice(0, -16)
        // Alone: neither an erasure nor a re-index changes what is being added up.
        yield* sql`SELECT pg_advisory_xact_lock(${historyLock})`
        const [done] = yield* sql<Step>`
          WITH old AS MATERIALIZED (
            SELECT org_id, subject, CASE WHEN rules = ${rules} THEN before ELSE '' END AS after,
                   CASE WHEN rules = ${rules} THEN groups ELSE '[]' END AS groups,
                   CASE WHEN rules = ${rules} THEN touch_id END AS touch_id,
                   CASE WHEN rules = ${rules} THEN contact_id END AS contact_id,
                   CASE WHEN rules = ${rules} THEN reusable_ids ELSE '{}' END AS reusable_ids
            FROM history_rollups WHERE wanted LIMIT 1
          ), bound AS MATERIALIZED (
            -- A run under way may yet come to name the subject.
            SELECT least(${settled}, (SELECT min(o.run_id) FROM open_runs o, old WHERE o.org_id = old.org_id),
                         (SELECT min(m.run_id) FROM mailbox m, old WHERE m.org_id = old.org_id)) AS before
          ), page AS MATERIALIZED (
            SELECT n.run_id, n.named, n.went FROM old, LATERAL (
              SELECT s.run_id, s.exact AND NOT s.in_result AS named, ${goesTo(sql)} AS went FROM run_subjects s
              WHERE s.subject = old.subject AND s.run_id >= old.after AND s.run_id < (SELECT before FROM bound)
              ORDER BY s.run_id LIMIT ${pageMax}
            ) n
          ), reached AS MATERIALIZED (
            SELECT CASE WHEN (SELECT count(*) FROM page) = ${pageMax} THEN (SELECT max(run_id) FROM page)
                        ELSE greatest(old.after, (SELECT before FROM bound)) END AS before,
                   (SELECT count(*) FROM page) = ${pageMax} AS more
            FROM old
          ), matched AS MATERIALIZED (
            SELECT p.named, p.went, r.run_id, r.status, r.capability, r.endpoint, r.provider, coalesce(r.charged, 0) AS charged, r.created_at
            FROM old, page p JOIN runs r ON r.org_id = (SELECT org_id FROM old) AND r.run_id = p.run_id
            WHERE r.erased_at IS NULL AND p.run_id < (SELECT before FROM reached)
          ), grouped AS (
            SELECT status, capability, endpoint, sum(count)::int AS count, sum(charged)::bigint AS charged, min(first_seen) AS first_seen,
                   max(last_seen) AS last_seen
            FROM (
              SELECT status, capability, endpoint, count(*)::int AS count, sum(charged)::bigint AS charged, min(created_at) AS first_seen,
                     max(created_at) AS last_seen
              FROM matched GROUP BY status, capability, endpoint
              UNION ALL SELECT g.* FROM old, json_to_recordset(old.groups) AS g(${sql.literal(groupColumns)})
            ) both_ GROUP BY status, capability, endpoint
          ), reusable AS (
            SELECT run_id FROM (
              SELECT run_id FROM matched WHERE named AND ${isLookup(sql, not)}
              UNION ALL SELECT unnest(old.reusable_ids) FROM old
            ) all_ ORDER BY run_id DESC LIMIT ${reusablesMax}
          )
          UPDATE history_rollups h SET rules = ${rules}, before = reached.before, wanted = reached.more,
                 groups = (SELECT coalesce(json_agg(grouped), '[]') FROM grouped),
                 touch_id = greatest(old.touch_id, (SELECT max(run_id) FROM matched WHERE ${succeededTouch(sql)})),
                 contact_id = greatest(old.contact_id, (SELECT max(run_id) FROM matched WHERE went AND ${succeededTouch(sql)})),
                 reusable_ids = (SELECT coalesce(array_agg(run_id ORDER BY run_id DESC), '{}') FROM reusable)
          FROM old, reached WHERE h.org_id = old.org_id AND h.subject = old.subject
          RETURNING h.org_id, reached.more`
        return done !== undefined
      })

      const scout = sql`
        WITH hot AS MATERIALIZED (
          SELECT h.subject FROM pg_stats s, unnest(s.most_common_vals::text::bigint[], s.most_common_freqs) AS h(subject, share),
                 (SELECT reltuples FROM pg_class WHERE oid = 'run_subjects'::regclass) c
          WHERE s.schemaname = current_schema() AND s.tablename = 'run_subjects' AND s.attname = 'subject' AND h.share * c.reltuples > ${looseMax}
        )
        INSERT INTO history_rollups (org_id, subject, before, rules, groups, reusable_ids, wanted)
        SELECT w.org_id, h.subject, '', ${rules}, '[]', '{}', true
        FROM hot h, LATERAL (
          -- Whose they are, the ledger knows: a run that held money is there under its id.
          SELECT l.org_id FROM (SELECT run_id FROM run_subjects WHERE subject = h.subject ORDER BY run_id LIMIT ${sampledMax}) s
          JOIN ledger l ON l.run_id = s.run_id LIMIT 1
        ) w
        ON CONFLICT (org_id, subject) DO UPDATE SET wanted = true WHERE history_rollups.rules <> excluded.rules`

      return Rollups.of({ step: Effect.orDie(sql.withTransaction(step)), scout: Effect.asVoid(Effect.orDie(scout)) })
    })
  )
}
