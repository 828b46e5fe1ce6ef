/**
 * Converts a Stripe event to facts about a payment. Pure, with one line per type of event.
 *
 * An event describes an object at the time of the event, so its facts hold in any order and any number of times. Events of other types, or
 * with an unexpected object, give no facts: other shops may use the same account.
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
  waited
} from "./StripeObjects.ts"
import { ofCents } from "../../schema/money/Money.ts"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"

/** The envelope. `account` names another account than ours, for platforms that hold several. */
export const StripeEvent = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^evt_\w{1,250}$/)),
  object: Schema.Literal("event"),
  type: Schema.String,
  livemode: Schema.Boolean,
  account: Schema.optional(Schema.NullOr(Schema.String)),
  data: Schema.Struct({ object: Schema.Unknown })
})
export type StripeEvent = typeof StripeEvent.Type

type Reading = Pick<ProcessorEvent, "about" | "facts" | "ask_reversals">

const nobody: EventSubject = { payment_id: null, session_id: null, payment_intent: null }
const silent: Reading = { about: nobody, facts: [], ask_reversals: false }

const reader = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, read: (object: S["Type"]) => Reading) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (object: unknown): Reading => Option.match(decode(object), { onNone: () => silent, onSome: read })
}

const session = (facts: (session: Session) => ReadonlyArray<PaymentFact>) =>
  reader(Session, (session) => ({
    about: { payment_id: paymentIdOf(session), session_id: session.id, payment_intent: idOf(session.payment_intent) },
    // Sessions of other modes belong to somebody else's shop.
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

const back = (payment_intent: string | null, facts: ReadonlyArray<PaymentFact>): Reading => ({
  about: { ...nobody, payment_intent },
  facts,
  ask_reversals: false
})
const refund = (failed: boolean) =>
  reader(Refund, (refund) => back(idOf(refund.payment_intent), refundFacts(refund, failed)))
const dispute = (moved?: "withdrawn" | "reinstated") =>
  reader(Dispute, (dispute) => back(idOf(dispute.payment_intent), disputeFacts(dispute, moved)))

const readers: Readonly<Record<string, (object: unknown) => Reading>> = {
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
    { _tag: "Failed", session_id: null, reason: declineOf(intent.last_payment_error ?? waited) }
  ]),
  "refund.created": refund(false),
  "refund.updated": refund(false),
  "refund.failed": refund(true),
  "charge.refund.updated": refund(false),
  // It tells a sum; which refunds it is made of must be asked.
  "charge.refunded": reader(Charge, (charge) => ({
    about: { ...nobody, payment_id: paymentIdOf(charge), payment_intent: idOf(charge.payment_intent) },
    facts: [],
    ask_reversals: idOf(charge.payment_intent) !== null
  })),
  "charge.dispute.created": dispute(),
  "charge.dispute.updated": dispute(),
  "charge.dispute.closed": dispute(),
  "charge.dispute.funds_withdrawn": dispute("withdrawn"),
  "charge.dispute.funds_reinstated": dispute("reinstated")
}

/** What a webhook endpoint at Stripe must be subscribed to, and what the reconciler reads. */
export const eventTypes: ReadonlyArray<string> = Object.keys(readers)

/** Stripe has no such intents: whoever signed this wants money that the audit would take for the sandbox's. */
const isMadeUp = ({ about, facts }: Reading): boolean =>
  [about, ...facts].some(
    (one) =>
      "payment_intent" in one && one.payment_intent !== null && one.payment_intent.startsWith(simulatedIntentPrefix)
  )

export const eventOf = ({ id, type, data }: StripeEvent): ProcessorEvent => {
  const reading = (Object.hasOwn(readers, type) ? readers[type]?.(data.object) : undefined) ?? silent
  return { event_id: id, type, ...(isMadeUp(reading) ? silent : reading) }
}
