/**
 * Matches and facts as the wire shows them. A run's input goes out as the text that it is stored as.
 */
import type { BatchRow, FactRow, MatchRow } from "../layers/HistoryStore.ts"
import { channelOf, conclude, type Reusable, type Touch, touchCapabilities } from "../schema/History.ts"
import { parsedOrText } from "../schema/Json.ts"
import { usd } from "../schema/Money.ts"
import { isFinal, isRunStatus } from "../schema/Run.ts"
import { findPhrase } from "../schema/subjects/Extract.ts"

export interface SubjectView {
  readonly query: string
  readonly kind: string
  readonly normalized: string
}

/** Where a phrase stands: in the input if it does, unless only the result names it exactly. */
const phrasePlace = ({ input, result }: MatchRow, phrase: string) => {
  const inInput = findPhrase(parsedOrText(input), phrase)
  if (inInput?.exact === true || result === null) return { in: "input", path: "", exact: false, ...inInput }
  const inResult = findPhrase(parsedOrText(result), phrase)
  if (inResult !== null && (inInput === null || inResult.exact)) return { in: "result", ...inResult }
  return { in: inInput === null ? "result" : "input", path: "", exact: false, ...inInput }
}

const matchedOf = (row: MatchRow, normalized: string) =>
  row.best === null
    ? phrasePlace(row, normalized)
    : { in: row.best[1] === "0" ? "input" : "result", path: row.best.slice(2), exact: row.best[0] === "0" }

const itemText = (row: MatchRow, normalized: string): string => {
  const { run_id, status, kind, capability, endpoint, provider } = row
  const charged = row.charged === null ? null : usd(row.charged)
  const created_at = row.created_at.toISOString()
  const head = JSON.stringify({ run_id, status, kind, capability, endpoint, provider, charged, created_at })
  return `${head.slice(0, -1)},"input":${row.input},"matched":${JSON.stringify(matchedOf(row, normalized))}}`
}

const touchOf = (run_id: string, capability: string | null, status: string, at: Date): Touch | null => {
  const channel = channelOf(capability)
  if (channel === null || capability === null || !isRunStatus(status)) return null
  return { run_id, capability, channel, status, created_at: at.toISOString() }
}

const reusableOf = (row: FactRow): Reusable => ({
  run_id: row.run_id ?? "",
  capability: row.capability,
  endpoint: row.endpoint,
  provider: row.provider,
  charged: usd(row.charged),
  created_at: row.first_seen.toISOString()
})

const counted = (groups: ReadonlyArray<FactRow>, nameOf: (group: FactRow) => string) => {
  const counts: Record<string, number> = {}
  for (const group of groups) counts[nameOf(group)] = (counts[nameOf(group)] ?? 0) + group.count
  return counts
}

const times = (groups: ReadonlyArray<FactRow>, pick: (group: FactRow) => Date) =>
  groups.map((group) => pick(group).toISOString()).toSorted()

const lastOf = (facts: ReadonlyArray<FactRow>, tag: "touch" | "contact"): Touch | null => {
  const found = facts.find((fact) => fact.tag === tag)
  return found === undefined ? null : touchOf(found.run_id ?? "", found.capability, found.status, found.first_seen)
}

const sumOf = (groups: ReadonlyArray<FactRow>) => groups.reduce((sum, group) => sum + group.count, 0)

/** `rows` holds one more than `limit` when there are more. */
export const historyText = (
  subject: SubjectView,
  rows: ReadonlyArray<MatchRow>,
  facts: ReadonlyArray<FactRow>,
  limit: number
): string => {
  const items = rows.slice(0, limit)
  const truncated = rows.length > limit
  const groups = facts.filter((fact) => fact.tag === "group")
  const touches = items.flatMap((row) => touchOf(row.run_id, row.capability, row.status, row.created_at) ?? [])
  const last_touch = lastOf(facts, "touch")
  const last_contact = lastOf(facts, "contact")
  const reusable = facts.filter((fact) => fact.tag === "reusable").map(reusableOf)
  const count = sumOf(groups)
  const over = (status: string) => isRunStatus(status) && isFinal(status)
  const in_flight = sumOf(groups.filter((group) => !over(group.status)))
  const failed_touches = sumOf(
    groups.filter(
      ({ capability, status }) => over(status) && status !== "succeeded" && touchCapabilities.includes(capability ?? "")
    )
  )
  const summary = {
    touches,
    last_touch,
    contacted: last_contact !== null,
    last_contact,
    reusable,
    count,
    by_status: counted(groups, (group) => group.status),
    by_capability: counted(groups, (group) => group.capability ?? group.endpoint ?? ""),
    charged: usd(groups.reduce((sum, group) => sum + group.charged, 0n)),
    currency: "USD",
    first_seen: times(groups, (group) => group.first_seen)[0] ?? null,
    last_seen: times(groups, (group) => group.last_seen).at(-1) ?? null,
    truncated,
    hints: conclude({
      count,
      truncated,
      limit,
      last_touch,
      last_contact,
      reusable: reusable[0] ?? null,
      failed_touches,
      in_flight
    })
  }
  const texts = items.map((row) => itemText(row, subject.normalized)).join(",")
  return `{"subject":${JSON.stringify(subject)},"items":[${texts}],${JSON.stringify(summary).slice(1)}`
}

export interface RowView {
  readonly seen: boolean
  readonly count: number
  readonly last_seen: string | null
  readonly contacted: boolean
  readonly last_touch: Touch | null
  readonly last_contact: Touch | null
  readonly reusable: Reusable | null
}

/** A subject that is on record nowhere. */
export const unseen: RowView = {
  seen: false,
  count: 0,
  last_seen: null,
  contacted: false,
  last_touch: null,
  last_contact: null,
  reusable: null
}

/** What a batch says of a phrase, from the same facts as the view of one. */
export const phraseView = (facts: ReadonlyArray<FactRow>): RowView => {
  const groups = facts.filter((fact) => fact.tag === "group")
  const count = sumOf(groups)
  if (count === 0) return unseen
  const last_touch = lastOf(facts, "touch")
  const last_contact = lastOf(facts, "contact")
  const [reusable = null] = facts.filter((fact) => fact.tag === "reusable").map(reusableOf)
  const last_seen = times(groups, (group) => group.last_seen).at(-1) ?? null
  return { seen: true, count, last_seen, contacted: last_contact !== null, last_touch, last_contact, reusable }
}

export const batchView = (row: BatchRow): RowView => {
  const succeeded = (run_id: string | null, capability: string | null, at: Date | null) =>
    run_id === null || at === null ? null : touchOf(run_id, capability, "succeeded", at)
  const last_touch = succeeded(row.touch_id, row.touch_capability, row.touch_at)
  const last_contact = succeeded(row.contact_id, row.contact_capability, row.contact_at)
  const reusable: Reusable | null =
    row.reusable_id === null || row.reusable_at === null
      ? null
      : {
          run_id: row.reusable_id,
          capability: row.reusable_capability,
          endpoint: row.reusable_endpoint,
          provider: row.reusable_provider,
          charged: usd(row.reusable_charged ?? 0n),
          created_at: row.reusable_at.toISOString()
        }
  const { count, last_seen } = row
  const contacted = last_contact !== null
  return { seen: true, count, last_seen: last_seen.toISOString(), contacted, last_touch, last_contact, reusable }
}
