/** Adds up what past runs did, and what they would have done under another policy. Pure. */
import * as Money from "../money/Money.ts"
import type { PastPlan, PastRun } from "./PastRun.ts"
import { isUnchanged, type NewRoute, newRoute, type Policy } from "./Policy.ts"
import { certain, type CountsOf, rehearsal } from "./Rehearsal.ts"

export interface Figures {
  readonly cost: Money.MicroUsd
  readonly hits: number
  /** Null without runs. */
  readonly latency_ms_p95: number | null
}

export interface Simulated {
  readonly runs: number
  readonly actual: Figures
  readonly lower: Figures
  readonly expected: Figures
  /** Its latency is null if too many calls were never made for anybody to know it. */
  readonly upper: Figures
  /** Runs that would have gone as they went. */
  readonly unchanged: number
  /** Runs for which the past does not know how a call would have ended. */
  readonly unknown: number
  /** Runs that no provider could have served. They cost nothing and deliver nothing. */
  readonly refused: number
}

/** Runs between two pauses, so that pausing costs little. They take about a tenth of a millisecond. */
const stepRuns = 8

const p95 = (times: Float64Array): number | null => {
  if (times.length === 0) return null
  const sorted = times.toSorted()
  const percentile = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0
  return Number.isFinite(percentile) ? Math.round(percentile) : null
}

interface Column {
  cost: bigint
  hits: number
  readonly times: Float64Array
}

const figuresOf = ({ cost, hits, times }: Column): Figures => ({
  cost: Money.MicroUsd(cost),
  hits,
  latency_ms_p95: p95(times)
})

/** Adds runs one by one, and sums them up in steps of some milliseconds. */
const adder = (size: number, policy: Policy, counts: CountsOf) => {
  const column = (): Column => ({ cost: 0n, hits: 0, times: new Float64Array(size) })
  const [actual, lower, expected, upper] = [column(), column(), column(), column()]
  let [unchanged, unknown, refused, n] = [0, 0, 0, 0]
  // In millionths, so that rounding each run does not add up.
  let [mean, meanHits] = [0n, 0n]
  const routes = new Map<PastPlan, { readonly route: NewRoute; readonly same: boolean }>()
  const routeOf = (plan: PastPlan) => {
    const before = routes.get(plan)
    if (before !== undefined) return before
    const route = newRoute(plan, policy)
    const entry = { route, same: isUnchanged(plan, route) }
    routes.set(plan, entry)
    return entry
  }
  const rehearse = rehearsal(counts)
  const put = (into: Column, cost: bigint, hit: boolean, millis: number) => {
    into.cost += cost
    if (hit) into.hits += 1
    into.times[n] = millis
  }
  const keep = ({ charged, hit, duration_ms }: PastRun) => {
    unchanged += 1
    for (const into of [lower, upper]) put(into, charged, hit, duration_ms)
    mean += charged * certain
    meanHits += hit ? certain : 0n
    expected.times[n] = duration_ms
  }
  const replay = (run: PastRun, route: NewRoute) => {
    if (route.offers.length === 0) refused += 1
    const rehearsed = rehearse(run, route)
    if (rehearsed.unknown) unknown += 1
    put(lower, rehearsed.cost.lower, rehearsed.hit.lower, rehearsed.duration_ms.lower)
    put(upper, rehearsed.cost.upper, rehearsed.hit.upper, rehearsed.duration_ms.upper ?? Number.POSITIVE_INFINITY)
    mean += rehearsed.cost.mean
    meanHits += rehearsed.hit.mean
    expected.times[n] = rehearsed.duration_ms.mean
  }
  return {
    add: (run: PastRun) => {
      const { route, same } = routeOf(run.plan)
      put(actual, run.charged, run.hit, run.duration_ms)
      if (same) keep(run)
      else replay(run, route)
      n += 1
    },
    result: function* (): Generator<void, Simulated> {
      expected.cost = Money.share(Money.MicroUsd(mean), 1n, certain)
      expected.hits = Number(meanHits) / Number(certain)
      const was = figuresOf(actual)
      yield
      const least = figuresOf(lower)
      yield
      const mostLikely = figuresOf(expected)
      yield
      const figures = { actual: was, lower: least, expected: mostLikely, upper: figuresOf(upper) }
      return { runs: n, ...figures, unchanged, unknown, refused }
    }
  }
}

/** The whole simulation, with a pause after every `stepRuns` runs. */
export const simulation = function* (
  runs: ReadonlyArray<PastRun>,
  policy: Policy,
  counts: CountsOf
): Generator<void, Simulated> {
  const { add, result } = adder(runs.length, policy, counts)
  for (const [n, run] of runs.entries()) {
    add(run)
    if (n % stepRuns === 0) yield
  }
  return yield* result()
}
