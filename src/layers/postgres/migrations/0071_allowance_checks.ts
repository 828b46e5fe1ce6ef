/**
 * Validates the constraints of allowances (0070) in a transaction of its own, so that reads and writes go on while rows are read.
 *
 * A constraint of `ledger` that is not validated would keep a month's table from becoming part of it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const allowanceChecks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE ledger VALIDATE CONSTRAINT ledger_run`
  yield* sql`ALTER TABLE wallets VALIDATE CONSTRAINT wallet_allowances`
  yield* sql`ALTER TABLE key_budgets VALIDATE CONSTRAINT key_budget_allowance`
  yield* sql`ALTER TABLE key_budgets VALIDATE CONSTRAINT key_budget_held`
})
