/**
 * Answers `GET /v1/usage`: the rollups of an organization, and the finished runs that are not in them yet.
 *
 * Both are read in one statement, so every run counts exactly once in every answer, from the moment at which it ends.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { type Grouping, groupingsMax, isMetadataGrouping } from "../../schema/usage/Usage.ts"
import { metadataPrefix } from "../../schema/runs/Metadata.ts"
import { namesMax } from "./Counted.ts"
import { factColumns, settlement, waitingIds } from "./Facts.ts"

/** Waiting runs that a question counts itself, in about a second. More wait only after an outage of all workers. */
const waitingMax = 100_000
/** Speed of counting, for the message. */
const countedPerSecond = 5_000

/** Too many runs wait to be counted. */
export class UsageBehind extends Schema.TaggedError<UsageBehind>()("UsageBehind", { message: Schema.String }) {}
/** The organization's usage is not counted by this name of metadata. */
export class NameNotCounted extends Schema.TaggedError<NameNotCounted>()("NameNotCounted", { most: Schema.Int }) {}

const usageFields = {
  /** The groups' values as `cellOf` reads them. Empty without a grouping. */
  a: Schema.String,
  b: Schema.String,
  runs: Schema.BigInt,
  succeeded: Schema.BigInt,
  no_match: Schema.BigInt,
  failed: Schema.BigInt,
  charged: Schema.BigInt
}
const usageRows = rowsOf(usageFields)
export type UsageRow = Schema.Struct.Type<typeof usageFields>

export interface UsageQuestion {
  readonly org_id: string
  /** First day, and the day after the last: dates such as 2026-11-22. */
  readonly from: string
  readonly to: string
  readonly groupings: ReadonlyArray<Grouping>
  /** Only groups after these values. */
  readonly after: readonly [string, string] | null
  readonly limit: number
}

const waitingRow = oneRowOf({ waiting: Schema.BigInt })
const nameRow = oneRowOf({ known: Schema.Boolean, names: Schema.BigInt })

/** The statements join tables of some thousand rows, for which the plans of single rows are slow. */
const planned = `set_config('enable_hashjoin', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true)`

/** SQL of a value as text: see `cellOf`. */
const cellSql = (column: string) => `CASE WHEN ${column} IS NULL THEN '' ELSE '=' || ${column} END`
const columnOf = (grouping: Grouping, row: string): string => {
  if (grouping === "day") return `'=' || ${row}.day::text`
  return cellSql(`${row}.${grouping === "key" ? "key_id" : grouping}`)
}

export class UsageStore extends Context.Service<
  UsageStore,
  { readonly usage: (asked: UsageQuestion) => Effect.Effect<ReadonlyArray<UsageRow>, UsageBehind | NameNotCounted> }
>()("rungate/layers/usage/UsageStore") {
  static readonly layer = Layer.effect(
    UsageStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const timely = Effect.fnUntraced(function* (org_id: string) {
        const { waiting } = yield* waitingRow(sql`
          SELECT coalesce(sum(runs), 0)::bigint AS waiting, ${sql.literal(planned)} FROM (
            SELECT runs FROM history_queue WHERE org_id = ${org_id} AND NOT counted
            UNION ALL SELECT runs FROM usage_queue WHERE org_id = ${org_id} AND NOT counted) w`)
        if (waiting <= waitingMax) return
        const seconds = Math.ceil(Number(waiting) / countedPerSecond)
        const message = `${waiting} runs of this organization wait to be counted. Retry in ${seconds} seconds.`
        return yield* new UsageBehind({ message })
      })

      /** Names beyond the limit are not counted, so their usage is unknown and not zero. */
      const counted = Effect.fnUntraced(function* (org_id: string, name: string) {
        const { known, names } = yield* nameRow(sql`
          SELECT EXISTS (SELECT FROM usage_names WHERE org_id = ${org_id} AND name = ${name}) AS known,
                 (SELECT count(*) FROM usage_names WHERE org_id = ${org_id}) AS names`)
        if (!known && names >= namesMax) return yield* new NameNotCounted({ most: namesMax })
      })

      const read = Effect.fnUntraced(function* ({ org_id, from, to, groupings, after, limit }: UsageQuestion) {
        yield* timely(org_id)
        const label = groupings.find(isMetadataGrouping)?.slice(metadataPrefix.length) ?? null
        if (label !== null) yield* counted(org_id, label)
        const day = sql.literal(groupings.includes("day") ? ", d.day" : ", NULL::date AS day")
        const byDay = sql.literal(groupings.includes("day") ? ", d.day" : "")
        /** A label's value: null in the groups of all runs, from which labelled runs are taken away. */
        const [a, b] = Array.from({ length: groupingsMax }, (_, n) => {
          const grouping = groupings[n]
          const rolled =
            grouping === undefined ? "''" : isMetadataGrouping(grouping) ? "s.cell" : columnOf(grouping, "g")
          if (grouping === undefined) return { rolled: sql.literal("''"), waiting: sql.literal("''") }
          if (isMetadataGrouping(grouping))
            return { rolled: sql.literal(rolled), waiting: sql`coalesce('=' || (w.metadata ->> ${label}::text), '')` }
          const own = grouping === "day" ? "'=' || t.day::text" : rolled
          return { rolled: sql.literal(own), waiting: sql.literal(columnOf(grouping, "w")) }
        })
        const page =
          after === null ? sql.literal("") : sql`WHERE (a COLLATE "C", b COLLATE "C") > (${after[0]}, ${after[1]})`
        return yield* usageRows(sql`
          WITH t AS MATERIALIZED (
            SELECT d.name, d.group_id ${day}, sum(d.runs) AS runs, sum(d.charged) AS charged FROM usage_days d
            WHERE d.org_id = ${org_id} AND d.name IN ('', ${label ?? ""}) AND d.day >= ${from}::date AND d.day < ${to}::date
            GROUP BY d.name, d.group_id ${byDay}
          ), w AS (
            SELECT ${sql.literal(factColumns)} FROM (${waitingIds(sql, org_id)}) q
            JOIN runs r ON r.org_id = ${org_id} AND r.run_id = q.run_id ${sql.literal(settlement)}
            WHERE r.finished_at IS NOT NULL
          ), counted AS (
            SELECT ${a?.rolled} AS a, ${b?.rolled} AS b, g.status, s.sign * t.runs AS runs, s.sign * t.charged AS charged
            FROM t JOIN usage_groups g ON g.org_id = ${org_id} AND g.group_id = t.group_id
            CROSS JOIN LATERAL (
              SELECT 1 AS sign, CASE WHEN t.name = '' THEN '' ELSE coalesce('=' || g.value, '~') END AS cell
              UNION ALL SELECT -1, '' WHERE t.name <> '') s
            UNION ALL
            SELECT ${a?.waiting}, ${b?.waiting}, w.status, 1, w.charged FROM w WHERE w.day >= ${from}::date AND w.day < ${to}::date
          )
          SELECT a, b, sum(runs)::bigint AS runs, coalesce(sum(runs) FILTER (WHERE status = 'succeeded'), 0)::bigint AS succeeded,
                 coalesce(sum(runs) FILTER (WHERE status = 'no_match'), 0)::bigint AS no_match,
                 coalesce(sum(runs) FILTER (WHERE status NOT IN ('succeeded', 'no_match')), 0)::bigint AS failed,
                 sum(charged)::bigint AS charged
          FROM counted ${page} GROUP BY a, b HAVING sum(runs) > 0
          ORDER BY a COLLATE "C", b COLLATE "C" LIMIT ${limit}`)
      })

      return UsageStore.of({
        usage: (asked) =>
          sql.withTransaction(read(asked)).pipe(Effect.catchTag("SqlError", (error) => Effect.die(error)))
      })
    })
  )
}
