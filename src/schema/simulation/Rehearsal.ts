/**
 * What a past run would have cost and delivered with another route: at least, at most, and on average. Pure.
 *
 * A call that was made is taken to end as it ended. A call that was never made may end in any way, so bounds count every way, and the average
 * counts each by what was measured of the provider.
 */
import { outcomeUnknown } from "../catalog/Doubt.ts"
import { callsOf, type OutcomeCounts } from "../runs/Quote.ts"
import { priorLatency, priorSuccess } from "../runs/Routing.ts"
import type { PastOffer, PastRun } from "./PastRun.ts"
import type { NewRoute } from "./Policy.ts"

/** Chances are whole millionths. */
export const certain = 1_000_000n
/** When there are more, all are computed again. Kinds and quotes come from inputs, so their number has no other limit. */
const waysMax = 20_000

interface Range {
  readonly lower: bigint
  readonly upper: bigint
  /** Microdollars on average. */
  readonly mean: bigint
}

/**
 * `ends`: the run is over, with or without a result. `falls`: an answer that is inconclusive, or that `accept` refused though a miss is
 * charged, kept while the next offer is called. `stops`: the call may have acted, so no other offer is called.
 */
interface Outcome {
  readonly way: "ends" | "falls" | "goes_on" | "stops"
  readonly hit: boolean
  readonly cost: Range
  readonly chance: bigint
}

export interface Rehearsed {
  readonly cost: {
    readonly lower: bigint
    readonly upper: bigint /** In millionths of a microdollar. */
    readonly mean: bigint
  }
  readonly hit: { readonly lower: boolean; readonly upper: boolean /** In millionths. */; readonly mean: bigint }
  readonly duration_ms: { readonly lower: number; readonly mean: number; readonly upper: number | null }
  /** Whether the past does not know how a call would have ended. */
  readonly unknown: boolean
}

const free: Range = { lower: 0n, upper: 0n, mean: 0n }
const exactly = (amount: bigint): Range => ({ lower: amount, upper: amount, mean: amount })
/** A delivery may be free, when there was nothing to do, and never costs more than its quote. */
const upTo = (quote: bigint, mean = quote): Range => ({ lower: 0n, upper: quote, mean: mean < quote ? mean : quote })
const goesOn: Outcome = { way: "goes_on", hit: false, cost: free, chance: certain }
const stops: Outcome = { ...goesOn, way: "stops" }
/** Of a capability that charges a miss. */
const missOf = ({ plan }: PastRun, cost: Range, chance: bigint): Outcome => ({
  way: plan.accept === undefined ? "ends" : "falls",
  ...{ hit: false, cost, chance }
})

/** The measured outcomes of a provider for this kind of input. Null: too few. */
export type CountsOf = (capability: string, kind: string, provider: string) => OutcomeCounts | null

const knownOutcomes = (
  run: PastRun,
  { provider, quote }: PastOffer,
  outcome: string,
  conclusive: boolean
): ReadonlyArray<Outcome> => {
  const cost = provider === run.provider ? exactly(run.charged) : upTo(quote)
  const ends: Outcome = { way: "ends", hit: true, cost, chance: certain }
  const falls: Outcome = { ...ends, way: "falls" }
  if (outcome === "inconclusive") return [conclusive ? falls : ends]
  // Only a run that asked for conclusive answers says whether one was.
  if (outcome === "succeeded") return conclusive && !run.plan.conclusive ? [ends, { ...falls, chance: 0n }] : [ends]
  if (outcome === "no_match" && run.bills_no_match) return [missOf(run, cost, certain)]
  if (outcome === outcomeUnknown) return [stops]
  return [goesOn]
}

const unknownOutcomes = (
  run: PastRun,
  { quote }: PastOffer,
  counts: OutcomeCounts | null,
  conclusive: boolean
): ReadonlyArray<Outcome> => {
  const { bills_no_match, plan } = run
  const calls = counts === null ? 0n : callsOf(counts)
  const part = (count: (counts: OutcomeCounts) => bigint, otherwise: bigint) =>
    counts === null || calls === 0n ? otherwise : (count(counts) * certain) / calls
  const mean = counts === null || counts.quoted === 0n ? quote : (quote * counts.charged) / counts.quoted
  const cost = upTo(quote, mean)
  const prior = BigInt(Math.round(priorSuccess * Number(certain)))
  const succeeded = part((one) => one.succeeded, prior)
  const inconclusive = part((one) => one.inconclusive, 0n)
  const missed = bills_no_match ? part((one) => one.no_match, 0n) : 0n
  const ends = conclusive ? succeeded : succeeded + inconclusive
  const falls = conclusive ? inconclusive : 0n
  return [
    { way: "ends", hit: true, cost, chance: ends },
    ...(conclusive ? [{ way: "falls", hit: true, cost, chance: falls } as const] : []),
    ...(bills_no_match ? [missOf(run, cost, missed)] : []),
    ...(plan.side_effect ? [{ ...stops, chance: 0n }] : []),
    { ...goesOn, chance: certain - ends - falls - missed }
  ]
}

/** Every way in which a run may go, added up. `chances[n]` is the chance of exactly n calls, in millionths. */
interface Ways {
  readonly cost: Rehearsed["cost"]
  readonly hit: Rehearsed["hit"]
  /** The smallest and the largest number of calls that is possible. */
  readonly calls: { readonly min: number; readonly max: number }
  readonly chances: ReadonlyArray<number>
  readonly unknown: boolean
}

interface Walk {
  readonly chance: bigint
  readonly fallback: Pick<Outcome, "cost" | "hit">
  readonly unknown: boolean
}
/** Without a fallback. */
const nothing: Walk["fallback"] = { cost: free, hit: false }

interface Leaf extends Walk {
  readonly cost: Range
  readonly hit: boolean
  readonly calls: number
}

/** The attempt that says how the calls of a provider ended: the last that delivered, or else the last. */
const lastAttempt = ({ attempts }: PastRun, provider: string): PastRun["attempts"][number] | undefined => {
  let last: PastRun["attempts"][number] | undefined
  for (const one of attempts)
    if (one.provider === provider && (one.outcome === "succeeded" || last?.outcome !== "succeeded")) last = one
  return last
}

/** The first answer counts, but one that is accepted goes before one that is not. */
const isBetter = (hit: boolean, before: Walk["fallback"]) => before === nothing || (hit && !before.hit)

/** At most 5 outcomes of each of 3 calls. */
const leavesOf = (run: PastRun, { offers, conclusive }: NewRoute, counts: CountsOf): ReadonlyArray<Leaf> => {
  const leaves: Array<Leaf> = []
  let open: ReadonlyArray<Walk> = [{ chance: certain, fallback: nothing, unknown: false }]
  for (const [n, offer] of offers.entries()) {
    const last = lastAttempt(run, offer.provider)
    const outcomes =
      last === undefined
        ? unknownOutcomes(run, offer, counts(run.capability, run.kind, offer.provider), conclusive)
        : knownOutcomes(run, offer, last.outcome, conclusive)
    const next: Array<Walk> = []
    for (const walk of open)
      for (const { way, hit, cost, chance } of outcomes) {
        const on: Walk = {
          chance: (walk.chance * chance) / certain,
          fallback: walk.fallback,
          unknown: walk.unknown || last === undefined || outcomes.length > 1
        }
        if (way === "ends") leaves.push({ ...on, cost, hit, calls: n + 1 })
        else if (way === "stops") leaves.push({ ...on, ...walk.fallback, calls: n + 1 })
        else next.push(way === "falls" && isBetter(hit, on.fallback) ? { ...on, fallback: { cost, hit } } : on)
      }
    open = next
  }
  for (const walk of open) leaves.push({ ...walk, ...walk.fallback, calls: offers.length })
  return leaves
}

const waysOf = (run: PastRun, route: NewRoute, counts: CountsOf): Ways => {
  const leaves = leavesOf(run, route, counts)
  let [lower, upper, mean, hits] = [leaves[0]?.cost.lower ?? 0n, 0n, 0n, 0n]
  const chances = Array.from({ length: route.offers.length + 1 }, () => 0)
  const possible = new Set<number>()
  for (const { cost, hit, chance, calls } of leaves) {
    if (cost.lower < lower) lower = cost.lower
    if (cost.upper > upper) upper = cost.upper
    mean += cost.mean * chance
    if (hit) hits += chance
    chances[calls] = (chances[calls] ?? 0) + Number(chance)
    possible.add(calls)
  }
  return {
    cost: { lower, upper, mean },
    hit: { lower: leaves.every(({ hit }) => hit), upper: leaves.some(({ hit }) => hit), mean: hits },
    calls: { min: Math.min(...possible), max: Math.max(...possible) },
    chances,
    unknown: leaves.some(({ unknown }) => unknown)
  }
}

/** The known ways of the runs that have all the parts on the path to it. */
interface PathNode {
  readonly next: Map<string | bigint, PathNode>
  ways: Ways | null
}

const newNode = (): PathNode => ({ next: new Map(), ways: null })

const step = ({ next }: PathNode, part: string | bigint): PathNode => {
  const before = next.get(part)
  if (before !== undefined) return before
  const node = newNode()
  next.set(part, node)
  return node
}

/**
 * Follows what `waysOf` depends on. Ids and times of a run are not part of it, so 100,000 runs have a few hundred paths. Steps take a third
 * of the time of one long key, which would be built and hashed for every run.
 */
const nodeOf = (start: PathNode, run: PastRun, { offers, conclusive }: NewRoute): PathNode => {
  const flags =
    (run.bills_no_match ? 1n : 0n) +
    (conclusive ? 2n : 0n) +
    (run.plan.conclusive ? 4n : 0n) +
    (run.plan.side_effect ? 8n : 0n) +
    (run.plan.accept === undefined ? 0n : 16n)
  let at = step(step(step(start, run.capability), run.kind), flags)
  for (const { provider, quote } of offers) {
    at = step(step(step(at, provider), quote), lastAttempt(run, provider)?.outcome ?? "")
    at = step(at, provider === run.provider ? run.charged : -1n)
  }
  return at
}

/** The times of the calls in their order, after the time in the queue and between calls. `upper` is null where nobody knows. */
const durationOf = (run: PastRun, { offers }: NewRoute, { chances, calls }: Ways): Rehearsed["duration_ms"] => {
  let called = 0
  for (const { duration_ms } of run.attempts) called += duration_ms
  const waited = Math.max(0, run.duration_ms - called)
  let [lower, mean, upper, weighed, chance]: [number, number, number | null, number, number] = [
    waited,
    waited,
    waited,
    0,
    0
  ]
  let [shortest, longest]: [number, number | null] = [waited, waited]
  for (let n = 0; n < chances.length; n++) {
    const offer = offers[n - 1]
    if (offer !== undefined) {
      let [took, wasCalled] = [0, false]
      for (const { provider, duration_ms } of run.attempts)
        if (provider === offer.provider) {
          took += duration_ms
          wasCalled = true
        }
      lower += took
      mean += wasCalled ? took : (offer.metrics?.latency_ms_p50 ?? priorLatency)
      upper = upper === null || !wasCalled ? null : upper + took
    }
    const share = chances[n] ?? 0
    weighed += mean * share
    chance += share
    if (n === calls.min) shortest = lower
    if (n === calls.max) longest = upper
  }
  return { lower: shortest, mean: chance === 0 ? shortest : weighed / chance, upper: longest }
}

export const rehearsal = (counts: CountsOf): ((run: PastRun, route: NewRoute) => Rehearsed) => {
  let [start, size] = [newNode(), 0]
  return (run, route) => {
    if (size === waysMax) [start, size] = [newNode(), 0]
    const node = nodeOf(start, run, route)
    if (node.ways === null) {
      node.ways = waysOf(run, route, counts)
      size += 1
    }
    const { cost, hit, unknown } = node.ways
    return { cost, hit, duration_ms: durationOf(run, route, node.ways), unknown }
  }
}
