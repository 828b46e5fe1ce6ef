/**
 * The platform's balance sheet: where the money in all wallets came from and where it went (E6). It also checks that a
 * referrer's share is not more than its part of what the platform earned (E12).
 *
 * For operators only, because it shows provider costs.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { violationRows } from "./equations.ts"
import { Sheet } from "../../schema/nouns/operator/Books.ts"
import { oneRowOf } from "../postgres/Rows.ts"

const sheetRow = oneRowOf(Sheet.fields)

export const readSheet = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  return yield* sheetRow(sql`
    SELECT e.*, w.*, r.*, x.*
    FROM (SELECT coalesce(sum(amount) FILTER (WHERE kind = 'topup'), 0)::bigint AS topups,
                 coalesce(sum(amount) FILTER (WHERE kind = 'clawback'), 0)::bigint AS clawed_back,
                 coalesce(sum(amount) FILTER (WHERE kind = 'bonus'), 0)::bigint AS bonuses,
                 coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0)::bigint AS refunds,
                 coalesce(sum(amount) FILTER (WHERE kind = 'settle'), 0)::bigint AS charged
          FROM (SELECT settle AS amount, 'settle' AS kind FROM ledger_checkpoints
                UNION ALL
                SELECT l.amount, CASE WHEN l.type <> 'refund' THEN l.type WHEN r.reversal_id IS NOT NULL THEN 'clawback'
                                      WHEN f.referral_id IS NOT NULL THEN 'bonus' ELSE 'refund' END AS kind
                FROM ledger l
                LEFT JOIN payment_reversals r ON l.type = 'refund' AND r.reversal_id = regexp_replace(l.reference, ':returned$', '')
                LEFT JOIN referrals f ON l.type = 'refund' AND f.referral_id = split_part(l.reference, ':', 1)
                WHERE l.type NOT IN ('reserve', 'release')) k) e,
         (SELECT coalesce(sum(balance), 0)::bigint AS balances FROM wallets) w,
         (SELECT sum(cost)::bigint AS provider_cost, sum(unknown)::bigint AS cost_unknown
          FROM (SELECT coalesce(sum(provider_cost), 0) AS cost, count(*) FILTER (WHERE charged > 0 AND provider_cost IS NULL) AS unknown FROM runs
                UNION ALL
                SELECT coalesce(sum(provider_cost), 0), coalesce(sum(cost_unknown), 0) FROM dropped_months) months) r,
         (SELECT coalesce(sum(loss), 0)::bigint AS losses, count(*) AS loss_runs FROM losses) x`)
})

/** The equations that concern several wallets. equations.ts has those of a single wallet. */
export const platformViolations = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sheet: Sheet) {
  const { topups, clawed_back, bonuses, refunds, charged, balances } = sheet
  const entered = topups + clawed_back + bonuses + refunds + charged
  // Recounts the revenue of the runs. Unpaid revenue can only lower a share, so it is not recounted.
  const shares = yield* violationRows(sql`
    SELECT 'E12 a referrer has at most its share of the platform''s net revenue from the referred organization''s runs' AS equation,
           f.referral_id AS subject,
           'share of ' || f.share_bps || ' bps, credited ' || f.credited || ', net revenue ' || f.net_revenue || ', counted again ' || n.counted AS detail
    FROM referrals f, LATERAL (
      SELECT coalesce(sum(greatest(0, -l.amount - coalesce(r.provider_cost, (-l.amount * 5 + 5) / 6))), 0)
             + (SELECT coalesce(sum(k.net_revenue), 0) FROM ledger_checkpoints k WHERE k.org_id = f.referred_org) AS counted
      FROM ledger l LEFT JOIN runs r ON r.org_id = l.org_id AND r.run_id = l.run_id
      WHERE l.org_id = f.referred_org AND l.seq <= f.accrued_seq AND l.type = 'settle' AND l.created_at < f.ends_at) n
    WHERE f.net_revenue <> n.counted OR f.credited::numeric * 10000 > n.counted * f.share_bps LIMIT 50`)
  const equation = "E6 the sum of all balances equals the money that came in minus the money that went out"
  return balances === entered
    ? shares
    : [...shares, { equation, subject: "all wallets", detail: `balances ${balances}, ledger ${entered}` }]
})
