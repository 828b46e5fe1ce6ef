/**
 * The money that a wallet holds for an allowance. Pure.
 *
 * An open allowance holds what its budget has left: a run's hold is taken out of it, and what the run did not cost goes back. The ledger
 * has an entry for each movement, of type `reserve` or `release` and without a run. Its reference names the allowance and who moved the
 * money, so the database accepts each movement once.
 */
import { max, type MicroUsd, min, minus, negate, plus, zero } from "../money/Money.ts"
import type { KeyBudget, Purse } from "./KeyBudget.ts"

/** References of ledger entries begin with it. */
const prefix = "allowance:"

/** `about` is a run, the key of an allowance beneath, `opened` or `ended`. */
export const purseReference = (key_id: string, about: string): string => `${prefix}${key_id}:${about}`

export interface PurseMovement {
  readonly type: "reserve" | "release"
  readonly amount: MicroUsd
  readonly run_id: null
  readonly reference: string
  readonly note: null
}

export const purseMovement = ({ key_id }: Purse, about: string, amount: MicroUsd): PurseMovement => ({
  type: amount > 0n ? "release" : "reserve",
  amount,
  run_id: null,
  reference: purseReference(key_id, about),
  note: null
})

/** The budget, or its parent, that belongs to an allowance. Null if neither does. */
export const allowanceOf = (budget: KeyBudget | null): (KeyBudget & { readonly purse: Purse }) | null => {
  if (budget === null) return null
  const { purse } = budget
  return purse === undefined ? allowanceOf(budget.parent ?? null) : { ...budget, purse }
}

/** What it has left: for runs to come, or for the allowance that gave it. */
const left = ({ limit, spent_total, reserved, purse }: KeyBudget): MicroUsd =>
  purse?.state === "open" || (purse?.state === "ended" && purse.nested)
    ? max(zero, minus(limit, plus(spent_total, reserved)))
    : zero

const withHeld = (budget: KeyBudget, held: MicroUsd): KeyBudget => {
  const { purse, parent } = budget
  if (purse !== undefined) return { ...budget, purse: { ...purse, held } }
  return parent === undefined ? budget : { ...budget, parent: withHeld(parent, held) }
}

export interface Moved<B> {
  readonly budget: B
  readonly movements: ReadonlyArray<PurseMovement>
  /** What became available in the wallet. */
  readonly freed: MicroUsd
}

/** Frees what the budget holds above what it has left. Call it after a hold was counted in the budget. */
export const drawn = <B extends KeyBudget | null>(budget: B, about: string): Moved<B | KeyBudget> => {
  const allowance = allowanceOf(budget)
  if (budget === null || allowance === null) return { budget, movements: [], freed: zero }
  const freed = max(zero, minus(allowance.purse.held, left(allowance)))
  if (freed === zero) return { budget, movements: [], freed }
  return {
    budget: withHeld(budget, minus(allowance.purse.held, freed)),
    movements: [purseMovement(allowance.purse, about, freed)],
    freed
  }
}

/**
 * Holds again what the budget has left, as far as the wallet's `free` money goes. Call it after a hold has ended. A wallet that owes money
 * after a refund has none.
 */
export const refilled = <B extends KeyBudget | null>(
  budget: B,
  about: string,
  free: MicroUsd
): Omit<Moved<B | KeyBudget>, "freed"> => {
  const allowance = allowanceOf(budget)
  if (budget === null || allowance === null) return { budget, movements: [] }
  const missing = min(minus(left(allowance), allowance.purse.held), max(zero, free))
  if (missing <= 0n) return { budget, movements: [] }
  return {
    budget: withHeld(budget, plus(allowance.purse.held, missing)),
    movements: [purseMovement(allowance.purse, about, negate(missing))]
  }
}
