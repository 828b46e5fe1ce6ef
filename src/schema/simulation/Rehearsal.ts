/**
 * What a past run would have cost and delivered with another route: at least, at most, and on average. Pure.
 *
 * A call that was made is taken to end as it ended. A call that was never made may end in any way, so bounds count every way, and the average
 * counts each by what was measured of the provider.
 */
import { callsOf, type OutcomeCounts } from "../runs/Quote.ts"
import { priorLatency, priorSuccess } from "../runs/Routing.ts"
import type { PastOffer, PastRun } from "./PastRun.ts"
import type { NewRoute } from "./Policy.ts"

/** Chances are whole millionths. */
export const certain = 1_000_000n

interface Range {
  readonly lower: bigint
  readonly upper: bigint
  /** Microdollars on average. */
  readonly mean: bigint
}

/** `ends`: the run is over, with or without a result. `falls`: an inconclusive answer, kept while the next offer is called. */
interface Outcome {
  readonly way: "ends" | "falls" | "goes_on"
  readonly hit: boolean
  readonly cost: Range
  readonly chance: bigint
}

/** A call that may end in several ways, with its time. `upper` is null where nobody knows how long it would have taken. */
interface Call {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly known: boolean
  readonly duration: { readonly lower: number; readonly mean: number; readonly upper: number | null }
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
  if (outcome === "no_match" && run.bills_no_match) return [{ ...ends, hit: false }]
  return [goesOn]
}

const unknownOutcomes = (
  { bills_no_match }: PastRun,
  { quote }: PastOffer,
  counts: OutcomeCounts | null,
  conclusive: boolean
): ReadonlyArray<Outcome> => {
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
    ...(bills_no_match ? [{ way: "ends", hit: false, cost, chance: missed } as const] : []),
    { ...goesOn, chance: certain - ends - falls - missed }
  ]
}

const callOf = (run: PastRun, offer: PastOffer, counts: CountsOf, conclusive: boolean): Call => {
  const made = run.attempts.filter((one) => one.provider === offer.provider)
  const last = made.findLast(({ outcome }) => outcome === "succeeded") ?? made.at(-1)
  if (last !== undefined) {
    const took = made.reduce((sum, one) => sum + one.duration_ms, 0)
    return {
      outcomes: knownOutcomes(run, offer, last.outcome, conclusive),
      known: true,
      duration: { lower: took, mean: took, upper: took }
    }
  }
  const measured = counts(run.capability, run.kind, offer.provider)
  return {
    outcomes: unknownOutcomes(run, offer, measured, conclusive),
    known: false,
    duration: { lower: 0, mean: offer.metrics?.latency_ms_p50 ?? priorLatency, upper: null }
  }
}

interface Walk {
  readonly chance: bigint
  readonly fallback: Range | null
  readonly duration: { readonly lower: number; readonly mean: number; readonly upper: number | null }
  readonly unknown: boolean
}
interface Leaf extends Walk {
  readonly cost: Range
  readonly hit: boolean
}

const plusTime = (a: Walk["duration"], b: Walk["duration"]): Walk["duration"] => ({
  lower: a.lower + b.lower,
  mean: a.mean + b.mean,
  upper: a.upper === null || b.upper === null ? null : a.upper + b.upper
})

/** Every way in which the run may go: at most 4 outcomes of each of 3 calls. */
const leavesOf = (run: PastRun, { offers, conclusive }: NewRoute, counts: CountsOf): ReadonlyArray<Leaf> => {
  const called = run.attempts.reduce((sum, one) => sum + one.duration_ms, 0)
  // The time in the queue, and between the calls.
  const waited = Math.max(0, run.duration_ms - called)
  const leaves: Array<Leaf> = []
  let open: ReadonlyArray<Walk> = [
    { chance: certain, fallback: null, duration: { lower: waited, mean: waited, upper: waited }, unknown: false }
  ]
  for (const offer of offers) {
    const call = callOf(run, offer, counts, conclusive)
    const next: Array<Walk> = []
    for (const walk of open)
      for (const { way, hit, cost, chance } of call.outcomes) {
        const on: Walk = {
          chance: (walk.chance * chance) / certain,
          fallback: walk.fallback,
          duration: plusTime(walk.duration, call.duration),
          unknown: walk.unknown || !call.known || call.outcomes.length > 1
        }
        if (way === "ends") leaves.push({ ...on, cost, hit })
        else next.push(way === "falls" && on.fallback === null ? { ...on, fallback: cost } : on)
      }
    open = next
  }
  for (const walk of open) leaves.push({ ...walk, cost: walk.fallback ?? free, hit: walk.fallback !== null })
  return leaves
}

export const rehearse = (run: PastRun, route: NewRoute, counts: CountsOf): Rehearsed => {
  const leaves = leavesOf(run, route, counts)
  let [lower, upper, mean, chance, time] = [leaves[0]?.cost.lower ?? 0n, 0n, 0n, 0n, 0]
  let [shortest, longest]: [number, number | null] = [Number.POSITIVE_INFINITY, 0]
  let hits = 0n
  for (const leaf of leaves) {
    if (leaf.cost.lower < lower) lower = leaf.cost.lower
    if (leaf.cost.upper > upper) upper = leaf.cost.upper
    mean += leaf.cost.mean * leaf.chance
    chance += leaf.chance
    if (leaf.hit) hits += leaf.chance
    time += leaf.duration.mean * Number(leaf.chance)
    shortest = Math.min(shortest, leaf.duration.lower)
    longest = longest === null || leaf.duration.upper === null ? null : Math.max(longest, leaf.duration.upper)
  }
  return {
    cost: { lower, upper, mean },
    hit: { lower: leaves.every(({ hit }) => hit), upper: leaves.some(({ hit }) => hit), mean: hits },
    duration_ms: { lower: shortest, mean: chance === 0n ? shortest : time / Number(chance), upper: longest },
    unknown: leaves.some(({ unknown }) => unknown)
  }
}
