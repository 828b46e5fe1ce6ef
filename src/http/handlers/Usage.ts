/** `GET /v1/usage`: reads the question, asks the store, and shows groups as JSON or CSV. Pages continue after the last group. */
import { Clock, Effect, Schema } from "effect"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import type { UsageRow } from "../../layers/usage/UsageStore.ts"
import { notACursor, refused, refusedWith } from "../../schema/Errors.ts"
import { columnsOf } from "../../schema/Columns.ts"
import { dayAt, dayMillis, type Zones } from "../../schema/money/SpendDay.ts"
import { firstDayOf, lastDayOf } from "../../schema/Period.ts"
import { Reused, UsageItem } from "../../schema/nouns/Usage.ts"
import { cellOf, type Grouping, groupingsOf, isMetadataGrouping } from "../../schema/usage/Usage.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { cut } from "./ListPage.ts"
import { pageOrCsv } from "./CsvPage.ts"

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

/** A row of one grouping is none of another, so a cursor has the grouping too. */
const Cursor = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const decodeCursor = Schema.decodeUnknownOption(Cursor)
const cursorOf = (grouped: string) => (row: UsageRow) =>
  Buffer.from(JSON.stringify([grouped, row.a, row.b])).toString("base64url")

const afterOf = Effect.fnUntraced(function* (cursor: string | null, grouped: string) {
  if (cursor === null) return null
  const decoded = decodeCursor(Buffer.from(cursor, "base64url").toString("utf8"))
  if (decoded._tag === "None") return yield* notACursor
  const [of, a, b] = decoded.value
  return of !== grouped || `${a}${b}`.includes("\0") ? yield* notACursor : ([a, b] as const)
})

const itemJson = Schema.encodeSync(UsageItem)
const itemOf =
  (groupings: ReadonlyArray<Grouping>) =>
  ({ a, b, ...counts }: UsageRow) => {
    const cells = groupings.map((grouping, n) => [grouping, cellOf(n === 0 ? a : b)] as const)
    return itemJson({
      ...Object.fromEntries(cells.map(([grouping, { value }]) => [grouping, value])),
      ...(cells.some(([, { others }]) => others) ? { others: true as const } : {}),
      ...counts
    })
  }

type Saved = Effect.Success<ReturnType<GuardStore["Service"]["saved"]>>[number]

const reusedJson = Schema.encodeSync(Reused)
const reusedOf = (days: ReadonlyArray<Saved>) =>
  reusedJson({
    runs: days.reduce((sum, { runs }) => sum + runs, 0n),
    saved: days.reduce((sum, { saved }) => sum + saved, 0n)
  })

const counts = columnsOf(UsageItem).list.map(({ name }) => name)
/** Null `savings`: what reuse saved is not known by these groups. */
const cellsOf = (groupings: ReadonlyArray<Grouping>, savings: ReadonlyArray<Saved> | null) => {
  const shown = itemOf(groupings)
  return (row: UsageRow) => {
    const { others: isOthers, ...item } = shown(row)
    const others =
      isOthers === true ? Object.fromEntries(groupings.filter(isMetadataGrouping).map((one) => [one, "(others)"])) : {}
    const reused = savings === null ? null : reusedOf(savings.filter(({ day }) => (item.day ?? day) === day))
    return { ...item, ...others, ...(reused === null ? {} : { reused: reused.runs, saved: reused.saved }) }
  }
}

export const UsageHandlers = group(
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
        const grouped = groupings.join()
        const page = Effect.fnUntraced(
          function* (cursor: string | null, limit: number) {
            const after = yield* afterOf(cursor, grouped)
            const rows = yield* reads.usage({ org_id, ...days, groupings, keys, after, limit: limit + 1 })
            return cut(rows, limit, cursorOf(grouped))
          },
          Effect.catchTags({
            UsageBehind: ({ message }) => refusedWith("service_unavailable", message),
            NameNotCounted: ({ most }) =>
              refused("query.group_by", `names metadata that is not counted: only the first ${most} names are`)
          })
        )
        const savings = yield* saved(days)
        const byDay = groupings.every((one) => one === "day")
        const columns = [...groupings, ...counts, ...(byDay ? ["reused", "saved"] : [])]
        const cells = cellsOf(groupings, byDay ? savings : null)
        const answer = yield* pageOrCsv({ name: "usage.csv", columns, cells, query, page })
        if (!("rows" in answer)) return answer
        return {
          items: answer.rows.map(itemOf(groupings)),
          ...(savings.length === 0 ? {} : { reused: reusedOf(savings) }),
          next_cursor: answer.next
        }
      })
    })
  })
)
