/**
 * Decides when `budget.reached` is told for the budget of an API key: at 50, 80 and 100 percent of the limit, once per period.
 *
 * Pure. A part may be told again in a new period, and after the limit was raised above it. A turn decides it together with the charge, so
 * processes that share a budget tell a crossing once.
 */
import { type MicroUsd, plus, usd } from "../money/Money.ts"
import { budgetDay, type KeyBudget, spentIn } from "../wallet/KeyBudget.ts"
import { type BudgetPeriod, periodStart, resetsAt, type Zones } from "../money/SpendDay.ts"
import { type BudgetStep, crossed, stepOf } from "./Alerts.ts"

/** The last part of a budget that was told, and which limit of which period it was about. */
export interface LastAlert {
  readonly reached: BudgetStep
  readonly limit: MicroUsd
  readonly period: BudgetPeriod
  /** The first day of the period. Null for `total`. */
  readonly starts_on: string | null
}

export interface BudgetUse {
  /** Null if nothing was told yet. */
  readonly lastAlert: LastAlert | null
  /** The budget as it was before the commands of a turn, and after them. */
  readonly before: KeyBudget
  readonly after: KeyBudget
  /** The largest hold that the budget refused. Null without one. */
  readonly refused: MicroUsd | null
  readonly day: string
}

export interface BudgetAlert {
  /** What to store. */
  readonly lastAlert: LastAlert
  /** The parts to tell, lowest first. */
  readonly steps: ReadonlyArray<BudgetStep>
}

/** A day before `counted_on` is a clock that goes back. The sums stay those of the later day. */
const countedDay = (budget: KeyBudget, of_wallet: string): string => {
  const day = budgetDay(budget, of_wallet)
  return day < budget.counted_on ? budget.counted_on : day
}

/** What counts as told under the present limit and in the present period. */
const alertedStep = ({ lastAlert, before, after, day }: BudgetUse, starts_on: string | null): BudgetStep | 0 => {
  if (lastAlert === null || lastAlert.period !== after.period || lastAlert.starts_on !== starts_on) return 0
  if (lastAlert.limit === after.limit) return lastAlert.reached
  const reached = stepOf(spentIn(before, day), after.limit)
  return reached < lastAlert.reached ? reached : lastAlert.reached
}

/** A refusal uses the budget up if the run would fit an unused budget and does not fit the rest. What open runs hold may become free. */
const isUsedUp = ({ after, refused, day }: BudgetUse): boolean =>
  refused !== null && refused <= after.limit && plus(spentIn(after, day), refused) > after.limit

/** Null if there is nothing to tell. */
export const watchKeyBudget = (use: BudgetUse): BudgetAlert | null => {
  const { after } = use
  const { limit, period } = after
  const starts_on = periodStart(period, countedDay(after, use.day))
  const before = alertedStep(use, starts_on)
  const spent = crossed(before, stepOf(spentIn(after, use.day), limit))
  const isFull = before === 100 || spent.includes(100)
  const steps: ReadonlyArray<BudgetStep> = !isFull && isUsedUp(use) ? [...spent, 100] : spent
  const last = steps.at(-1)
  return last === undefined ? null : { lastAlert: { reached: last, limit, period, starts_on }, steps }
}

/** A value is somebody's text, so the event has its id, with which the list of values names it. */
const ofWhom = (key_id: string, { label }: KeyBudget) =>
  label === undefined
    ? { control: "key_budget", key_id, manage: `/v1/api-keys/${key_id}` }
    : { control: "label_budget", label: label.name, value_id: key_id, manage: `/v1/label-budgets/values?id=${key_id}` }

/** The data of the event. `key_id` is the key that spends from the budget, or the id of a label's value. */
export const budgetReached = (key_id: string, budget: KeyBudget, day: string, percent: BudgetStep, zones?: Zones) => ({
  ...ofWhom(key_id, budget),
  percent,
  limit: usd(budget.limit),
  spent: usd(spentIn(budget, day)),
  resets_at: resetsAt(budget.period, countedDay(budget, day), budget.zone?.zones ?? zones)?.toISOString() ?? null
})
