/** Equation E19: each refund of the outcome warranty is decided once, within its run's charge and the operator's share. As SQL that lists violations. */
import type { SqlClient, Statement } from "effect/sql"
import { violationRows } from "./Violation.ts"

export const warrantyViolations = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment,
  limit: number
) =>
  // A run may be gone with its month. A refund whose command is still queued is not entered yet.
  violationRows(sql`
    SELECT 'E19 each refund of the warranty is one entry of at most its run''s charge' AS equation, coalesce(x.run_id, l.reference) AS subject,
           'decided ' || coalesce(x.amount::text, 'nothing') || ', entered ' || coalesce(l.amount::text, 'nothing')
             || ', charged ' || coalesce(r.charged::text, 'nothing') AS detail
    FROM (SELECT * FROM warranty_refunds WHERE ${ofWallet("org_id")}) x
    FULL JOIN (SELECT org_id, reference, amount FROM ledger
               WHERE type = 'refund' AND run_id IS NULL AND left(reference, 9) = 'warranty:' AND ${ofWallet("org_id")}) l
      ON l.org_id = x.org_id AND l.reference = 'warranty:' || x.run_id
    LEFT JOIN runs r ON r.org_id = x.org_id AND r.run_id = x.run_id
    WHERE x.run_id IS NULL OR l.amount <> x.amount
       OR (l.reference IS NULL AND NOT EXISTS (SELECT FROM mailbox m WHERE m.org_id = x.org_id AND m.command_id = 'warranty:' || x.run_id))
       OR (r.run_id IS NOT NULL AND (x.amount > coalesce(r.charged, 0) OR r.reused_from IS NOT NULL))
    LIMIT ${limit}`)
