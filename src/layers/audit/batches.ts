/** Equation E16: each batch counts its rows by how they ended, and each row names one run and its charge. As SQL that lists violations. */
import type { SqlClient, Statement } from "effect/sql"
import { violationRows } from "./Violation.ts"

/** A run whose month was dropped has no charge any more to compare with. E5 compares the charges of the others with the ledger. */
export const batchViolations = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment,
  limit: number
) =>
  violationRows(sql`
    SELECT 'E16 each batch counts its rows and what their runs were charged' AS equation, b.batch_id AS subject,
           'counted ' || b.counts::text || ', rows ' || r.counts::text || '; charged ' || b.charged || ', rows ' || r.charged
             || '; rows that differ from their runs: ' || r.wrong AS detail
    FROM (SELECT *, ARRAY[total, succeeded, no_match, failed, blocked, invalid, cancelled] AS counts FROM batches) b
    JOIN (SELECT r.batch_id, coalesce(sum(r.charged), 0) AS charged,
                 ARRAY[count(*), count(*) FILTER (WHERE r.status = 'succeeded'), count(*) FILTER (WHERE r.status = 'no_match'),
                       count(*) FILTER (WHERE r.status = 'failed'), count(*) FILTER (WHERE r.status = 'blocked'),
                       count(*) FILTER (WHERE r.status = 'invalid'), count(*) FILTER (WHERE r.status = 'cancelled')]::int[] AS counts,
                 count(*) FILTER (WHERE n.finished_at IS NULL AND n.run_id IS NOT NULL OR n.charged <> r.charged)
                   + count(r.run_id) - count(DISTINCT r.run_id) AS wrong
          FROM batch_rows r JOIN batches o USING (batch_id) LEFT JOIN runs n ON n.org_id = o.org_id AND n.run_id = r.run_id
          WHERE ${ofWallet("o.org_id")} GROUP BY r.batch_id) r USING (batch_id)
    WHERE ${ofWallet("b.org_id")}
      AND (b.counts <> r.counts OR b.charged <> r.charged OR r.wrong > 0
           OR b.finished_at IS NOT NULL AND b.total <> b.succeeded + b.no_match + b.failed + b.blocked + b.invalid + b.cancelled)
    LIMIT ${limit}`)
