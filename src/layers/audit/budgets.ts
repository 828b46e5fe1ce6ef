/** Equation E15: each budget of an API key, a batch or a label's value counts what its runs hold, and what the ledger says they were charged. As SQL that lists violations. */
import { type Equation, violationRows } from "./Violation.ts"

/**
 * A run of a batch counts in the batch's budget and in its parent, the budget of its key.
 *
 * The day, week and month are those of `counted_on`: `key_budget_holds` keeps that no entry of the budget is later. An organization whose old
 * months were dropped has charges that no entry shows any more, so its total, and sums of that time, may be higher than the entries.
 */
export const budgetViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E15 each key budget counts what its runs hold and were charged' AS equation, budget_id AS subject,
           'reserved ' || reserved || ', open runs and allowances ' || holds || '; day ' || spent_day || ', ledger ' || of_day || '; week ' || spent_week
             || ', ledger ' || of_week || '; month ' || spent_month || ', ledger ' || of_month || '; total ' || spent_total || ', ledger '
             || total AS detail
    FROM (
      SELECT b.*, coalesce(o.held, 0) + coalesce(g.given, 0) AS holds, coalesce(l.of_day, 0) AS of_day, coalesce(l.of_week, 0) AS of_week,
             coalesce(l.of_month, 0) AS of_month, coalesce(l.total, 0) + coalesce(g.spent, 0) AS total, g.spent IS NOT NULL AS has_given,
             EXISTS (SELECT FROM ledger_checkpoints k WHERE k.org_id = b.org_id) AS has_lost,
             b.counted_on < (SELECT max(time_of_run_id(to_id)) + interval '2 months' FROM dropped_months) AS is_old
      FROM key_budgets b
      LEFT JOIN (SELECT budget_id, sum(hold) AS held FROM (
                   SELECT c.budget_id, o.hold FROM open_runs o JOIN runs r USING (org_id, run_id)
                   JOIN key_budgets s ON s.budget_id = r.budget_id JOIN key_budgets c ON c.budget_id IN (s.budget_id, s.parent_id)
                   WHERE ${ofWallet("o.org_id")}
                   UNION ALL SELECT u.budget_id, o.hold FROM open_runs o, unnest(o.label_budgets) AS u (budget_id) WHERE ${ofWallet("o.org_id")}
                 ) h GROUP BY budget_id) o USING (budget_id)
      LEFT JOIN (SELECT budget_id, -sum(amount) AS total, -sum(amount) FILTER (WHERE day >= counted_on) AS of_day,
                        -sum(amount) FILTER (WHERE day >= date_trunc('week', counted_on)) AS of_week,
                        -sum(amount) FILTER (WHERE day >= date_trunc('month', counted_on)) AS of_month
                 FROM (SELECT c.budget_id, l.amount, c.counted_on::timestamp AS counted_on, spend_day(w.time_zones, l.created_at) AS day
                       FROM ledger l JOIN wallets w USING (org_id) JOIN runs r USING (org_id, run_id) JOIN key_budgets s ON s.budget_id = r.budget_id
                       JOIN key_budgets c ON c.budget_id IN (s.budget_id, s.parent_id)
                       WHERE l.type = 'settle' AND ${ofWallet("l.org_id")}
                       UNION ALL
                       SELECT c.budget_id, l.amount, c.counted_on::timestamp, spend_day(coalesce(c.time_zones, w.time_zones), l.created_at)
                       FROM label_budget_runs x JOIN key_budgets c USING (budget_id) JOIN ledger l ON l.org_id = x.org_id AND l.run_id = x.run_id
                       JOIN wallets w ON w.org_id = x.org_id
                       WHERE l.type = 'settle' AND ${ofWallet("x.org_id")}) e GROUP BY budget_id) l USING (budget_id)
      -- An allowance is one hold until it is closed, and then what it has spent, on the day on which it was closed.
      LEFT JOIN (SELECT held_in AS budget_id, coalesce(sum(amount) FILTER (WHERE allowance IN ('open', 'ended')), 0) AS given,
                        coalesce(sum(spent_total) FILTER (WHERE allowance = 'closed'), 0) AS spent
                 FROM key_budgets WHERE held_in IS NOT NULL AND ${ofWallet("org_id")} GROUP BY held_in) g USING (budget_id)
      WHERE ${ofWallet("b.org_id")}) b
    WHERE reserved <> holds OR spent_total < total OR spent_day < of_day OR spent_week < of_week OR spent_month < of_month
       OR (NOT has_lost AND spent_total <> total)
       OR (NOT (has_lost AND is_old) AND NOT has_given AND (spent_day, spent_week, spent_month) <> (of_day, of_week, of_month))
    LIMIT ${limit}`)

/** Equation E18: what wallets hold for allowances. An allowance's entries on the ledger have no run, and a reference that names its key. */
export const allowanceViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E18 each allowance holds what the ledger says, and no more than it has left' AS equation, subject, detail
    FROM (
      SELECT coalesce(b.key_id, l.key_id) AS subject,
             'holds ' || coalesce(b.held, 0) || ', ledger ' || coalesce(l.held, 0) || ', left '
               || coalesce(b.amount - b.reserved - b.spent_total, 0) || ', ' || coalesce(b.allowance, 'no such allowance') AS detail,
             b.key_id IS NOT NULL AND b.held = coalesce(l.held, 0) AND (b.allowance <> 'closed' OR b.reserved = 0)
               AND b.held <= CASE WHEN b.allowance IN ('open', 'ended') THEN greatest(0, b.amount - b.reserved - b.spent_total) ELSE 0 END AS holds
      FROM (SELECT * FROM key_budgets WHERE allowance IS NOT NULL AND ${ofWallet("org_id")}) b
      FULL JOIN (SELECT org_id, split_part(reference, ':', 2) AS key_id, -sum(amount) AS held FROM ledger
                 WHERE run_id IS NULL AND type IN ('reserve', 'release') AND ${ofWallet("org_id")} GROUP BY 1, 2) l USING (org_id, key_id)
      UNION ALL
      SELECT w.org_id, 'the wallet holds ' || w.allowances_held || ' for allowances, and they hold ' || coalesce(b.held, 0),
             w.allowances_held = coalesce(b.held, 0)
      FROM wallets w LEFT JOIN (SELECT org_id, sum(held) AS held FROM key_budgets WHERE held > 0 GROUP BY org_id) b USING (org_id)
      WHERE ${ofWallet("w.org_id")}) found
    WHERE NOT holds LIMIT ${limit}`)
