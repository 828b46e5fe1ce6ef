/**
 * Decides which alerts a ledger entry causes: `wallet.low` and `budget.reached`, once per crossing.
 *
 * Pure. The state is stored with the position in the ledger, so the same entries cause the same alerts, whoever reads them.
 */
import { usd } from "../money/Money.ts"
import { dayAt, dayEnd, type Zones } from "../money/SpendDay.ts"
import type { NewEvent } from "./Event.ts"
import type { EntryFacts } from "./WalletEvents.ts"

/** Parts of a limit that are told, in percent. */
export const budgetSteps = [50, 80, 100] as const
export type BudgetStep = (typeof budgetSteps)[number]

/** The highest part that `spent` has reached; 0 for none. A limit of zero allows nothing, so reaching it is no news. */
export const stepOf = (spent: bigint, limit: bigint): BudgetStep | 0 =>
  limit <= 0n ? 0 : (budgetSteps.findLast((step) => spent * 100n >= limit * BigInt(step)) ?? 0)

/** The parts that are reached now and were not before, lowest first. */
export const crossed = (before: BudgetStep | 0, after: BudgetStep | 0): ReadonlyArray<BudgetStep> =>
  budgetSteps.filter((step) => step > before && step <= after)

export interface AlertState {
  /** The balance is below the threshold, and that was told. */
  readonly low: boolean
  /** The day that `spent` and `reached` count, such as 2026-11-21. */
  readonly spent_day: string | null
  readonly spent: bigint
  readonly reached: BudgetStep | 0
  /** The limit that `reached` is about. */
  readonly reached_of: bigint | null
}

export interface AlertRules {
  readonly low_balance: bigint | null
  readonly daily_limit: bigint | null
  /** Absent: the day is UTC's. */
  readonly zones?: Zones
}

export interface Alerted {
  readonly state: AlertState
  readonly events: ReadonlyArray<NewEvent>
}

/** `balance` and `reserved` are those at the time `at`. */
export const watchBalance = (
  state: AlertState,
  { low_balance }: AlertRules,
  { balance, reserved, at }: { readonly balance: bigint; readonly reserved: bigint; readonly at: Date }
): Alerted => {
  const low = low_balance !== null && balance < low_balance
  if (!low || state.low) return { state: { ...state, low }, events: [] }
  const data = { balance: usd(balance), available: usd(balance - reserved), low_balance: usd(low_balance) }
  return {
    state: { ...state, low },
    events: [{ kind: "wallet.low", run_id: null, step: null, happened_at: at, data }]
  }
}

const dayState = (state: AlertState, day: string): AlertState =>
  state.spent_day === day ? state : { ...state, spent_day: day, spent: 0n, reached: 0 }

const reachedEvent = (state: AlertState, limit: bigint, percent: BudgetStep, at: Date, zones?: Zones): NewEvent => {
  const resets_at = dayEnd(dayAt(at.getTime(), zones), zones).toISOString()
  const control = { control: "daily_spend_guard", manage: "/v1/spend-guard" }
  const data = { ...control, percent, limit: usd(limit), spent: usd(state.spent), resets_at }
  return { kind: "budget.reached", run_id: null, step: null, happened_at: at, data }
}

/** Counts what was charged at the time `at`, and tells which parts of the daily limit that reaches. Zero only looks at the limit. */
export const watchBudget = (state: AlertState, rules: AlertRules, charged: bigint, at: Date): Alerted => {
  const { daily_limit, zones } = rules
  const today = dayState(state, dayAt(at.getTime(), zones))
  const spent = { ...today, spent: today.spent + charged }
  if (daily_limit === null) return { state: spent, events: [] }
  const steps = crossed(today.reached, stepOf(spent.spent, daily_limit))
  return {
    state: { ...spent, reached: steps.at(-1) ?? today.reached },
    events: steps.map((step) => reachedEvent(spent, daily_limit, step, at, zones))
  }
}

/** The guard refused a run that holds `hold`. If the rest of the limit is still too small for it, the limit counts as reached. */
export const watchRefusal = (
  state: AlertState,
  { daily_limit, zones }: AlertRules,
  { hold, reserved, at }: { readonly hold: bigint; readonly reserved: bigint; readonly at: Date }
): Alerted => {
  const today = dayState(state, dayAt(at.getTime(), zones))
  const isReached = daily_limit !== null && today.spent + reserved + hold > daily_limit
  if (!isReached || daily_limit === 0n || today.reached === 100) return { state: today, events: [] }
  return { state: { ...today, reached: 100 }, events: [reachedEvent(today, daily_limit, 100, at, zones)] }
}

/** The state under the present limit. Parts that a changed limit has left unreached may be told again. Call it before the new entries. */
export const rearmed = (state: AlertState, { daily_limit }: AlertRules): AlertState => {
  if (daily_limit === state.reached_of) return state
  const reached = daily_limit === null ? 0 : stepOf(state.spent, daily_limit)
  return { ...state, reached_of: daily_limit, reached: reached < state.reached ? reached : state.reached }
}

/** What an entry causes. */
export const watchEntry = (state: AlertState, rules: AlertRules, entry: EntryFacts): Alerted => {
  const { type, amount, balance_after, reserved_after, created_at } = entry
  const balance = watchBalance(state, rules, { balance: balance_after, reserved: reserved_after, at: created_at })
  if (type !== "settle") return balance
  const budget = watchBudget(balance.state, rules, -amount, created_at)
  return { state: budget.state, events: [...balance.events, ...budget.events] }
}
