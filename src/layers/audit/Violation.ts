/** What an equation of the audit reports. */
import { type Effect, Schema } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
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

/** SQL that lists at most `limit` violations, of all wallets or of the one that `ofWallet` is a condition for. */
export type Equation = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment,
  limit: number
) => Effect.Effect<ReadonlyArray<Violation>, SqlError.SqlError>
