/** Shows an API key on the wire. */
import { defined } from "../../schema/defined.ts"
import type { KeyRow } from "../../layers/accounts/Accounts.ts"
import type { Allow } from "../../schema/accounts/KeyAccess.ts"
import { usd } from "../../schema/money/Money.ts"
import { type KeyBudget, spentIn } from "../../schema/wallet/KeyBudget.ts"
import { resetsAt } from "../../schema/money/SpendDay.ts"

const budgetView = (budget: KeyBudget, today: string) => ({
  limit: usd(budget.limit),
  period: budget.period,
  spent: usd(spentIn(budget, today)),
  resets_at: resetsAt(budget.period, today)?.toISOString() ?? null
})

export const allowView = ({ max_cost, ...rest }: Allow) => ({
  ...rest,
  ...defined({ max_cost: max_cost === undefined ? undefined : usd(max_cost) })
})

export const keyView = (row: KeyRow) => ({
  id: row.key_id,
  name: row.name,
  environment: row.environment,
  display: row.display,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  revoked: row.revoked_at !== null,
  expires_at: row.expires_at?.toISOString() ?? null,
  replaced_by: row.replaced_by,
  connected: row.connected,
  allowance: row.allowance,
  budget: row.budget === null ? null : budgetView(row.budget, row.today),
  allow: row.allow === null ? null : allowView(row.allow),
  created_at: row.created_at.toISOString(),
  created_by: row.created_by
})
