/** What an equation of the audit reports. */
import { Schema } from "effect"
import { rowsOf } from "../postgres/Rows.ts"

export const Violation = Schema.Struct({
  equation: Schema.String,
  /** The wallet, entry, run, payment or referral that violates the equation. */
  subject: Schema.String,
  /** Amounts in microdollars. */
  detail: Schema.String
})
export type Violation = typeof Violation.Type
/** Rows of a statement that finds violations. */
export const violationRows = rowsOf(Violation.fields)
