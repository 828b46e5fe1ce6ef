/**
 * What all runs that hold a phrase come to: the same facts as of a subject (HistoryStore.ts), from what the index knows of its runs. Pure.
 */
import type { FactRow } from "./HistoryStore.ts"
import { isLookupOf, type NoLookups, reusablesMax } from "./Lookups.ts"
import type { PhraseHit } from "./Phrases.ts"
import { touchCapabilities } from "../schema/History.ts"
import { inInput, inRecipients } from "../schema/words/Segment.ts"

const single = (tag: "touch" | "contact" | "reusable", hit: PhraseHit): FactRow => ({
  ...{ tag, status: hit.status, capability: hit.capability, endpoint: hit.endpoint, provider: hit.provider },
  ...{ run_id: hit.run_id, count: 1, charged: hit.charged, first_seen: hit.created_at, last_seen: hit.created_at }
})

const groupOf = (hits: ReadonlyArray<PhraseHit>, { status, capability, endpoint }: PhraseHit): FactRow => {
  const times = hits.map((hit) => hit.created_at.getTime())
  return {
    ...{ tag: "group", status, capability, endpoint, provider: null, run_id: null, count: hits.length },
    charged: hits.reduce((sum, hit) => sum + hit.charged, 0n),
    first_seen: new Date(times.reduce((a, b) => Math.min(a, b))),
    last_seen: new Date(times.reduce((a, b) => Math.max(a, b)))
  }
}

const isTouch = ({ status, capability }: PhraseHit) =>
  status === "succeeded" && capability !== null && touchCapabilities.includes(capability)

/** `hits` are the newest first. */
export const phraseFacts = (hits: ReadonlyArray<PhraseHit>, not: NoLookups): ReadonlyArray<FactRow> => {
  const groups = Map.groupBy(hits, (hit) => `${hit.status} ${hit.capability} ${hit.endpoint}`)
  const touch = hits.find(isTouch)
  const contact = hits.find((hit) => isTouch(hit) && (hit.flags & inRecipients) !== 0)
  const reusable = hits.filter((hit) => (hit.flags & inInput) !== 0 && isLookupOf(hit, not)).slice(0, reusablesMax)
  return [
    ...[...groups.values()].flatMap((same) => (same[0] === undefined ? [] : [groupOf(same, same[0])])),
    ...(touch === undefined ? [] : [single("touch", touch)]),
    ...(contact === undefined ? [] : [single("contact", contact)]),
    ...reusable.map((hit) => single("reusable", hit))
  ]
}
