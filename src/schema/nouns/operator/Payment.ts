/** A payment of any organization, and an event of the payment processor that did not fit one. */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { component, amount, amountAs, idOf, nullableText, org_id, organization, such, text, time } from "../Noun.ts"

export const paymentStates = ["open", "paid", "failed", "expired"] as const

const payment_id = idOf("pay")
const fields = {
  kind: such("checkout"),
  amount,
  state: Schema.Literals(paymentStates),
  session_id: Schema.NullOr(idOf("cs")),
  payment_intent: nullableText,
  clawed_back: amountAs("What refunds and disputes took back."),
  failure: nullableText,
  created_at: time,
  ended_at: Schema.NullOr(time)
}

const titles = { created_at: "When", clawed_back: "Taken back", payment_id: "At the processor" }

/** A payment of one organization. */
export const Payment = Schema.Struct({ payment_id, ...fields }).pipe(
  withColumns({ list: ["created_at", "kind", "state", "amount", "clawed_back", "payment_id"], titles })
)
export type Payment = typeof Payment.Type

export const OperatorPayment = component("OperatorPayment", { payment_id, org_id, organization, ...fields }).pipe(
  withColumns({
    list: ["created_at", "organization", "kind", "state", "amount", "clawed_back", "payment_id"],
    wide: ["payment_id", "clawed_back", "kind"],
    titles
  })
)
export type OperatorPayment = typeof OperatorPayment.Type

export const PaymentMismatch = component("PaymentMismatch", {
  event_id: text("The event's id at the payment processor."),
  payment_id,
  org_id,
  fact: Schema.String,
  created_at: time
}).pipe(
  withColumns({
    list: ["created_at", "event_id", "fact", "payment_id", "org_id"],
    titles: { created_at: "When", org_id: "Organization" }
  })
)
export type PaymentMismatch = typeof PaymentMismatch.Type
