/** Equation E15: each budget of an API key or a batch counts what its runs hold, and what the ledger says they were charged. As SQL that lists violations. */
import type { SqlClient, Statement } from "effect/sql"
import { violationRows } from "./Violation.ts"

/**
 * A run of a batch counts in the batch's budget and in its parent, the budget of its key.
 *
 * The day, week and month are those of `counted_on`: migration 0034 keeps that no entry of the budget is later. An organization whose old
 * months were dropped has charges that no entry shows any more, so its total, and sums of that time, may be higher than the entries.
 */
export const budgetViolations = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment,
  limit: number
) =>
  violationRows(sql`
    SELECT 'E15 each key budget counts what its runs hold and were charged' AS equation, budget_id AS subject,
           'reserved ' || reserved || ', open runs ' || held || '; day ' || spent_day || ', ledger ' || of_day || '; week ' || spent_week
             || ', ledger ' || of_week || '; month ' || spent_month || ', ledger ' || of_month || '; total ' || spent_total || ', ledger '
             || total AS detail
    FROM (
      SELECT b.*, coalesce(o.held, 0) AS held, coalesce(l.of_day, 0) AS of_day, coalesce(l.of_week, 0) AS of_week,
             coalesce(l.of_month, 0) AS of_month, coalesce(l.total, 0) AS total,
             EXISTS (SELECT FROM ledger_checkpoints k WHERE k.org_id = b.org_id) AS has_lost,
             b.counted_on < (SELECT max(time_of_run_id(to_id)) + interval '2 months' FROM dropped_months) AS is_old
      FROM key_budgets b
      LEFT JOIN (SELECT c.budget_id, sum(o.hold) AS held FROM open_runs o JOIN runs r USING (org_id, run_id)
                 JOIN key_budgets s ON s.budget_id = r.budget_id JOIN key_budgets c ON c.budget_id IN (s.budget_id, s.parent_id)
                 WHERE ${ofWallet("o.org_id")} GROUP BY c.budget_id) o USING (budget_id)
      LEFT JOIN (SELECT budget_id, -sum(amount) AS total, -sum(amount) FILTER (WHERE day >= counted_on) AS of_day,
                        -sum(amount) FILTER (WHERE day >= date_trunc('week', counted_on)) AS of_week,
                        -sum(amount) FILTER (WHERE day >= date_trunc('month', counted_on)) AS of_month
                 FROM (SELECT c.budget_id, l.amount, c.counted_on::timestamp AS counted_on, (l.created_at AT TIME ZONE 'UTC')::date AS day
                       FROM ledger l JOIN runs r USING (org_id, run_id) JOIN key_budgets s ON s.budget_id = r.budget_id
                       JOIN key_budgets c ON c.budget_id IN (s.budget_id, s.parent_id)
                       WHERE l.type = 'settle' AND ${ofWallet("l.org_id")}) e GROUP BY budget_id) l USING (budget_id)
      WHERE ${ofWallet("b.org_id")}) b
    WHERE reserved <> held OR spent_total < total OR spent_day < of_day OR spent_week < of_week OR spent_month < of_month
       OR (NOT has_lost AND spent_total <> total)
       OR (NOT (has_lost AND is_old) AND (spent_day, spent_week, spent_month) <> (of_day, of_week, of_month))
    LIMIT ${limit}`)
