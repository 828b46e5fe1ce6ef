/** Payments of all organizations, and events of the processor that fit none of them. For operators. It changes nothing. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorPayment, PaymentMismatch, type paymentStates } from "../../schema/nouns/operator/Payment.ts"
import { storedAs } from "../postgres/Rows.ts"

const paymentRows = storedAs(OperatorPayment.fields)
const mismatchRows = storedAs(PaymentMismatch.fields)

export interface PaymentFilter {
  readonly org_id: string | null
  readonly state: (typeof paymentStates)[number] | null
}

export const makePaymentList = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Newest first; only those older than `before`, when given. */
  list: ({ org_id, state }: PaymentFilter, before: string | null, limit: number) =>
    paymentRows.all(sql`
      SELECT p.payment_id, p.org_id, o.name AS organization, p.kind, p.amount, p.state, p.session_id, p.payment_intent,
             p.clawed_back, p.failure, p.created_at, p.ended_at
      FROM payments p JOIN orgs o USING (org_id)
      WHERE (${org_id}::text IS NULL OR p.org_id = ${org_id}) AND (${state}::text IS NULL OR p.state = ${state})
        AND (${before}::text IS NULL OR p.payment_id < ${before})
      ORDER BY p.payment_id DESC LIMIT ${limit}`),
  /** Events that did not fit the stored payment, so nothing was booked. Newest first. */
  mismatches: (limit: number) =>
    mismatchRows.all(sql`
      SELECT event_id, payment_id, org_id, fact, created_at FROM payment_events
      WHERE outcome = 'mismatch' ORDER BY created_at DESC, event_id LIMIT ${limit}`)
}))
