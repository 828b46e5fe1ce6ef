/**
 * Schemas of the Stripe objects that Rungate reads: sessions, intents, charges, refunds and disputes.
 *
 * Webhooks, listed events and API answers may have different API versions. So unknown fields are dropped, references may be ids or
 * whole objects, and missing fields count as null.
 */
import { Schema } from "effect"
import { storableText } from "../../schema/json/StorableText.ts"
import { type MicroUsd, ofCents, zero } from "../../schema/money/Money.ts"
import type { PaymentFact, Standing } from "../../schema/wallet/PaymentFact.ts"

const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))
const Reference = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])
const Metadata = Schema.Record(Schema.String, Schema.String)
/** An amount in the currency's smallest unit. Only amounts in `usd` are credited. */
const Cents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
/** The error of a refused payment. Stripe's `message` is written for the customer. */
const PaymentError = Schema.Struct({ message: maybe(Schema.String), code: maybe(Schema.String) })

export const Session = Schema.Struct({
  id: Schema.String,
  mode: maybe(Schema.String),
  status: maybe(Schema.String),
  payment_status: maybe(Schema.String),
  amount_total: maybe(Cents),
  currency: maybe(Schema.String),
  payment_intent: maybe(Reference),
  customer: maybe(Reference),
  client_reference_id: maybe(Schema.String),
  metadata: maybe(Metadata),
  url: maybe(Schema.String),
  expires_at: maybe(Schema.Int)
})
export type Session = typeof Session.Type

export const Intent = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  amount: Cents,
  amount_received: maybe(Cents),
  currency: Schema.String,
  customer: maybe(Reference),
  setup_future_usage: maybe(Schema.String),
  payment_method: maybe(Schema.Unknown),
  last_payment_error: maybe(PaymentError),
  metadata: maybe(Metadata)
})
export type Intent = typeof Intent.Type

const Digits = Schema.Struct({ last4: maybe(Schema.String), fingerprint: maybe(Schema.String) })
export const Method = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  customer: maybe(Reference),
  card: maybe(Schema.Struct({ ...Digits.fields, brand: maybe(Schema.String) })),
  us_bank_account: maybe(Schema.Struct({ ...Digits.fields, bank_name: maybe(Schema.String) }))
})
export type Method = typeof Method.Type

export const Charge = Schema.Struct({ payment_intent: maybe(Reference), metadata: maybe(Metadata) })

export const Refund = Schema.Struct({
  id: Schema.String,
  status: maybe(Schema.String),
  amount: Cents,
  currency: Schema.String,
  payment_intent: maybe(Reference)
})
export type Refund = typeof Refund.Type

export const Dispute = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  amount: Cents,
  currency: Schema.String,
  payment_intent: maybe(Reference),
  /** Money that the dispute moved out of our Stripe account (negative) or back into it. */
  balance_transactions: maybe(Schema.Array(Schema.Struct({ amount: Schema.Int })))
})
export type Dispute = typeof Dispute.Type

export const idOf = (reference: typeof Reference.Type | null | undefined): string | null =>
  typeof reference === "string" ? reference : (reference?.id ?? null)

/** Other products write metadata too, so the id may be any text. */
export const paymentIdOf = ({ metadata }: { readonly metadata?: typeof Metadata.Type | null | undefined }) =>
  metadata?.["payment_id"] === undefined ? null : storableText(metadata["payment_id"])

/** Null if the session takes no payment, such as one that only saves a card. */
export const priceOf = (session: Session): { readonly amount: MicroUsd; readonly currency: string } | null => {
  const { amount_total, currency, mode } = session
  if (mode !== "payment" || typeof amount_total !== "number" || typeof currency !== "string") return null
  return { amount: ofCents(amount_total), currency }
}

/** A complete session may not be paid yet, because some payment methods take days. */
export const isPaid = (session: Session): boolean => session.payment_status === "paid"

const failedDefault = "The payment failed."
const reasonCharsMax = 300
export const reasonOf = (error: typeof PaymentError.Type | null | undefined): string =>
  (error?.message ?? failedDefault).slice(0, reasonCharsMax)

const authenticationMessage =
  "The bank wants its customer to confirm this payment. Top up once through the checkout page."
/** Stands for the missing error of a cancelled intent. Rungate cancels intents that wait for the customer's authentication. */
export const authenticationRequired = { code: "authentication_required" } as const
/** The message to the customer about a declined charge, the same for an API answer and for an event. */
export const declineOf = (error: typeof PaymentError.Type | null | undefined): string =>
  error?.code === authenticationRequired.code ? authenticationMessage : reasonOf(error)

export const labelOf = (method: Method): string => {
  const { card, us_bank_account: account, type } = method
  const [name, last4] = card
    ? [card.brand ?? "card", card.last4]
    : account
      ? [account.bank_name ?? "bank account", account.last4]
      : [type.replaceAll("_", " "), null]
  return last4 ? `${name} ending in ${last4}` : name
}

/**
 * Identifies a card or bank account, the same for every customer who uses it: Stripe's fingerprint. Methods without a fingerprint
 * (Link, most wallets) are identified by their own id.
 */
export const cardOf = ({ id, card, us_bank_account: account }: Method): string =>
  card?.fingerprint ?? account?.fingerprint ?? id

const reversalFacts = (
  kind: "refund" | "dispute",
  object: Pick<Refund, "id" | "amount" | "currency" | "payment_intent">,
  standing: Standing
): ReadonlyArray<PaymentFact> => {
  const amount = ofCents(object.amount)
  // Only payments in dollars were credited, and an amount of zero changes nothing.
  if (object.currency !== "usd" || amount === zero) return []
  return [
    { _tag: "Reversed", reversal_id: object.id, payment_intent: idOf(object.payment_intent), kind, amount, standing }
  ]
}

/** A refund counts as soon as it is created, because the money is leaving our account. */
export const refundFacts = (refund: Refund, failed = false): ReadonlyArray<PaymentFact> =>
  reversalFacts("refund", refund, failed || ["failed", "canceled"].includes(refund.status ?? "") ? "returned" : "taken")

/** Statuses in which the disputed money has been taken from our account. */
const takenStatuses: ReadonlyArray<string> = [
  "needs_response",
  "under_review",
  "appeal_needs_response",
  "appeal_under_review",
  "lost"
]

/**
 * Whether a dispute took money. Status `won` returned it, and `takenStatuses` took it. Every other status (an inquiry, `prevented`, an
 * unknown one) does not say, so the movements of our balance decide.
 */
const standingOf = (dispute: Dispute): Standing => {
  if (dispute.status === "won") return "returned"
  if (takenStatuses.includes(dispute.status)) return "taken"
  const movements = (dispute.balance_transactions ?? []).map(({ amount }) => amount)
  if (movements.reduce((total, amount) => total + amount, 0) < 0) return "taken"
  return movements.some((amount) => amount < 0) ? "returned" : "noticed"
}

/** `moved` is set for events about the money itself. `reinstated` always counts. `withdrawn` counts if the status does not say. */
export const disputeFacts = (dispute: Dispute, moved?: "withdrawn" | "reinstated"): ReadonlyArray<PaymentFact> => {
  const standing = standingOf(dispute)
  if (moved === "reinstated") return reversalFacts("dispute", dispute, "returned")
  return reversalFacts("dispute", dispute, moved === "withdrawn" && standing === "noticed" ? "taken" : standing)
}
