/**
 * The ranking rules of discover: which of the scored documents are shown, and in which order.
 *
 * 1. The base is the BM25F score.
 * 2. A capability outranks an endpoint of equal relevance: its score is multiplied by `capabilityFactor`.
 * 3. Live outranks not-yet-live: the score of a document that is not live is multiplied by `notLiveFactor`. This takes away more than
 *    rule 2 gives, so a live endpoint comes before an equally relevant capability that is coming soon. What fits much better comes first
 *    even if it is not live.
 * 4. A live capability that wraps an endpoint always ranks above it: its score is raised to the endpoint's, even when it
 *    matched nothing itself, and of equal scores capabilities come first.
 * 5. The capabilities that fit best give `wrappedFactor` of their score to the endpoints that they wrap. So these endpoints are
 *    found even if their provider uses other words. This does not apply to a query that names a provider, because it
 *    wants that provider's own endpoint.
 * 6. An endpoint that follows up on another call's answer ("/batch/{id}/errors") comes after an equally relevant one that
 *    does not: its score is multiplied by `followUpFactor`.
 * 7. Equal scores, as they are shown: capabilities, then live ones, then by the relevance before rule 4, then by slug, then by position.
 */
import type { SearchDocument } from "./Document.ts"

export const capabilityFactor = 1.4
export const notLiveFactor = 0.7
export const followUpFactor = 0.9
export const wrappedFactor = 0.25
/** Rule 5 applies to capabilities with at least this share of the best capability's score. */
export const bestFitShare = 0.85

export interface Ranked {
  readonly id: number
  readonly score: number
  /** The score before rule 4. */
  readonly own: number
}

/** Whether an endpoint reads an object by its id or deletes it, so it is of little use before the call that created the object. */
const isFollowUp = ({ slug, method }: SearchDocument): boolean =>
  method === "DELETE" || /\{[a-z_]*(?:id|hash)\}|\/result$/i.test(slug)

export const factorOf = (document: SearchDocument): number => {
  const { kind, live } = document
  const relevance = kind === "capability" ? capabilityFactor : isFollowUp(document) ? followUpFactor : 1
  return relevance * (live ? 1 : notLiveFactor)
}

/** Negative when `a` comes first. */
export const orderOf =
  (documents: ReadonlyArray<SearchDocument>) =>
  (a: Ranked, b: Ranked): number => {
    if (a.score !== b.score) return b.score - a.score
    const one = documents[a.id]
    const other = documents[b.id]
    if (one === undefined || other === undefined) return a.id - b.id
    if (one.kind !== other.kind) return one.kind === "capability" ? -1 : 1
    if (one.live !== other.live) return one.live ? -1 : 1
    if (a.own !== b.own) return b.own - a.own
    if (one.slug !== other.slug) return one.slug < other.slug ? -1 : 1
    return a.id - b.id
  }

/** Collects the best `limit` documents, in order. */
export const best = (limit: number, order: (a: Ranked, b: Ranked) => number) => {
  const kept: Array<Ranked> = []
  return {
    /** Documents below this score are not kept any more. */
    floor: () => (kept.length < limit ? 0 : (kept[kept.length - 1]?.score ?? 0)),
    add: (one: Ranked) => {
      if (kept.length >= limit) {
        const last = kept[kept.length - 1]
        if (last === undefined || order(one, last) >= 0) return
        kept.pop()
      }
      let low = 0
      let high = kept.length
      while (low < high) {
        const middle = (low + high) >>> 1
        const other = kept[middle]
        if (other !== undefined && order(one, other) < 0) high = middle
        else low = middle + 1
      }
      kept.splice(low, 0, one)
    },
    kept: (): ReadonlyArray<Ranked> => kept
  }
}

/** What the rules need of every document, precomputed into arrays. */
export interface RankingData {
  /** Positions of the capabilities. */
  readonly capabilities: ReadonlyArray<number>
  readonly factors: Float32Array
  /** For each document, where the live capabilities that wrap it begin in `wrappers`. One entry more marks the end. */
  readonly wrapStarts: Uint32Array
  readonly wrappers: Uint32Array
  /** For each live capability, the endpoints that it wraps. */
  readonly wrapped: ReadonlyMap<number, ReadonlyArray<number>>
  /** Slugs of providers that have endpoints. */
  readonly providers: ReadonlySet<string>
}

/** `yieldEvery`: documents between two pauses. */
export function* rankingDataOf(
  documents: ReadonlyArray<SearchDocument>,
  yieldEvery: number
): Generator<void, RankingData> {
  const capabilities: Array<number> = []
  const live = new Map<string, number>()
  const providers = new Set<string>()
  const factors = new Float32Array(documents.length)
  for (const [id, document] of documents.entries()) {
    factors[id] = factorOf(document)
    if (document.provider !== null) providers.add(document.provider)
    if (document.kind === "capability") {
      capabilities.push(id)
      if (document.live) live.set(document.slug, id)
    }
    if (id % yieldEvery === yieldEvery - 1) yield
  }
  const wrapStarts = new Uint32Array(documents.length + 1)
  const wrappers: Array<number> = []
  const wrapped = new Map<number, Array<number>>()
  for (const [id, { wrapped_by }] of documents.entries()) {
    for (const slug of wrapped_by) {
      const capability = live.get(slug)
      if (capability === undefined) continue
      wrappers.push(capability)
      wrapped.set(capability, [...(wrapped.get(capability) ?? []), id])
    }
    wrapStarts[id + 1] = wrappers.length
    if (id % yieldEvery === yieldEvery - 1) yield
  }
  return { capabilities, factors, wrapStarts, wrappers: Uint32Array.from(wrappers), wrapped, providers }
}
