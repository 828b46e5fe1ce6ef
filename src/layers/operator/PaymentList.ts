/** Payments of all organizations, and events of the processor that fit none of them. For operators. It changes nothing. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"

export const paymentStates = ["open", "paid", "failed", "expired"] as const

export const ListedPayment = Schema.Struct({
  payment_id: Schema.String,
  org_id: Schema.String,
  organization: Schema.String,
  kind: Schema.String,
  amount: Schema.BigInt,
  state: Schema.Literals(paymentStates),
  session_id: Schema.NullOr(Schema.String),
  payment_intent: Schema.NullOr(Schema.String),
  clawed_back: Schema.BigInt,
  failure: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  ended_at: Schema.NullOr(Schema.Date)
})
export type ListedPayment = typeof ListedPayment.Type
const paymentRows = rowsOf(ListedPayment.fields)

export const Mismatch = Schema.Struct({
  event_id: Schema.String,
  payment_id: Schema.String,
  org_id: Schema.String,
  fact: Schema.String,
  created_at: Schema.Date
})
export type Mismatch = typeof Mismatch.Type
const mismatchRows = rowsOf(Mismatch.fields)

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
    ) => Effect.Effect<ReadonlyArray<ListedPayment>>
    /** Events that did not fit the stored payment, so nothing was booked. Newest first. */
    readonly mismatches: (limit: number) => Effect.Effect<ReadonlyArray<Mismatch>>
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
