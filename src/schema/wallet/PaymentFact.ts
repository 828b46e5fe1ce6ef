/**
 * The events of a payment processor that the wallet actor decides on.
 *
 * Events may arrive late, twice and in any order. So each one states the current situation, not a change. They are stored in the mailbox as
 * JSON, with money as decimal strings.
 */
import { Schema } from "effect"
import { Usd } from "../money/Money.ts"

/** The money is with the processor. `session_id` is null for a charge without a checkout. */
export const Paid = Schema.TaggedStruct("Paid", {
  session_id: Schema.NullOr(Schema.String),
  payment_intent: Schema.NullOr(Schema.String),
  /** The processor's customer, when it keeps the payment method for later. */
  customer: Schema.NullOr(Schema.String),
  /** What the processor tells one payer's card from another's by. Null or absent: the processor did not say. */
  card: Schema.optionalKey(Schema.NullOr(Schema.String)),
  amount: Usd,
  /** Lower case: `usd`. */
  currency: Schema.String
})

/** The attempt to pay ended without money. `reason` is shown to the customer. */
export const Failed = Schema.TaggedStruct("Failed", {
  /** Of a checkout's payment method that failed later; null for a charge without a checkout. */
  session_id: Schema.NullOr(Schema.String),
  reason: Schema.String
})

/** Nobody paid in time, and nobody can any more. */
export const Expired = Schema.TaggedStruct("Expired", { session_id: Schema.String })

/**
 * Money that goes back to the payer: a refund or a dispute, by its own id.
 *
 * `noticed`: nothing is taken yet (an inquiry). `taken`: the processor has taken the money from us. `returned`: it came back, the refund failed
 * or the dispute was won; that is final. A standing never goes back, so the highest one seen holds.
 */
export const standings = ["noticed", "taken", "returned"] as const
export const Reversed = Schema.TaggedStruct("Reversed", {
  reversal_id: Schema.String,
  /** Of which charge: what a second charge of the same payment gives back was never credited here. */
  payment_intent: Schema.NullOr(Schema.String),
  kind: Schema.Literals(["refund", "dispute"]),
  amount: Usd,
  standing: Schema.Literals(standings)
})

export const PaymentFact = Schema.Union([Paid, Failed, Expired, Reversed])
export type PaymentFact = typeof PaymentFact.Type
export type Standing = (typeof standings)[number]
