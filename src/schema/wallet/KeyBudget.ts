/**
 * The budget of an API key or of a batch: how much its runs may charge and hold in a day, week or month, or in total. Pure.
 *
 * It counts as the daily spend guard does: what open runs hold, plus what was charged in the current period. So runs that are admitted at
 * once can't exceed it together. `key_budget_holds` enforces the rule a second time.
 *
 * A batch's budget is its `max_total`. If the batch belongs to a key with a budget, that budget is its parent: the runs count in both.
 */
import { looksLike } from "../Ids.ts"
import { type MicroUsd, minus, plus, zero } from "../money/Money.ts"
import { type BudgetPeriod, periodStart, resetsAt, type Zones } from "../money/SpendDay.ts"

export interface KeyBudget {
  readonly budget_id: string
  readonly limit: MicroUsd
  readonly period: BudgetPeriod
  /** What open runs hold. */
  readonly reserved: MicroUsd
  /** The day of the newest hold or charge, `2026-11-21`. The sums below count the day, week and month that it lies in. */
  readonly counted_on: string
  readonly spent_day: MicroUsd
  readonly spent_week: MicroUsd
  readonly spent_month: MicroUsd
  readonly spent_total: MicroUsd
  /** Set for the budget of an allowance. */
  readonly purse?: Purse
  /** Set for the budget of a label's value. */
  readonly label?: { readonly name: string; readonly value: string }
  /** Set for a budget with a time zone of its own: its changes, and the day in it. Without one, the wallet's day counts. */
  readonly zone?: { readonly zones: Zones; readonly day: string }
  /** The budget of the batch's API key, or of a label. It counts the same runs. */
  readonly parent?: KeyBudget
}

/** `pending` until the amount is held, `ended` while its last runs are open, and then `closed`. */
export const purseStates = ["pending", "open", "ended", "closed"] as const
export type PurseState = (typeof purseStates)[number]

/** The part of an allowance's budget that the wallet holds; see Purse.ts. */
export interface Purse {
  /** The allowance's key. */
  readonly key_id: string
  readonly state: PurseState
  /** What the wallet holds for it now. Its runs hold the rest themselves, or have spent it. */
  readonly held: MicroUsd
  /** Whether another budget counts it. Then its money is kept until its last run has ended, for the allowance that gave it. */
  readonly nested: boolean
}

/** Budgets that count the same run, each as the parent of the one before it. Null for none. */
export const chained = (budgets: ReadonlyArray<KeyBudget>): KeyBudget | null =>
  budgets.reduceRight<KeyBudget | null>((parent, budget) => (parent === null ? budget : { ...budget, parent }), null)

/** Whether a budget is the `max_total` of a batch. */
export const isOfBatch = ({ budget_id }: Pick<KeyBudget, "budget_id">): boolean => looksLike("bat", budget_id)

/** The day that a budget counts. `day` is the wallet's. */
export const budgetDay = ({ zone }: Pick<KeyBudget, "zone">, day: string): string => zone?.day ?? day

/** The budget with the sums of the periods in which its day lies. A day before `counted_on` resets nothing. */
const countedOn = (budget: KeyBudget, of_wallet: string): KeyBudget => {
  const day = budgetDay(budget, of_wallet)
  if (day <= budget.counted_on) return budget
  const kept = (period: BudgetPeriod, spent: MicroUsd): MicroUsd =>
    periodStart(period, day) === periodStart(period, budget.counted_on) ? spent : zero
  return {
    ...budget,
    counted_on: day,
    spent_day: zero,
    spent_week: kept("week", budget.spent_week),
    spent_month: kept("month", budget.spent_month)
  }
}

/** What was charged in the period in which `day` lies. */
export const spentIn = (budget: KeyBudget, day: string): MicroUsd => {
  const { period, spent_day, spent_week, spent_month, spent_total } = countedOn(budget, day)
  return { day: spent_day, week: spent_week, month: spent_month, total: spent_total }[period]
}

/** As people see it. Day and zones are the wallet's. */
export const budgetState = (budget: KeyBudget, day: string, zones: Zones) => ({
  ...budget,
  spent: spentIn(budget, day),
  resets_at: resetsAt(budget.period, budgetDay(budget, day), budget.zone?.zones ?? zones)
})

/** What was charged in the current period, and what open runs hold. */
export const countedIn = (budget: KeyBudget, day: string): MicroUsd => plus(spentIn(budget, day), budget.reserved)

/** What runs may still hold or charge. Nothing, if the limit was lowered below what is counted. */
export const leftIn = (budget: KeyBudget, day: string): MicroUsd => {
  if (budget.purse !== undefined) return budget.purse.state === "open" ? budget.purse.held : zero
  const left = minus(budget.limit, countedIn(budget, day))
  return left > zero ? left : zero
}

/** The budget, or its parent, that a hold would exceed. Null if the hold fits into both. */
export const exceededBy = (budget: KeyBudget, hold: MicroUsd, day: string): KeyBudget | null => {
  if (plus(countedIn(budget, day), hold) > budget.limit) return budget
  return budget.parent === undefined ? null : exceededBy(budget.parent, hold, day)
}

/** The budget after a change, which its parent sees too. */
const withParent = (changed: KeyBudget, change: (budget: KeyBudget) => KeyBudget): KeyBudget =>
  changed.parent === undefined ? changed : { ...changed, parent: change(changed.parent) }

export const withHold = (budget: KeyBudget, hold: MicroUsd, day: string): KeyBudget => {
  const counted = countedOn(budget, day)
  return withParent({ ...counted, reserved: plus(counted.reserved, hold) }, (parent) => withHold(parent, hold, day))
}

/** Ends a hold: the charge counts on `day`, and the rest is free again. */
export const withoutHold = (budget: KeyBudget, hold: MicroUsd, charge: MicroUsd, day: string): KeyBudget => {
  const released = withParent({ ...budget, reserved: minus(budget.reserved, hold) }, (parent) =>
    withoutHold(parent, hold, charge, day)
  )
  if (charge === zero) return released
  const counted = countedOn(released, day)
  return {
    ...counted,
    spent_day: plus(counted.spent_day, charge),
    spent_week: plus(counted.spent_week, charge),
    spent_month: plus(counted.spent_month, charge),
    spent_total: plus(counted.spent_total, charge)
  }
}
