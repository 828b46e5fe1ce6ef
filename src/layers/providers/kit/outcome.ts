/**
 * Builds the outcomes that adapters return, and reads the cost that a provider reports for a call.
 *
 * A cost is a decimal string without exponent. An unreadable cost is left out, and the run is settled by the offer's price.
 */
import type { Cost, Outcome } from "../../../schema/catalog/Provider.ts"
import { at, type Path } from "./read.ts"

/** Nine decimals are finer than any price, and round off the error of binary fractions (0.1 + 0.2). */
const decimalsMax = 9
/** More than any call costs. A larger reported cost is a mistake and ignored. */
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

const costPart = (reportedCost: Cost | null) => (reportedCost === null ? {} : { cost: reportedCost })

export const match = <O>(output: O, reportedCost: Cost | null = null): Outcome<O> => ({
  _tag: "Match",
  output,
  ...costPart(reportedCost)
})

export const noMatch = (detail: string, reportedCost: Cost | null = null): Outcome<never> => ({
  _tag: "NoMatch",
  detail,
  ...costPart(reportedCost)
})
