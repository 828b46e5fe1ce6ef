/** Decides a command about an allowance in a turn. */
import {
  type AllowanceBudget,
  type AllowanceVerdict,
  endAllowance,
  openAllowance
} from "../../schema/wallet/Allowance.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import type { Entry, Wallet } from "../../schema/wallet/Wallet.ts"

interface Decided {
  readonly wallet: Wallet
  readonly entries: ReadonlyArray<Entry>
  /** Budgets after and before the command. */
  readonly budgets: ReadonlyArray<readonly [after: KeyBudget | null, before: KeyBudget | null]>
  readonly reply: { readonly verdict: string; readonly status?: string; readonly message?: string }
}

const replyOf = (verdict: AllowanceVerdict): Decided["reply"] => {
  switch (verdict._tag) {
    case "Refused":
      return { verdict: "Refused", status: verdict.code, message: verdict.message }
    case "Ended":
      return { verdict: verdict.closed ? "Closed" : "Ended" }
    default:
      return { verdict: verdict._tag }
  }
}

/** `allowance` is null if the allowance does not exist. */
export const decideAllowance = (
  wallet: Wallet,
  act: "open" | "end",
  allowance: { readonly budget: AllowanceBudget; readonly parent: KeyBudget | null } | null,
  day: string
): Decided => {
  if (allowance === null) return { wallet, entries: [], budgets: [], reply: { verdict: "Unknown" } }
  const decide = act === "open" ? openAllowance : endAllowance
  const decision = decide(wallet, allowance.budget, allowance.parent, day)
  return {
    wallet: decision.wallet,
    entries: decision.entries,
    budgets: [
      [decision.budget, allowance.budget],
      [decision.parent, allowance.parent]
    ],
    reply: replyOf(decision.verdict)
  }
}
