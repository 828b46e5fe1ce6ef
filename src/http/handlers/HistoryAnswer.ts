/** Shows history matches and their summary on the wire. A run's input is sent as the stored text. */
import type { SubjectSummary, Group } from "../../layers/history/index/SubjectSummary.ts"
import { isLookup, type NoLookups } from "../../layers/history/index/Lookups.ts"
import type { MatchRow } from "../../layers/history/HistoryStore.ts"
import { channelOf, conclude, touchCapabilities } from "../../schema/runs/History.ts"
import { outcomeUnknown } from "../../schema/catalog/Doubt.ts"
import { usd } from "../../schema/money/Money.ts"
import type { HistoryReusable, HistoryRow, HistorySubject, HistoryTouch } from "../../schema/nouns/History.ts"
import { isFinal, isRunStatus } from "../../schema/runs/Run.ts"
import type { Run } from "../../schema/segments/Docs.ts"

type Touch = typeof HistoryTouch.Encoded
type Reusable = typeof HistoryReusable.Encoded

const itemText = (row: MatchRow): string => {
  const { run_id, status, kind, capability, endpoint, provider, matched } = row
  const charged = row.charged === null ? null : usd(row.charged)
  const created_at = row.created_at.toISOString()
  const head = JSON.stringify({ run_id, status, kind, capability, endpoint, provider, charged, created_at })
  return `${head.slice(0, -1)},"input":${row.input},"matched":${JSON.stringify(matched)}}`
}

const touchOf = (run_id: string, capability: string | null, status: string, at: Date): Touch | null => {
  const channel = channelOf(capability)
  if (channel === null || capability === null || !isRunStatus(status)) return null
  return { run_id, capability, channel, status, created_at: at.toISOString() }
}

const timeOf = (run: Run | null | undefined): string | null =>
  run === null || run === undefined ? null : new Date(run.created_at).toISOString()

/** The index has a status of its own for a failed run with an unknown outcome. */
const statusOf = (indexed: string): string => (indexed === outcomeUnknown ? "failed" : indexed)

const touched = (run: Run | null): Touch | null =>
  run === null ? null : touchOf(run.run_id, run.kind.capability, statusOf(run.kind.status), new Date(run.created_at))

const reusableOf = (run: Run): Reusable => ({
  run_id: run.run_id,
  capability: run.kind.capability,
  endpoint: run.kind.endpoint,
  provider: run.kind.provider,
  charged: usd(run.charged),
  created_at: new Date(run.created_at).toISOString()
})

const counted = (groups: ReadonlyArray<Group>, nameOf: (group: Group) => string) => {
  const counts: Record<string, number> = {}
  for (const group of groups) counts[nameOf(group)] = (counts[nameOf(group)] ?? 0) + group.count
  return counts
}

const sumOf = (groups: ReadonlyArray<Group>) => groups.reduce((sum, group) => sum + group.count, 0)

/** Whether a paid lookup returned the subject: its result names it, and its input doesn't. */
const isReturned = ({ matched, charged, refunded, ...kind }: MatchRow, excluded: NoLookups): boolean =>
  matched.in === "result" && matched.exact && !refunded && charged !== null && isLookup({ kind, charged }, excluded)

const returnedBy = (rows: ReadonlyArray<MatchRow>, excluded: NoLookups): Reusable | null => {
  const row = rows.find((one) => isReturned(one, excluded))
  if (row === undefined || row.charged === null) return null
  const { run_id, capability, endpoint, provider, charged, created_at } = row
  return { run_id, capability, endpoint, provider, charged: usd(charged), created_at: created_at.toISOString() }
}

/** `rows` are the newest matches, up to `limit`. `excluded` are runs that are no lookups. */
export const historyText = (
  subject: typeof HistorySubject.Encoded,
  {
    rows,
    limit: requested,
    cut,
    summary,
    excluded
  }: {
    readonly rows: ReadonlyArray<MatchRow>
    readonly limit: number
    readonly cut: boolean
    readonly summary: SubjectSummary
    readonly excluded: NoLookups
  }
): string => {
  const { count } = summary
  const groups = summary.groups.map((group) => ({ ...group, status: statusOf(group.status) }))
  const limit = cut ? rows.length : requested
  const truncated = count > limit
  const touches = rows.flatMap((row) => touchOf(row.run_id, row.capability, row.status, row.created_at) ?? [])
  const last_touch = touched(summary.touch)
  const last_contact = touched(summary.contact)
  const last_unknown = touched(summary.unknown)
  const reusable = summary.reusable.map(reusableOf)
  const isOver = (status: string) => isRunStatus(status) && isFinal(status)
  const in_flight = sumOf(groups.filter((group) => !isOver(group.status)))
  const failed_touches = sumOf(
    groups.filter(
      ({ capability, status }) =>
        isOver(status) && status !== "succeeded" && touchCapabilities.includes(capability ?? "")
    )
  )
  const fields = {
    touches,
    last_touch,
    contacted: last_contact !== null,
    last_contact,
    ...(last_unknown === null ? {} : { last_unknown }),
    reusable,
    count,
    by_status: counted(groups, (group) => group.status),
    by_capability: counted(groups, (group) => group.capability ?? group.endpoint ?? ""),
    charged: usd(groups.reduce((sum, group) => sum + group.charged, 0n)),
    currency: "USD",
    first_seen: timeOf(summary.oldest),
    last_seen: timeOf(summary.newest[0]?.run),
    truncated,
    hints: conclude({
      count,
      truncated,
      limit,
      cut,
      last_touch,
      last_contact,
      last_unknown,
      reusable: reusable[0] ?? null,
      returned_by: returnedBy(rows, excluded),
      failed_touches,
      in_flight
    })
  }
  const texts = rows.map(itemText).join(",")
  return `{"subject":${JSON.stringify(subject)},"items":[${texts}],${JSON.stringify(fields).slice(1)}`
}

type RowView = Omit<typeof HistoryRow.Encoded, "query" | "kind" | "normalized" | "error">

/** The row of a subject that no run mentions. */
export const unseen: RowView = {
  seen: false,
  count: 0,
  last_seen: null,
  contacted: false,
  last_touch: null,
  last_contact: null,
  reusable: null
}

/** The row of a subject in a batch, from the same summary as the view of a single subject. */
export const batchView = ({ count, newest, touch, contact, unknown, reusable }: SubjectSummary): RowView => {
  if (count === 0) return unseen
  const [again] = reusable
  const last_unknown = touched(unknown)
  return {
    seen: true,
    count,
    last_seen: timeOf(newest[0]?.run),
    contacted: contact !== null,
    last_touch: touched(touch),
    last_contact: touched(contact),
    ...(last_unknown === null ? {} : { last_unknown }),
    reusable: again === undefined ? null : reusableOf(again)
  }
}
