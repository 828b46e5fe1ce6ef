/**
 * How many past runs rules would have blocked or made wait for an approval. Pure.
 *
 * Runs start and end as they did. A run that a rule blocks holds and costs nothing, so it leaves room for later ones, as it would have.
 */
import { type MicroUsd, zero } from "../money/Money.ts"
import { type BudgetPeriod, dayAt, type Zones } from "../money/SpendDay.ts"
import { exceededBy, type KeyBudget, withHold, withoutHold } from "../wallet/KeyBudget.ts"

export interface ReplayRun {
  readonly key_id: string | null
  /** Null for a raw call. */
  readonly capability: string | null
  readonly provider: string | null
  readonly hold: MicroUsd
  readonly charged: MicroUsd
  readonly labels: Readonly<Record<string, string>>
  /** JSON text. */
  readonly metadata: string | null
  /** That it might have called. */
  readonly providers: ReadonlyArray<string>
  /** The keys that gave its key's allowance. */
  readonly given_by?: ReadonlyArray<string> | null
  /** Whether a recipient has opted out since. */
  readonly opted_out: boolean
  /** In milliseconds since 1970. */
  readonly created: number
  readonly finished: number
}

export interface ReplayRule {
  /** `keys.agent.budget`. */
  readonly rule: string
  /** Names the sum that a run counts in. Null: the rule is not about it. */
  readonly counterOf: (run: ReplayRun) => string | null
  /** `each`: of one run. Null: it blocks every run that it is about. */
  readonly limit: { readonly amount: MicroUsd; readonly period: BudgetPeriod | "each" } | null
  /** The runs that it is about wait for an approval. */
  readonly waits?: boolean
}

export interface Replayed {
  readonly blocked_runs: number
  readonly waiting_runs: number
  readonly rules: ReadonlyArray<{ readonly rule: string; readonly blocked_runs: number; readonly waiting_runs: number }>
}

/** Runs between two pauses. */
const stepRuns = 64

const emptyBudget = (limit: MicroUsd, period: BudgetPeriod): KeyBudget => ({
  ...{ budget_id: "", limit, period, reserved: zero, counted_on: "1970-01-01" },
  ...{ spent_day: zero, spent_week: zero, spent_month: zero, spent_total: zero }
})

/** What one rule counts. */
const counting = ({ rule, counterOf, limit, waits = false }: ReplayRule) => {
  const budgets = new Map<string, KeyBudget>()
  const of = (run: ReplayRun) => {
    const counter = limit === null || limit.period === "each" ? null : counterOf(run)
    if (counter === null || limit === null || limit.period === "each") return null
    return { counter, budget: budgets.get(counter) ?? emptyBudget(limit.amount, limit.period) }
  }
  return {
    rule,
    waits,
    /** That it has blocked or made wait. */
    runs: 0,
    matches: (run: ReplayRun, day: string): boolean => {
      if (limit === null) return counterOf(run) !== null
      if (run.hold === zero) return false
      if (limit.period === "each") return counterOf(run) !== null && run.hold > limit.amount
      const counted = of(run)
      return counted !== null && exceededBy(counted.budget, run.hold, day) !== null
    },
    starts: (run: ReplayRun, day: string) => {
      const counted = of(run)
      if (counted !== null) budgets.set(counted.counter, withHold(counted.budget, run.hold, day))
    },
    ends: (run: ReplayRun, day: string) => {
      const counted = of(run)
      if (counted !== null) budgets.set(counted.counter, withoutHold(counted.budget, run.hold, run.charged, day))
    }
  }
}

/** Runs in any order. A run that is blocked does not wait. Budgets count all runs, the answer those that are `shown`. */
export const replay = function* (
  rules: ReadonlyArray<ReplayRule>,
  runs: ReadonlyArray<ReplayRun>,
  zones: Zones,
  shown: (run: ReplayRun) => boolean = () => true
): Generator<void, Replayed> {
  const counts = rules.map(counting)
  const [blocked, waiting] = [new Set<ReplayRun>(), new Set<ReplayRun>()]
  // A run that ends as another starts has ended before it.
  const moments = runs
    .flatMap((run) => [
      { run, at: run.created, starts: true },
      { run, at: Math.max(run.finished, run.created + 1), starts: false }
    ])
    .sort((a, b) => a.at - b.at || Number(a.starts) - Number(b.starts))
  for (const [n, { run, at, starts }] of moments.entries()) {
    if (n % stepRuns === 0) yield
    const day = dayAt(at, zones)
    if (!starts) {
      if (!blocked.has(run)) for (const one of counts) one.ends(run, day)
      continue
    }
    const matching = counts.filter((one) => one.matches(run, day))
    const against = matching.filter(({ waits }) => !waits)
    if (shown(run)) for (const one of against.length > 0 ? against : matching) one.runs += 1
    if (against.length > 0) blocked.add(run)
    else {
      if (matching.length > 0) waiting.add(run)
      for (const one of counts) one.starts(run, day)
    }
  }
  return {
    blocked_runs: [...blocked].filter(shown).length,
    waiting_runs: [...waiting].filter(shown).length,
    rules: counts.map(({ rule, waits, runs: n }) => ({
      rule,
      blocked_runs: waits ? 0 : n,
      waiting_runs: waits ? n : 0
    }))
  }
}
