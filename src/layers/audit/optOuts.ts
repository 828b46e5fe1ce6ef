/** Equation E23: no run that was admitted after an opt-out contacts the person. As SQL that lists violations. */
import { type Equation, violationRows } from "./Violation.ts"

/** Runs claim their recipients when they are admitted, at the time of their start if they wait for an approval. A run that surely contacted nobody has no claim any more. Erased runs name nobody. */
export const optOutViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT DISTINCT 'E23 no run that was admitted after an opt-out contacts the person' AS equation, c.run_id AS subject,
           'admitted at ' || a.admitted_at || ', and entry ' || o.id || ' for ' || o.kind || ' is of ' || o.created_at AS detail
    FROM contact_claims c JOIN runs r ON r.org_id = c.org_id AND r.run_id = c.run_id
    CROSS JOIN LATERAL (
      SELECT coalesce((SELECT p.requested_at FROM approvals p WHERE p.run_id = c.run_id), c.contacted_at) AS admitted_at
    ) a
    CROSS JOIN LATERAL json_array_elements(r.plan -> 'contacts' -> 'recipients') AS p(recipient)
    CROSS JOIN LATERAL json_array_elements_text(p.recipient -> 'identities') AS i(identity)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN i.identity LIKE 'n:%' THEN 'profile' ELSE 'email' END AS kind, substr(i.identity, 3) AS value
      UNION ALL
      SELECT 'domain', array_to_string(l.labels[n:], '.')
      FROM (SELECT string_to_array(regexp_replace(i.identity, '^.*@', ''), '.') AS labels) l, generate_series(1, cardinality(l.labels) - 1) n
      WHERE i.identity LIKE 'e:%'
    ) k
    JOIN opt_outs o ON o.digest = sha256(convert_to(k.value, 'UTF8')) AND o.kind = k.kind AND (o.org_id = c.org_id OR o.org_id IS NULL)
      AND o.created_at < a.admitted_at
    WHERE i.identity ~ '^[en]:' AND EXISTS (SELECT FROM opt_outs) AND ${ofWallet("c.org_id")} LIMIT ${limit}`)
