/**
 * Answers `GET /v1/usage`: the rollups of an organization, and the finished runs that are not in them yet.
 *
 * Both are read in one statement, so every run counts exactly once in every answer, from the moment at which it ends.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { oneBigint, oneRowOf, rowsOf, texts } from "../postgres/Rows.ts"
import { type Grouping, groupingsMax, isMetadataGrouping } from "../../schema/usage/Usage.ts"
import { metadataPrefix } from "../../schema/runs/Metadata.ts"
import { namesMax } from "./Counted.ts"
import { factColumns, waitingIds } from "./Facts.ts"

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
  /** Only runs that these API keys started. Null: all. */
  readonly keys: ReadonlyArray<string> | null
  /** Only groups after these values. */
  readonly after: readonly [string, string] | null
  readonly limit: number
}

const nameRow = oneRowOf({ stored: Schema.Boolean, names: Schema.BigInt })

/** The statements join tables of some thousand rows, for which the plans of single rows are slow. A bitmap scan takes two thirds of an index scan's time. */
const planned = `set_config('enable_hashjoin', 'on', true), set_config('enable_bitmapscan', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true)`

/** SQL of a value as text: see `cellOf`. */
const cellSql = (column: string) => `CASE WHEN ${column} IS NULL THEN '' ELSE '=' || ${column} END`
const columnOf = (grouping: Grouping): string => (grouping === "key" ? "key_id" : grouping)

/** What `usage_sums` is summed by besides day and status. Empty: all runs. */
const dimensions = ["", "capability", "provider", "key", "endpoint"] as const

/** The dimension whose sums have these groups. Null: only the rollups have them. */
const dimensionOf = (groupings: ReadonlyArray<Grouping>): (typeof dimensions)[number] | null => {
  const others = groupings.filter((one) => one !== "day" && one !== "status" && !isMetadataGrouping(one))
  return others.length > 1 ? null : (dimensions.find((one) => one === (others[0] ?? "")) ?? null)
}

type Fragment = Statement.Statement<unknown> | ReturnType<SqlClient.SqlClient["literal"]>

export class UsageStore extends Context.Service<
  UsageStore,
  { readonly usage: (question: UsageQuestion) => Effect.Effect<ReadonlyArray<UsageRow>, UsageBehind | NameNotCounted> }
>()("rungate/layers/usage/UsageStore") {
  static readonly layer = Layer.effect(
    UsageStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** Fails if too many runs wait. */
      const timely = Effect.fnUntraced(function* (org_id: string) {
        const waiting = yield* oneBigint(sql`
          SELECT coalesce(sum(runs), 0)::bigint AS waiting, ${sql.literal(planned)}
          FROM (
            SELECT runs FROM history_queue WHERE org_id = ${org_id} AND NOT counted
            UNION ALL SELECT runs FROM usage_queue WHERE org_id = ${org_id}) w`)
        if (waiting <= waitingMax) return
        const seconds = Math.ceil(Number(waiting) / countedPerSecond)
        const message = `${waiting} runs of this organization wait to be counted. Retry in ${seconds} seconds.`
        return yield* new UsageBehind({ message })
      })

      /** Names beyond the limit are not counted, so their usage is unknown and not zero. */
      const counted = Effect.fnUntraced(function* (org_id: string, name: string) {
        const { stored, names } = yield* nameRow(sql`
          SELECT EXISTS (SELECT FROM usage_names WHERE org_id = ${org_id} AND name = ${name}) AS stored,
                 (SELECT count(*) FROM usage_names WHERE org_id = ${org_id}) AS names`)
        if (!stored && names >= namesMax) return yield* new NameNotCounted({ most: namesMax })
      })

      /** The columns `a` and `b` of rows: `own` is SQL of the label's value there. */
      const cellsOf = (groupings: ReadonlyArray<Grouping>, row: string, day: string, own: Fragment) => {
        const [a, b] = Array.from({ length: groupingsMax }, (_, n) => {
          const grouping = groupings[n]
          if (grouping === undefined) return sql.literal("''")
          if (isMetadataGrouping(grouping)) return own
          return sql.literal(grouping === "day" ? `'=' || ${day}.day::text` : cellSql(`${row}.${columnOf(grouping)}`))
        })
        return sql`${a} AS a, ${b} AS b`
      }

      /** All runs of the period from the sums of one dimension. */
      const summedBy = (dimension: string, { org_id, from, to, groupings }: UsageQuestion) => {
        const [a, b] = Array.from({ length: groupingsMax }, (_, n) => {
          const grouping = groupings[n]
          if (grouping === undefined || isMetadataGrouping(grouping)) return "''"
          if (grouping === "day") return "'=' || s.day::text"
          return grouping === "status" ? "'=' || s.status" : "s.value"
        })
        const columns = groupings.map((grouping) =>
          grouping === "day" ? "s.day, " : grouping === dimension ? "s.value, " : ""
        )
        return sql`
          SELECT ${sql.literal(`${a} AS a, ${b} AS b`)}, s.status, sum(s.runs)::bigint AS runs, sum(s.charged)::bigint AS charged
          FROM usage_sums s
          WHERE s.org_id = ${org_id} AND s.dimension = ${dimension} AND s.day >= ${from}::date AND s.day < ${to}::date
          GROUP BY ${sql.literal(columns.join(""))} s.status`
      }

      const read = Effect.fnUntraced(function* (question: UsageQuestion) {
        const { org_id, from, to, groupings, keys, after, limit } = question
        const ofKeys = (column: string) =>
          keys === null ? sql.literal("true") : sql`${sql.literal(column)} = ANY(${texts(keys)})`
        // The sums of a day are of all keys.
        const dimension = keys === null ? dimensionOf(groupings) : null
        yield* timely(org_id)
        const label = groupings.find(isMetadataGrouping)?.slice(metadataPrefix.length) ?? null
        if (label !== null) yield* counted(org_id, label)
        const none = sql.literal("''")
        const period = sql`d.org_id = ${org_id} AND d.day >= ${from}::date AND d.day < ${to}::date`
        // Sums of bigint are numeric, which is slow to add up again.
        const daysOf = (name: string) =>
          groupings.includes("day")
            ? sql`SELECT d.day, d.group_id, d.runs, d.charged FROM usage_days d WHERE ${period} AND d.name = ${name}`
            : sql`SELECT d.group_id, sum(d.runs)::bigint AS runs, sum(d.charged)::bigint AS charged FROM usage_days d
                  WHERE ${period} AND d.name = ${name} GROUP BY d.group_id`
        // Added up by columns first, because building texts for every row would take most of the time.
        const columns = groupings.map((grouping) =>
          grouping === "day" ? "t.day, " : isMetadataGrouping(grouping) ? "" : `g.${columnOf(grouping)}, `
        )
        const rolled = (days: Fragment, sign: 1 | -1, own: Fragment, value: string) => sql`
          SELECT ${cellsOf(groupings, "g", "t", own)}, g.status, (${sql.literal(String(sign))} * sum(t.runs))::bigint AS runs,
                 (${sql.literal(String(sign))} * sum(t.charged))::bigint AS charged
          FROM ${days} t JOIN usage_groups g ON g.org_id = ${org_id} AND g.group_id = t.group_id
          WHERE ${ofKeys("g.key_id")} GROUP BY ${sql.literal(columns.join(""))} ${sql.literal(value)} g.status`
        // Runs without the label are all runs less those with it.
        const labelled =
          label === null
            ? sql.literal("")
            : sql`UNION ALL ${rolled(sql.literal("labelled"), 1, sql.literal("coalesce('=' || g.value, '~')"), "g.value,")}
                  UNION ALL ${rolled(sql.literal("labelled"), -1, none, "")}`
        const waitingValue = sql`coalesce('=' || (w.metadata ->> ${label}::text), '')`
        const page =
          after === null ? sql.literal("") : sql`WHERE (a COLLATE "C", b COLLATE "C") > (${after[0]}, ${after[1]})`
        return yield* usageRows(sql`
          WITH ${label === null ? sql.literal("") : sql`labelled AS MATERIALIZED (${daysOf(label)}),`} w AS (
            SELECT ${sql.literal(factColumns)} FROM (${waitingIds(sql, org_id)}) q
            JOIN runs r ON r.org_id = ${org_id} AND r.run_id = q.run_id
            WHERE r.finished_at IS NOT NULL AND ${ofKeys("r.key_id")}
          ), counted AS (
            ${dimension === null ? rolled(sql`(${daysOf("")})`, 1, none, "") : summedBy(dimension, question)} ${labelled}
            UNION ALL
            SELECT ${cellsOf(groupings, "w", "w", waitingValue)}, w.status, 1, w.charged FROM w WHERE w.day >= ${from}::date AND w.day < ${to}::date
          )
          SELECT a, b, sum(runs)::bigint AS runs, coalesce(sum(runs) FILTER (WHERE status = 'succeeded'), 0)::bigint AS succeeded,
                 coalesce(sum(runs) FILTER (WHERE status = 'no_match'), 0)::bigint AS no_match,
                 coalesce(sum(runs) FILTER (WHERE status NOT IN ('succeeded', 'no_match')), 0)::bigint AS failed,
                 sum(charged)::bigint AS charged
          FROM counted ${page} GROUP BY a, b HAVING sum(runs) > 0
          ORDER BY a COLLATE "C", b COLLATE "C" LIMIT ${limit}`)
      })

      return UsageStore.of({
        usage: (question) =>
          sql.withTransaction(read(question)).pipe(Effect.catchTag("SqlError", (error) => Effect.die(error)))
      })
    })
  )
}
