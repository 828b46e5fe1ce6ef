/**
 * Converts a Stripe event to facts about a payment. Pure, with one entry per event type.
 *
 * Facts can be applied in any order and any number of times. Events of other types, or with an unexpected object, have no facts,
 * because other products may use the same Stripe account.
 */
import { Option, Schema } from "effect"
import type { PaymentFact } from "../../schema/wallet/PaymentFact.ts"
import type { EventSubject, ProcessorEvent } from "./Payments.ts"
import {
  Charge,
  declineOf,
  Dispute,
  disputeFacts,
  idOf,
  Intent,
  isPaid,
  paymentIdOf,
  priceOf,
  reasonOf,
  Refund,
  refundFacts,
  Session,
  authenticationRequired
} from "./StripeObjects.ts"
import { ofCents } from "../../schema/money/Money.ts"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"

/** The envelope of an event. `account` is set on events about a connected account, which is never ours. */
export const StripeEvent = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^evt_\w{1,250}$/)),
  object: Schema.Literal("event"),
  type: Schema.String,
  livemode: Schema.Boolean,
  account: Schema.optional(Schema.NullOr(Schema.String)),
  data: Schema.Struct({ object: Schema.Unknown })
})
export type StripeEvent = typeof StripeEvent.Type

type EventContent = Pick<ProcessorEvent, "about" | "facts" | "ask_reversals">

const noSubject: EventSubject = { payment_id: null, session_id: null, payment_intent: null }
const noContent: EventContent = { about: noSubject, facts: [], ask_reversals: false }

const reader = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, read: (object: S["Type"]) => EventContent) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (object: unknown): EventContent => Option.match(decode(object), { onNone: () => noContent, onSome: read })
}

const session = (facts: (session: Session) => ReadonlyArray<PaymentFact>) =>
  reader(Session, (session) => ({
    about: { payment_id: paymentIdOf(session), session_id: session.id, payment_intent: idOf(session.payment_intent) },
    // Rungate only opens sessions that take a payment. Other sessions belong to another product.
    facts: priceOf(session) === null ? [] : facts(session),
    ask_reversals: false
  }))

const paidSession = session((session) => {
  const price = priceOf(session)
  if (price === null || !isPaid(session)) return []
  const payment_intent = idOf(session.payment_intent)
  return [{ _tag: "Paid", session_id: session.id, payment_intent, customer: idOf(session.customer), ...price }]
})

const intent = (facts: (intent: Intent) => ReadonlyArray<PaymentFact>) =>
  reader(Intent, (intent) => ({
    about: { payment_id: paymentIdOf(intent), session_id: null, payment_intent: intent.id },
    facts: facts(intent),
    ask_reversals: false
  }))

const reversal = (payment_intent: string | null, facts: ReadonlyArray<PaymentFact>): EventContent => ({
  about: { ...noSubject, payment_intent },
  facts,
  ask_reversals: false
})
const refund = (failed: boolean) =>
  reader(Refund, (refund) => reversal(idOf(refund.payment_intent), refundFacts(refund, failed)))
const dispute = (moved?: "withdrawn" | "reinstated") =>
  reader(Dispute, (dispute) => reversal(idOf(dispute.payment_intent), disputeFacts(dispute, moved)))

const readers: Readonly<Record<string, (object: unknown) => EventContent>> = {
  "checkout.session.completed": paidSession,
  "checkout.session.async_payment_succeeded": paidSession,
  "checkout.session.async_payment_failed": session(({ id }) => [
    { _tag: "Failed", session_id: id, reason: reasonOf(null) }
  ]),
  "checkout.session.expired": session(({ id }) => [{ _tag: "Expired", session_id: id }]),
  "payment_intent.succeeded": intent((intent) => [
    {
      _tag: "Paid",
      session_id: null,
      payment_intent: intent.id,
      customer: idOf(intent.customer),
      amount: ofCents(intent.amount_received ?? intent.amount),
      currency: intent.currency
    }
  ]),
  "payment_intent.payment_failed": intent((intent) => [
    { _tag: "Failed", session_id: null, reason: declineOf(intent.last_payment_error) }
  ]),
  "payment_intent.canceled": intent((intent) => [
    { _tag: "Failed", session_id: null, reason: declineOf(intent.last_payment_error ?? authenticationRequired) }
  ]),
  "refund.created": refund(false),
  "refund.updated": refund(false),
  "refund.failed": refund(true),
  "charge.refund.updated": refund(false),
  // This event has only the sum of the refunds, so the refunds must be fetched.
  "charge.refunded": reader(Charge, (charge) => ({
    about: { ...noSubject, payment_id: paymentIdOf(charge), payment_intent: idOf(charge.payment_intent) },
    facts: [],
    ask_reversals: idOf(charge.payment_intent) !== null
  })),
  "charge.dispute.created": dispute(),
  "charge.dispute.updated": dispute(),
  "charge.dispute.closed": dispute(),
  "charge.dispute.funds_withdrawn": dispute("withdrawn"),
  "charge.dispute.funds_reinstated": dispute("reinstated")
}

/** The event types that the webhook endpoint at Stripe must subscribe to, and that PaymentWorker polls for. */
export const eventTypes: ReadonlyArray<string> = Object.keys(readers)

/** True if the event has an id of the simulated processor, which Stripe never creates. The audit would take its money for the sandbox's. */
const isForged = ({ about, facts }: EventContent): boolean =>
  [about, ...facts].some(
    (one) =>
      "payment_intent" in one && one.payment_intent !== null && one.payment_intent.startsWith(simulatedIntentPrefix)
  )

export const eventOf = ({ id, type, data }: StripeEvent): ProcessorEvent => {
  const content = (Object.hasOwn(readers, type) ? readers[type]?.(data.object) : undefined) ?? noContent
  return { event_id: id, type, ...(isForged(content) ? noContent : content) }
}
