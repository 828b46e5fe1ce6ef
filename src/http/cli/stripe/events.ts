/**
 * The Stripe events that can be triggered: what each does here, and how Stripe writes it. Pure; `trigger.ts` sends them.
 *
 * Objects have only the fields that the service reads. Payments are made up, so their ids say `trigger`. An intent's id follows from its
 * checkout, so that its refund can be triggered days later. No customer is named: a card that doesn't exist must not be saved.
 */
import { createHash } from "node:crypto"

/** What an event is about. */
export interface Subject {
  readonly session_id: string | null
  readonly payment_id: string | null
  readonly payment_intent: string
  /** Of a refund or a dispute. */
  readonly reversal_id: string
  readonly cents: number
  /** Of a dispute that is closed. */
  readonly outcome: Outcome
}

export const outcomes = ["won", "lost", "warning_closed"] as const
export type Outcome = (typeof outcomes)[number]

/** What must be there before: a checkout that was opened, one that was paid, a named payment, an intent that Stripe knows. */
export type Needs = "checkout" | "paid" | "payment" | "intent"

export interface Trigger {
  readonly does: string
  readonly needs: Needs
  /** What happened to the same object before, and is sent first when the object is new. */
  readonly before?: "refund.created" | "charge.dispute.created"
  readonly object: (subject: Subject) => object
  /** The reference of the ledger entry that it makes; null when it makes none. */
  readonly books: (subject: Subject) => string | null
}

const common = ({ cents, payment_id }: Subject) => ({
  amount: cents,
  currency: "usd",
  customer: null,
  metadata: payment_id === null ? {} : { payment_id }
})

const checkout = (does: string, payment_status: "paid" | "unpaid", status = "complete"): Trigger => ({
  does,
  needs: "checkout",
  object: (subject) => ({
    ...common(subject),
    id: subject.session_id,
    object: "checkout.session",
    amount_total: subject.cents,
    mode: "payment",
    payment_intent: status === "expired" ? null : subject.payment_intent,
    payment_status,
    status
  }),
  books: ({ session_id }) => (payment_status === "paid" ? session_id : null)
})

const charge = (does: string, status: "succeeded" | "requires_payment_method" | "canceled"): Trigger => ({
  does,
  needs: "payment",
  object: (subject) => ({
    ...common(subject),
    id: subject.payment_intent,
    object: "payment_intent",
    last_payment_error:
      status === "requires_payment_method" ? { code: "card_declined", message: "Your card was declined." } : null,
    status
  }),
  books: ({ payment_intent }) => (status === "succeeded" ? payment_intent : null)
})

const reversal = (object: "refund" | "dispute", status: string) => (subject: Subject) => ({
  ...common(subject),
  id: subject.reversal_id,
  object,
  payment_intent: subject.payment_intent,
  status
})
const taken = ({ reversal_id }: Subject) => reversal_id
const returned = ({ reversal_id }: Subject) => `${reversal_id}:returned`

const refund: Trigger = {
  does: "takes a refund out of the wallet",
  needs: "paid",
  object: reversal("refund", "succeeded"),
  books: taken
}
const dispute = (does: string, status: string): Trigger => ({
  does,
  needs: "paid",
  object: reversal("dispute", status),
  books: taken
})
const disputeEnd = (does: string, statusOf: (subject: Subject) => string): Trigger => ({
  does,
  needs: "paid",
  before: "charge.dispute.created",
  object: (subject) => reversal("dispute", statusOf(subject))(subject),
  books: (subject) => (statusOf(subject) === "won" ? returned(subject) : null)
})

const triggers = {
  "checkout.session.completed": checkout("credits the wallet: it was paid", "paid"),
  "checkout.session.async_payment_succeeded": checkout("credits the wallet: a debit arrived", "paid"),
  "checkout.session.async_payment_failed": checkout("the payment has failed; no credit", "unpaid"),
  "checkout.session.expired": checkout("the payment has expired; no credit", "unpaid", "expired"),
  "payment_intent.succeeded": charge("credits an auto top-up", "succeeded"),
  "payment_intent.payment_failed": charge("fails an auto top-up", "requires_payment_method"),
  "payment_intent.canceled": charge("the same: nobody confirmed it", "canceled"),
  "refund.created": refund,
  "refund.updated": refund,
  "charge.refund.updated": refund,
  "refund.failed": {
    does: "a refund failed: gives it back",
    needs: "paid",
    before: "refund.created",
    object: reversal("refund", "failed"),
    books: returned
  },
  "charge.refunded": {
    does: "asks Stripe what was refunded",
    needs: "intent",
    object: (subject) => ({ ...common(subject), object: "charge", payment_intent: subject.payment_intent }),
    books: () => null
  },
  "charge.dispute.created": dispute("takes a disputed payment out of it", "needs_response"),
  "charge.dispute.updated": dispute("under review: the same, if it is new", "under_review"),
  "charge.dispute.closed": disputeEnd("won: gives it back; lost: no change", ({ outcome }) => outcome),
  "charge.dispute.funds_withdrawn": dispute("takes a disputed payment out of it", "needs_response"),
  "charge.dispute.funds_reinstated": disputeEnd("gives a disputed payment back", () => "won")
} as const satisfies Readonly<Record<string, Trigger>>

export type EventType = keyof typeof triggers
export const isEventType = (text: string): text is EventType => Object.hasOwn(triggers, text)
export const eventTypes = Object.keys(triggers).filter(isEventType)
export const triggerOf = (type: EventType): Trigger => triggers[type]

/** As long as Stripe's. */
const idWith = (prefix: string, letters: string) => `${prefix}_trigger${letters.slice(0, 24)}`
const random = () => crypto.randomUUID().replaceAll("-", "")

/** The intent of a checkout or a payment that was triggered: the same whenever it is asked for. */
export const intentOf = (name: string) => idWith("pi", createHash("sha256").update(name).digest("hex"))
export const newReversal = (type: EventType) => idWith(type.includes("dispute") ? "dp" : "re", random())

/** An event of test mode, so that a service with a live key refuses it. `now` in milliseconds since 1970. */
export const eventText = (type: string, object: object, now: number) => {
  const id = idWith("evt", random())
  const created = Math.floor(now / 1000)
  return { id, text: JSON.stringify({ id, object: "event", created, data: { object }, livemode: false, type }) }
}
