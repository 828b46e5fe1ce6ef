/** Shows an allowance on the wire. */
import type { AllowanceRow } from "../../layers/allowances/AllowanceStore.ts"
import { usd } from "../../schema/money/Money.ts"
import { allowView } from "./KeyView.ts"

export const allowanceView = (row: AllowanceRow) => {
  const active = row.usable && row.state === "open"
  return {
    id: row.key_id,
    name: row.name,
    parent_id: row.parent_key_id,
    depth: row.depth,
    status: active ? ("active" as const) : ("ended" as const),
    amount: usd(row.amount),
    spent: usd(row.spent),
    held: usd(row.held + row.reserved),
    available: usd(active ? row.held : 0n),
    expires_at: row.expires_at?.toISOString() ?? null,
    allow: row.allow === null ? null : allowView(row.allow),
    display: row.display,
    created_at: row.created_at.toISOString()
  }
}
