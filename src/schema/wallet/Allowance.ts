/**
 * Opens and ends allowances: an amount of the wallet that one API key may spend. Pure.
 *
 * For the budget of the key that gives it, an allowance is one hold, like that of a run: it holds the amount until the allowance is closed,
 * and then counts what was spent. A closed allowance never opens again.
 */
import { type MicroUsd, minus, plus, usd, zero } from "../money/Money.ts"
import { topUp } from "../Steps.ts"
import { countedIn, exceededBy, type KeyBudget, type Purse, withHold, withoutHold } from "./KeyBudget.ts"
import { drawn, purseMovement, refilled } from "./Purse.ts"
import { available, type Entry, post, type Wallet } from "./Wallet.ts"

export type AllowanceBudget = KeyBudget & { readonly purse: Purse }

/** `insufficient_balance`: the wallet has too little. `over_budget`: the budget or allowance of the key that gives it has too little, or has ended. */
export type AllowanceRefusal = "insufficient_balance" | "over_budget" | "wallet_suspended"

export type AllowanceVerdict =
  | { readonly _tag: "Opened" }
  | { readonly _tag: "Refused"; readonly code: AllowanceRefusal; readonly message: string }
  /** `closed` is false while its last runs are open. */
  | { readonly _tag: "Ended"; readonly closed: boolean }
  /** Its state no longer allows the command, so nothing changes. */
  | { readonly _tag: "Stale" }

export interface AllowanceDecision {
  readonly wallet: Wallet
  readonly entries: ReadonlyArray<Entry>
  readonly budget: KeyBudget
  /** The budget of the key that gave it, after the command. Null without one. */
  readonly parent: KeyBudget | null
  readonly verdict: AllowanceVerdict
}

const inState = (budget: AllowanceBudget, state: Purse["state"], held: MicroUsd = zero): KeyBudget => ({
  ...budget,
  purse: { ...budget.purse, state, held }
})

/** Holds the amount. `parent` is the budget of the key that gives the allowance. `day` is that of SpendDay.ts. */
export const openAllowance = (
  wallet: Wallet,
  budget: AllowanceBudget,
  parent: KeyBudget | null,
  day: string
): AllowanceDecision => {
  const same = { wallet, entries: [], budget, parent }
  if (budget.purse.state !== "pending") return { ...same, verdict: { _tag: "Stale" } }
  const { limit: amount, purse } = budget
  const refuse = (code: AllowanceRefusal, message: string): AllowanceDecision => ({
    ...same,
    budget: inState(budget, "closed"),
    verdict: { _tag: "Refused", code, message }
  })
  if (wallet.suspended === true)
    return refuse("wallet_suspended", "this wallet is suspended, so nothing was held; the operator can resume it")
  if (parent?.purse !== undefined && parent.purse.state !== "open")
    return refuse("over_budget", "the allowance of this API key has ended; nothing was held")
  const exceeded = parent === null ? null : exceededBy(parent, amount, day)
  if (exceeded !== null)
    return refuse(
      "over_budget",
      `this allowance would hold $${usd(amount)}; with $${usd(countedIn(exceeded, day))} spent or held it would exceed ${exceeded.purse === undefined ? "the budget" : "the allowance"} of this API key, $${usd(exceeded.limit)}; ask for a lower amount`
    )
  const taken = drawn(parent === null ? null : withHold(parent, amount, day), purse.key_id)
  const free = plus(available(wallet), taken.freed)
  if (amount > free)
    return refuse(
      "insufficient_balance",
      `this allowance would hold $${usd(amount)} and ${free < 0n ? `$${usd(-free)} is owed after a refund or a dispute` : `$${usd(free)} is available`}; ask for a lower amount, or top up with ${topUp.http}`
    )
  const posted = post(wallet, [...taken.movements, purseMovement(purse, "opened", minus(zero, amount))])
  return {
    ...posted,
    budget: inState(budget, "open", amount),
    parent: taken.budget,
    verdict: { _tag: "Opened" }
  }
}

/** Returns what it still holds. What its open runs do not cost is available when they end. Safe to repeat. */
export const endAllowance = (
  wallet: Wallet,
  budget: AllowanceBudget,
  parent: KeyBudget | null,
  day: string
): AllowanceDecision => {
  const { purse, limit, reserved, spent_total } = budget
  if (purse.state === "closed") return { wallet, entries: [], budget, parent, verdict: { _tag: "Ended", closed: true } }
  const closed = purse.state === "pending" || reserved === 0n
  const kept = closed || !purse.nested ? zero : purse.held
  const returned = post(wallet, purse.held > kept ? [purseMovement(purse, "ended", purse.held)] : [])
  const ended = {
    budget: inState(budget, closed ? "closed" : "ended", kept),
    verdict: { _tag: "Ended", closed } as const
  }
  // A pending one was never counted in the parent.
  if (parent === null || !closed || purse.state === "pending") return { ...returned, ...ended, parent }
  const resolved = withoutHold(parent, limit, spent_total, day)
  const refill = refilled(resolved, purse.key_id, available(returned.wallet))
  const posted = post(returned.wallet, refill.movements)
  return {
    wallet: posted.wallet,
    entries: [...returned.entries, ...posted.entries],
    ...ended,
    parent: refill.budget
  }
}
