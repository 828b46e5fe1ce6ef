/**
 * What all runs that hold a phrase come to: the same facts as of a subject (HistoryStore.ts), from what the index knows of its runs. Pure.
 */
import type { FactRow } from "./HistoryStore.ts"
import { isLookupOf, type NoLookups, reusablesMax } from "./Lookups.ts"
import type { PhraseHit } from "./Phrases.ts"
import { touchCapabilities } from "../schema/History.ts"
import type { Kind } from "../schema/words/Docs.ts"
import { inInput, inRecipients } from "../schema/words/Segment.ts"

const single = (tag: "touch" | "contact" | "reusable", { run_id, kind, charged, created_at }: PhraseHit): FactRow => {
  const at = new Date(created_at)
  return { tag, ...kind, run_id, count: 1, charged, first_seen: at, last_seen: at }
}

interface Sum {
  count: number
  charged: bigint
  first: number
  last: number
}

const added = (sum: Sum | undefined, { count, charged, first, last }: Sum): Sum =>
  sum === undefined
    ? { count, charged, first, last }
    : {
        count: sum.count + count,
        charged: sum.charged + charged,
        first: Math.min(sum.first, first),
        last: Math.max(sum.last, last)
      }

/** A word may be in a hundred thousand runs: those of a kind are added up before kinds are compared. */
const sums = (hits: ReadonlyArray<PhraseHit>): ReadonlyMap<Kind, Sum> => {
  const of = new Map<Kind, Sum>()
  for (const { kind, charged, created_at } of hits) {
    const sum = of.get(kind)
    if (sum === undefined) of.set(kind, { count: 1, charged, first: created_at, last: created_at })
    else {
      sum.count += 1
      sum.charged += charged
      if (created_at < sum.first) sum.first = created_at
      if (created_at > sum.last) sum.last = created_at
    }
  }
  return of
}

const groups = (hits: ReadonlyArray<PhraseHit>): ReadonlyArray<FactRow> => {
  const all = new Map<string, { readonly kind: Kind; readonly sum: Sum }>()
  for (const [kind, sum] of sums(hits)) {
    const name = JSON.stringify([kind.status, kind.capability, kind.endpoint])
    all.set(name, { kind, sum: added(all.get(name)?.sum, sum) })
  }
  return Array.from(
    all.values(),
    ({ kind: { status, capability, endpoint }, sum: { count, charged, first, last } }) => ({
      ...{ tag: "group", status, capability, endpoint, provider: null, run_id: null, count, charged },
      ...{ first_seen: new Date(first), last_seen: new Date(last) }
    })
  )
}

const isTouch = ({ kind: { status, capability } }: PhraseHit) =>
  status === "succeeded" && capability !== null && touchCapabilities.includes(capability)

/** The newest, so many; what is behind them is not looked at. */
const newest = (hits: ReadonlyArray<PhraseHit>, limit: number, is: (hit: PhraseHit) => boolean) => {
  const found: Array<PhraseHit> = []
  for (const hit of hits) {
    if (found.length >= limit) break
    if (is(hit)) found.push(hit)
  }
  return found
}

/** `hits` are the newest first. */
export const phraseFacts = (hits: ReadonlyArray<PhraseHit>, not: NoLookups): ReadonlyArray<FactRow> => {
  const wentTo = (hit: PhraseHit) => isTouch(hit) && (hit.flags & inRecipients) !== 0
  const bought = (hit: PhraseHit) =>
    (hit.flags & inInput) !== 0 && isLookupOf({ ...hit.kind, charged: hit.charged }, not)
  return [
    ...groups(hits),
    ...newest(hits, 1, isTouch).map((hit) => single("touch", hit)),
    ...newest(hits, 1, wentTo).map((hit) => single("contact", hit)),
    ...newest(hits, reusablesMax, bought).map((hit) => single("reusable", hit))
  ]
}
