/** The budgets of API keys during a turn: each command sees what the commands before it left, and the turn tells what they crossed. */
import type { BudgetAlertWrite } from "../../layers/ledger/BudgetTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/TurnStore.ts"
import { budgetReached, watchKeyBudget } from "../../schema/events/BudgetAlerts.ts"
import { type MicroUsd, max } from "../../schema/money/Money.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"

export const turnBudgets = (view: Pick<TurnView, "budgets" | "day">) => {
  const changed = new Map<string, KeyBudget>()
  const refused = new Map<string, MicroUsd>()
  const current = (budget_id: string) => changed.get(budget_id) ?? view.budgets.get(budget_id)?.budget

  /** What the budgets of this turn crossed. Null for a budget that crossed nothing. */
  const alertOf = (budget_id: string): BudgetAlertWrite | null => {
    const read = view.budgets.get(budget_id)
    const after = current(budget_id)
    if (read === undefined || after === undefined) return null
    const { told, budget: before, org_id, key_id } = read
    const alert = watchKeyBudget({ told, before, after, refused: refused.get(budget_id) ?? null, day: view.day })
    if (alert === null) return null
    const events = alert.steps.map((percent) => budgetReached(key_id, after, view.day, percent))
    return { budget_id, org_id, key_id, told: alert.told, events }
  }

  return {
    /** The budget that the run counts against. Null without one. */
    of: (run: TurnRun | null): KeyBudget | null => {
      if (run === null || run.budget_id === null) return null
      const budget = current(run.budget_id)
      if (budget === undefined) throw new Error(`${run.run_id} counts against ${run.budget_id}, which was not read.`)
      return budget
    },
    /** Keeps a budget as a command left it. One that is unchanged is not written. */
    set: (budget: KeyBudget | null) => {
      if (budget !== null && view.budgets.get(budget.budget_id)?.budget !== budget)
        changed.set(budget.budget_id, budget)
    },
    /** Notes that its budget refused the run. A run that fits no budget of this limit says nothing about its use. */
    refuse: ({ budget_id, hold }: TurnRun) => {
      const budget = budget_id === null ? undefined : current(budget_id)
      if (budget === undefined || hold > budget.limit) return
      refused.set(budget.budget_id, max(refused.get(budget.budget_id) ?? hold, hold))
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
