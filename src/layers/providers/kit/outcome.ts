/**
 * Builds the outcomes that adapters answer with, and reads what a provider says a call has cost.
 *
 * A cost is a decimal string without exponent; a report that can't be read is left out, so settlement uses the rate card.
 */
import type { Cost, Outcome } from "../../../schema/catalog/Provider.ts"
import { at, type Path } from "./read.ts"

/** A nanodollar is far below what anybody bills, and hides the noise of binary fractions (0.1 + 0.2). */
const decimalsMax = 9
/** More than any call costs; beyond it the report is a mistake. */
const amountMax = 1e9

const decimal = (reported: unknown): string | null => {
  if (typeof reported === "string") return /^\d{1,9}(\.\d{1,9})?$/.test(reported.trim()) ? reported.trim() : null
  if (typeof reported !== "number" || !(reported >= 0 && reported < amountMax)) return null
  return reported.toFixed(decimalsMax).replace(/\.?0+$/, "")
}

export const cost = (unit: Cost["unit"], reported: unknown, ...path: Path): Cost | null => {
  const amount = decimal(at(reported, ...path))
  return amount === null ? null : { unit, amount }
}

const costPart = (known: Cost | null) => (known === null ? {} : { cost: known })

export const match = <O>(output: O, known: Cost | null = null): Outcome<O> => ({
  _tag: "Match",
  output,
  ...costPart(known)
})

export const noMatch = (detail: string, known: Cost | null = null): Outcome<never> => ({
  _tag: "NoMatch",
  detail,
  ...costPart(known)
})
