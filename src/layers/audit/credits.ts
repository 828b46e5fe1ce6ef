/** Equation E24: each account at a provider reserves what its calls hold and have spent since the balance was read. As SQL that lists violations. */
import { type Equation, violationRows } from "./Violation.ts"

/** The accounts are the service's, so the audit of one wallet has none. */
export const creditViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E24 each provider account reserves what its calls hold and have spent since it was read' AS equation, c.provider AS subject,
           'reserved ' || c.reserved || ', calls ' || coalesce(h.amount, 0) AS detail
    FROM provider_credits c LEFT JOIN (SELECT provider, sum(amount) AS amount FROM provider_credit_holds GROUP BY provider) h USING (provider)
    WHERE ${ofWallet("''")} AND c.reserved <> coalesce(h.amount, 0) LIMIT ${limit}`)
