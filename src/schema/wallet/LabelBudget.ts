/**
 * The budgets of labels that a run counts in: for each of its labels that has one, that of the label's value. Pure.
 *
 * They are budgets as an API key has them (KeyBudget.ts). Which of them a run counts in is fixed when it is admitted.
 */
import { type MicroUsd, zero } from "../money/Money.ts"
import type { BudgetPeriod } from "../money/SpendDay.ts"
import type { Metadata } from "../runs/Metadata.ts"
import type { KeyBudget } from "./KeyBudget.ts"

/** A value of a label, and the id of its budget. */
export interface LabelAsk {
  readonly budget_id: string
  readonly org_id: string
  readonly label: string
  readonly value: string
}

const digestChars = 26

/** Whether a budget is that of a label's value. */
export const isOfValue = (budget_id: string): boolean => budget_id.startsWith("val_")

/** Every process gives the budget of a value the same id. */
export const valueBudgetId = (org_id: string, label: string, value: string): string =>
  `val_${new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([org_id, label, value]))
    .digest("hex")
    .slice(0, digestChars)}`

/** The ids that the budgets of a run's labels have, if they have one. `metadata` is JSON text. */
export const valueBudgetIds = (org_id: string, metadata: string): ReadonlyArray<string> => {
  const values: Metadata = JSON.parse(metadata)
  return Object.entries(values).map(([label, value]) => valueBudgetId(org_id, label, value))
}

/** `labels` are those that have a budget. `metadata` is JSON text. */
export const labelAsks = (
  labels: ReadonlyArray<string> | undefined,
  { org_id, metadata, hold }: { readonly org_id: string; readonly metadata?: string | null; readonly hold: bigint }
): ReadonlyArray<LabelAsk> => {
  // A free run counts in no budget.
  if (labels === undefined || metadata === null || metadata === undefined || hold === 0n) return []
  const values: Metadata = JSON.parse(metadata)
  return labels.flatMap((label) => {
    const value = Object.hasOwn(values, label) ? values[label] : undefined
    return value === undefined ? [] : [{ budget_id: valueBudgetId(org_id, label, value), org_id, label, value }]
  })
}

/** The budget of a value in which no run was counted. */
export const newValueBudget = (
  { budget_id, label, value }: LabelAsk,
  limit: MicroUsd,
  period: BudgetPeriod,
  zone: Pick<KeyBudget, "zone"> = {}
): KeyBudget => ({
  ...{ budget_id, limit, period, label: { name: label, value }, ...zone },
  ...{
    reserved: zero,
    counted_on: "1970-01-01",
    spent_day: zero,
    spent_week: zero,
    spent_month: zero,
    spent_total: zero
  }
})
