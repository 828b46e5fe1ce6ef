/** The budgets of API keys during a turn: each command sees what the commands before it left. */
import type { TurnRun, TurnView } from "../../layers/ledger/TurnStore.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"

export const turnBudgets = (view: Pick<TurnView, "budgets">) => {
  const changed = new Map<string, KeyBudget>()
  return {
    /** The budget that the run counts against. Null without one. */
    of: (run: TurnRun | null): KeyBudget | null => {
      if (run === null || run.budget_id === null) return null
      const budget = changed.get(run.budget_id) ?? view.budgets.get(run.budget_id)?.budget
      if (budget === undefined) throw new Error(`${run.run_id} counts against ${run.budget_id}, which was not read.`)
      return budget
    },
    /** Keeps a budget as a command left it. One that is unchanged is not written. */
    set: (budget: KeyBudget | null) => {
      if (budget !== null && view.budgets.get(budget.budget_id)?.budget !== budget)
        changed.set(budget.budget_id, budget)
    },
    changed: (): ReadonlyArray<KeyBudget> => [...changed.values()]
  }
}
