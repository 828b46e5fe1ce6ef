/**
 * The events of a payment processor that the wallet actor decides on.
 *
 * Events may arrive late, twice and in any order. So each one states the current situation, not a change. They are stored in the mailbox as
 * JSON, with money as decimal strings.
 */
import { Schema } from "effect"
import { Usd } from "../money/Money.ts"

/** The processor has received the money. `session_id` is null for a charge without a checkout. */
export const Paid = Schema.TaggedStruct("Paid", {
  session_id: Schema.NullOr(Schema.String),
  payment_intent: Schema.NullOr(Schema.String),
  /** The processor's customer, if it saved the payment method. */
  customer: Schema.NullOr(Schema.String),
  /** The processor's fingerprint of the card. Null or absent if the processor did not send it. */
  card: Schema.optionalKey(Schema.NullOr(Schema.String)),
  amount: Usd,
  /** Lower case: `usd`. */
  currency: Schema.String
})

/** The attempt to pay ended without money. `reason` is shown to the customer. */
export const Failed = Schema.TaggedStruct("Failed", {
  /** The checkout whose payment failed later. Null for a charge without a checkout. */
  session_id: Schema.NullOr(Schema.String),
  reason: Schema.String
})

/** The checkout expired before it was paid. */
export const Expired = Schema.TaggedStruct("Expired", { session_id: Schema.String })

/**
 * Money that goes back to the payer: a refund or a dispute, by its own id.
 *
 * `noticed`: an inquiry, and no money was taken yet. `taken`: the processor has taken the money back. `returned`: the money came back, because
 * the refund failed or the dispute was won. A standing never goes backwards, so the highest one received applies.
 */
export const standings = ["noticed", "taken", "returned"] as const
export const Reversed = Schema.TaggedStruct("Reversed", {
  reversal_id: Schema.String,
  /** The charge that it takes back. A second charge of the same payment was never credited, so its reversal changes nothing. */
  payment_intent: Schema.NullOr(Schema.String),
  kind: Schema.Literals(["refund", "dispute"]),
  amount: Usd,
  standing: Schema.Literals(standings)
})

export const PaymentFact = Schema.Union([Paid, Failed, Expired, Reversed])
export type PaymentFact = typeof PaymentFact.Type
export type Standing = (typeof standings)[number]
