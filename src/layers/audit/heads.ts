/** Equation E17: each signed head is an entry of the ledger's chain. As SQL that lists violations. */
import type { SqlClient, Statement } from "effect/sql"
import { violationRows } from "./Violation.ts"

/** An entry may be gone only if it was dropped with its month, behind a checkpoint. */
export const headViolations = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment,
  limit: number
) =>
  violationRows(sql`
    SELECT 'E17 each signed head is an entry of the chain' AS equation, h.org_id || ' on ' || h.day AS subject,
           'entry ' || h.seq || CASE WHEN l.seq IS NULL AND k.seq IS NULL THEN ' is missing' ELSE ' has another hash than the one that was signed' END AS detail
    FROM wallet_heads h LEFT JOIN ledger l ON l.org_id = h.org_id AND l.seq = h.seq
    LEFT JOIN LATERAL (SELECT max(c.seq) AS seq FROM ledger_checkpoints c WHERE c.org_id = h.org_id) d ON true
    LEFT JOIN ledger_checkpoints k ON k.org_id = h.org_id AND k.seq = h.seq
    WHERE ${ofWallet("h.org_id")} AND (coalesce(l.hash, k.hash) <> h.hash OR (l.seq IS NULL AND h.seq > coalesce(d.seq, 0)))
    ORDER BY h.org_id, h.day LIMIT ${limit}`)
