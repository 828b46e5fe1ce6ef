/** Payments of all organizations, and events of the processor that fit none of them. For operators. It changes nothing. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorPayment, PaymentMismatch, type paymentStates } from "../../schema/nouns/operator/Payment.ts"
import { rowsOf } from "../postgres/Rows.ts"

const paymentRows = rowsOf(OperatorPayment.fields)
const mismatchRows = rowsOf(PaymentMismatch.fields)

export interface PaymentFilter {
  readonly org_id: string | null
  readonly state: (typeof paymentStates)[number] | null
}

export class PaymentList extends Context.Service<
  PaymentList,
  {
    /** Newest first; only those older than `before`, when given. */
    readonly list: (
      filter: PaymentFilter,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OperatorPayment>>
    /** Events that did not fit the stored payment, so nothing was booked. Newest first. */
    readonly mismatches: (limit: number) => Effect.Effect<ReadonlyArray<PaymentMismatch>>
  }
>()("rungate/layers/operator/PaymentList") {
  static readonly layer = Layer.effect(
    PaymentList,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const list = ({ org_id, state }: PaymentFilter, before: string | null, limit: number) =>
        paymentRows(sql`
          SELECT p.payment_id, p.org_id, o.name AS organization, p.kind, p.amount, p.state, p.session_id, p.payment_intent,
                 p.clawed_back, p.failure, p.created_at, p.ended_at
          FROM payments p JOIN orgs o USING (org_id)
          WHERE (${org_id}::text IS NULL OR p.org_id = ${org_id}) AND (${state}::text IS NULL OR p.state = ${state})
            AND (${before}::text IS NULL OR p.payment_id < ${before})
          ORDER BY p.payment_id DESC LIMIT ${limit}`)
      const mismatches = (limit: number) =>
        mismatchRows(sql`
          SELECT event_id, payment_id, org_id, fact, created_at FROM payment_events
          WHERE outcome = 'mismatch' ORDER BY created_at DESC, event_id LIMIT ${limit}`)
      return PaymentList.of({
        list: (filter, before, limit) => Effect.orDie(list(filter, before, limit)),
        mismatches: (limit) => Effect.orDie(mismatches(limit))
      })
    })
  )
}
