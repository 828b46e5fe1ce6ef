/**
 * Says where an organization's runs with a rare value may be, so that a list by status, capability, provider, endpoint or key need not read
 * all runs to find a few.
 *
 * A finished run is in a queue of usage or in its rollups, with these five values. So the rollups say how many there are, and
 * the day after which none ended. All other runs are named here. A list that follows this is exact, because a run never changes these values
 * after it has ended.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { oneRowOf } from "../postgres/Rows.ts"
import { waitingIds } from "./Facts.ts"

/** More uncounted runs exist only after an outage of all workers. A list then reads all runs. */
const uncountedMax = 20_000

export interface RunValues {
  readonly org_id: string
  readonly status: string | null
  readonly capability: string | null
  readonly provider: string | null
  readonly endpoint: string | null
  readonly key_id: string | null
}

export interface RareRuns {
  /** Counted runs with these values, and perhaps runs of months that were dropped. */
  readonly counted: bigint
  /** The newest UTC day on which one of them may have ended, such as 2026-11-22. Null for none. */
  readonly newest: string | null
  /** Ids of runs that are not counted: open ones, those that wait for a turn, and those that wait to be counted. */
  readonly uncounted: ReadonlyArray<string>
}

const countedRow = oneRowOf({
  counted: Schema.BigInt,
  newest: Schema.NullOr(Schema.String),
  uncounted: Schema.Array(Schema.String)
})

/** The statement joins thousands of rows, for which the plans of single rows are slow. */
const planned = `set_config('enable_hashjoin', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true)`
const asBefore = `set_config('enable_hashjoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

/** Null if too many runs are not counted yet. The caller reads what this says in the same transaction, which sees one snapshot. */
export const rareRuns = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (values: RunValues) {
    const { org_id, status, capability, provider, endpoint, key_id } = values
    yield* sql`SELECT ${sql.literal(planned)}`
    const rare = yield* countedRow(sql`
        SELECT coalesce(sum(d.runs), 0)::bigint AS counted, (max(d.day) + CASE WHEN (SELECT time_zones FROM wallets WHERE org_id = ${org_id}) IS NULL THEN 0 ELSE 2 END)::text AS newest,
          ARRAY(SELECT run_id FROM (
            ${waitingIds(sql, org_id)}
            UNION SELECT run_id FROM open_runs WHERE org_id = ${org_id}
            UNION SELECT run_id FROM mailbox WHERE org_id = ${org_id} AND run_id IS NOT NULL
          ) u LIMIT ${uncountedMax + 1}) AS uncounted
        FROM usage_groups g JOIN usage_days d ON d.org_id = ${org_id} AND d.name = '' AND d.group_id = g.group_id AND d.runs > 0
        WHERE g.org_id = ${org_id} AND g.name = ''
          AND (${status}::text IS NULL OR g.status = ${status})
          AND (${capability}::text IS NULL OR g.capability = ${capability})
          AND (${provider}::text IS NULL OR g.provider = ${provider})
          AND (${endpoint}::text IS NULL OR g.endpoint = ${endpoint})
          AND (${key_id}::text IS NULL OR g.key_id = ${key_id})`)
    yield* sql`SELECT ${sql.literal(asBefore)}`
    return rare.uncounted.length <= uncountedMax ? rare : null
  })
