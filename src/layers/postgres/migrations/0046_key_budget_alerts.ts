/**
 * Which part of a key's budget was told last, so that each crossing is told once per period.
 *
 * A table of its own, because it changes three times in a period and `key_budgets` with every run. Older releases ignore it, and tell
 * nothing.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const keyBudgetAlerts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE key_budget_alerts (
      budget_id text PRIMARY KEY REFERENCES key_budgets,
      -- In percent.
      reached smallint NOT NULL CHECK (reached IN (50, 80, 100)),
      -- The limit that it is about, in microdollars.
      amount bigint NOT NULL CHECK (amount > 0),
      period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
      -- The first day of the period that it is about.
      starts_on date,
      CONSTRAINT key_budget_alert_period CHECK ((starts_on IS NULL) = (period = 'total'))
    )`
})
