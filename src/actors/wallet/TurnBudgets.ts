/**
 * The budgets of API keys, batches and labels during a turn: each command sees what the commands before it left, and the turn tells what they crossed.
 *
 * A batch's budget and that of its key are two rows. Here the key's budget is the parent of the batch's, so that a run counts in both.
 */
import type { BudgetAlertWrite } from "../../layers/ledger/BudgetTurn.ts"
import { type TurnRun, type TurnView, walletDay } from "../../layers/ledger/Turn.ts"
import { budgetReached, watchKeyBudget } from "../../schema/events/BudgetAlerts.ts"
import { labelAsks } from "../../schema/wallet/LabelBudget.ts"
import { type MicroUsd, max } from "../../schema/money/Money.ts"
import type { BudgetControl } from "../../schema/wallet/Wallet.ts"
import { chained, isOfBatch, type KeyBudget } from "../../schema/wallet/KeyBudget.ts"

export const turnBudgets = (view: Pick<TurnView, "budgets" | "day" | "wallets">) => {
  const changed = new Map<string, KeyBudget>()
  const refused = new Map<string, MicroUsd>()
  const current = (budget_id: string) => changed.get(budget_id) ?? view.budgets.get(budget_id)?.budget
  const parentOf = (budget_id: string): string | null => view.budgets.get(budget_id)?.parent_id ?? null

  /** A new run counts in those budgets of its labels that there are now. */
  const labelsOf = (run: TurnRun): ReadonlyArray<string> =>
    run.status === "created"
      ? labelAsks(view.wallets.get(run.org_id)?.wallet.budget_labels, run).flatMap(({ budget_id }) =>
          view.budgets.has(budget_id) ? [budget_id] : []
        )
      : (run.label_budgets ?? [])

  const idsOf = (run: TurnRun): ReadonlyArray<string> =>
    [run.budget_id, run.budget_id === null ? null : parentOf(run.budget_id), ...labelsOf(run)].flatMap((id) => id ?? [])

  const readOf = (run_id: string, budget_id: string): KeyBudget => {
    const budget = current(budget_id)
    if (budget === undefined) throw new Error(`${run_id} counts against ${budget_id}, which was not read.`)
    return budget
  }
  const keep = ({ parent, ...budget }: KeyBudget): void => {
    changed.set(budget.budget_id, budget)
    if (parent !== undefined) keep(parent)
  }

  /** What the budgets of this turn crossed. Null for a budget that crossed nothing, and for that of a batch. */
  const alertOf = (budget_id: string): BudgetAlertWrite | null => {
    const read = view.budgets.get(budget_id)
    const after = current(budget_id)
    if (read === undefined || after === undefined || isOfBatch(after)) return null
    const { lastAlert, budget: before, org_id, key_id } = read
    const day = walletDay(view, org_id)
    const alert = watchKeyBudget({ lastAlert, before, after, refused: refused.get(budget_id) ?? null, day })
    if (alert === null) return null
    const zones = view.wallets.get(org_id)?.wallet.time_zones
    const events = alert.steps.map((percent) => budgetReached(key_id, after, day, percent, zones))
    return { budget_id, org_id, key_id, lastAlert: alert.lastAlert, events }
  }

  return {
    /** A budget and the one that it is held in, for the command of an allowance. Null if it was not read, or is of no allowance. */
    allowance: (budget_id: string) => {
      const budget = current(budget_id)
      if (budget?.purse === undefined) return null
      const held_in = view.budgets.get(budget_id)?.held_in ?? null
      return {
        budget: { ...budget, purse: budget.purse },
        parent: held_in === null ? null : (current(held_in) ?? null)
      }
    },
    /** The budget that the run counts against. Null without one. */
    of: (run: TurnRun | null): KeyBudget | null =>
      run === null ? null : chained(idsOf(run).map((id) => readOf(run.run_id, id))),
    labelsOf,
    /** Keeps a budget as a command left it. `before` is what the command saw: a budget that it did not change is not written. */
    set: (budget: KeyBudget | null, before: KeyBudget | null) => {
      if (budget !== null && budget !== before) keep(budget)
    },
    /** Notes that the budget of its key, or one of its labels, refused the run. A run that fits no budget of this limit says nothing about its use. */
    refuse: (run: TurnRun, control: BudgetControl) => {
      const { budget_id, hold } = run
      const ofKey = budget_id === null ? [] : [parentOf(budget_id) ?? budget_id]
      for (const id of control === "label_budget" ? labelsOf(run) : ofKey) {
        const budget = current(id)
        if (budget === undefined || hold > budget.limit) continue
        refused.set(id, max(refused.get(id) ?? hold, hold))
      }
    },
    /** What to write. An alert is written with its budget, whose version keeps another turn from telling it too. */
    effects: () => {
      const budget_alerts = [...new Set([...changed.keys(), ...refused.keys()])].flatMap((id) => alertOf(id) ?? [])
      for (const { budget_id } of budget_alerts) {
        const budget = current(budget_id)
        if (budget !== undefined) changed.set(budget_id, budget)
      }
      return { budgets: [...changed.values()], budget_alerts }
    }
  }
}
