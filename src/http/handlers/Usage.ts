/** `GET /v1/usage`: reads the question, asks the store, and shows groups as JSON or CSV. Pages continue after the last group. */
import { Clock, Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import type { UsageRow } from "../../layers/usage/UsageStore.ts"
import { notACursor, problem, refused } from "../../schema/Errors.ts"
import { MicroUsd, usd } from "../../schema/money/Money.ts"
import { dayAt, dayMillis, type Zones } from "../../schema/money/SpendDay.ts"
import { firstDayOf, lastDayOf } from "../../schema/Period.ts"
import { cellOf, type Grouping, groupingsOf } from "../../schema/usage/Usage.ts"
import { Api } from "../api/Api.ts"
import type { UsageItem } from "../api/Usage.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { cut } from "./ListPage.ts"
import { csvAnswer, wantsCsv } from "./CsvPage.ts"

const daysDefault = 30
/** Bounds what a question reads. */
const daysMax = 400

const dateOf = (number: number) => new Date(number * dayMillis).toISOString().slice(0, 10)
const numberOf = (day: string) => Math.floor(Date.parse(day) / dayMillis)

/** Whole days of the organization's time zone that contain the period. */
const daysOf = Effect.fnUntraced(function* (from: string | undefined, to: string | undefined, zones: Zones) {
  const last = numberOf(to === undefined ? dayAt(yield* Clock.currentTimeMillis, zones) : lastDayOf(to, zones))
  const first = from === undefined ? last - daysDefault + 1 : numberOf(firstDayOf(from, zones))
  if (first > last) return yield* refused(to === undefined ? "query.from" : "query.to", "must leave at least one day")
  if (last - first >= daysMax) return yield* refused("query.from", `must be at most ${daysMax} days before to`)
  return { from: dateOf(first), to: dateOf(last + 1) }
})

const Cursor = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String]))
const decodeCursor = Schema.decodeUnknownOption(Cursor)
const cursorOf = ({ a, b }: UsageRow) => Buffer.from(JSON.stringify([a, b])).toString("base64url")

const afterOf = (cursor: string | null) => {
  if (cursor === null) return Effect.succeed(null)
  const decoded = decodeCursor(Buffer.from(cursor, "base64url").toString("utf8"))
  return decoded._tag === "Some" && !decoded.value.some((one) => one.includes("\0"))
    ? Effect.succeed(decoded.value)
    : notACursor
}

const amountOf = (row: UsageRow) => usd(MicroUsd(row.charged))

const itemOf =
  (groupings: ReadonlyArray<Grouping>) =>
  (row: UsageRow): UsageItem => {
    const cells = groupings.map((grouping, n) => [grouping, cellOf(n === 0 ? row.a : row.b)] as const)
    return {
      ...Object.fromEntries(cells.map(([grouping, { value }]) => [grouping, value])),
      ...(cells.some(([, { others }]) => others) ? { others: true as const } : {}),
      runs: Number(row.runs),
      succeeded: Number(row.succeeded),
      no_match: Number(row.no_match),
      failed: Number(row.failed),
      charged: amountOf(row)
    }
  }

interface Saved {
  readonly day: string
  readonly runs: bigint
  readonly saved: bigint
}

const reusedOf = (days: ReadonlyArray<Saved>) => ({
  runs: Number(days.reduce((sum, { runs }) => sum + runs, 0n)),
  saved: usd(MicroUsd(days.reduce((sum, { saved }) => sum + saved, 0n)))
})

const counts = ["runs", "succeeded", "no_match", "failed", "charged"]
/** Null `savings`: what reuse saved is not known by these groups. */
const cellsOf = (groupings: ReadonlyArray<Grouping>, savings: ReadonlyArray<Saved> | null) => (row: UsageRow) => {
  const groups = groupings.map((_, n) => {
    const { value, others } = cellOf(n === 0 ? row.a : row.b)
    return others ? "(others)" : value
  })
  const reused =
    savings === null ? null : reusedOf(savings.filter(({ day }) => groups.length === 0 || groups[0] === day))
  return [
    ...groups,
    ...[row.runs, row.succeeded, row.no_match, row.failed].map(Number),
    amountOf(row),
    ...(reused === null ? [] : [reused.runs, reused.saved])
  ]
}

export const UsageHandlers = HttpApiBuilder.group(
  Api,
  "usage",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* Reads
    const guards = yield* GuardStore
    const books = yield* Books
    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ query }) {
        const { org_id, access } = yield* CurrentCaller
        const keys = access?.reads ?? null
        // What reuse saved is counted for the organization.
        const saved = (days: { readonly from: string; readonly to: string }) =>
          keys === null ? guards.saved(org_id, days.from, days.to) : Effect.succeed([])
        const groupings = groupingsOf(query.group_by ?? "")
        if (typeof groupings === "string") return yield* refused("query.group_by", groupings)
        const days = yield* daysOf(query.from, query.to, yield* books.zones(org_id))
        const { limit = null, cursor = null } = query
        const page = Effect.fnUntraced(
          function* (cursor: string | null, limit: number) {
            const after = yield* afterOf(cursor)
            const rows = yield* reads.usage({ org_id, ...days, groupings, keys, after, limit: limit + 1 })
            return cut(rows, limit, cursorOf)
          },
          Effect.catchTags({
            UsageBehind: ({ message }) => Effect.fail(problem("service_unavailable", message)),
            NameNotCounted: ({ most }) =>
              refused("query.group_by", `names metadata that is not counted: only the first ${most} names are`)
          })
        )
        if (yield* wantsCsv) {
          const byDay = groupings.every((one) => one === "day")
          const savings = byDay ? yield* saved(days) : null
          const columns = [...groupings, ...counts, ...(byDay ? ["reused", "saved"] : [])]
          return yield* csvAnswer({
            name: "usage.csv",
            columns,
            cells: cellsOf(groupings, savings),
            limit,
            cursor,
            page
          })
        }
        const { rows, next } = yield* page(cursor, limit ?? listLimitDefault)
        const savings = yield* saved(days)
        return {
          items: rows.map(itemOf(groupings)),
          ...(savings.length === 0 ? {} : { reused: reusedOf(savings) }),
          next_cursor: next
        }
      })
    })
  })
)
