/**
 * The events of Stripe's that can be triggered, what each does here, and how it is written. Pure; `stripeSender.ts` sends them.
 *
 * Objects have the fields that Stripe's have and that anybody here reads. The payment they are about is made up, so its ids say
 * `trigger`; an intent's id follows from its checkout, so that a refund can be triggered days after the payment was. No customer
 * is named: a card that doesn't exist must not be saved for automatic top-ups.
 */
import { createHash } from "node:crypto"

/** What an event is about. Amounts in cents. */
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
  /** What the ledger will call the entry that it makes; null when it makes none. */
  readonly books: (subject: Subject) => string | null
}

const nothing = () => null

const session = (
  status: "complete" | "expired",
  payment_status: "paid" | "unpaid",
  { session_id, payment_id, payment_intent, cents }: Subject
) => ({
  id: session_id,
  object: "checkout.session",
  amount_subtotal: cents,
  amount_total: cents,
  client_reference_id: null,
  currency: "usd",
  customer: null,
  livemode: false,
  metadata: payment_id === null ? {} : { payment_id },
  mode: "payment",
  payment_intent: status === "expired" ? null : payment_intent,
  payment_status,
  status,
  url: null
})

const declined = { code: "card_declined", decline_code: "generic_decline", message: "Your card was declined." }

const intent = (
  status: "succeeded" | "requires_payment_method" | "canceled",
  { payment_id, payment_intent, cents }: Subject
) => ({
  id: payment_intent,
  object: "payment_intent",
  amount: cents,
  amount_received: status === "succeeded" ? cents : 0,
  currency: "usd",
  customer: null,
  last_payment_error: status === "requires_payment_method" ? { type: "card_error", ...declined } : null,
  livemode: false,
  metadata: payment_id === null ? {} : { payment_id },
  payment_method: null,
  setup_future_usage: null,
  status
})

const refund = (status: "succeeded" | "failed", { reversal_id, payment_intent, cents }: Subject) => ({
  id: reversal_id,
  object: "refund",
  amount: cents,
  currency: "usd",
  metadata: {},
  payment_intent,
  reason: null,
  status
})

const dispute = (status: string, { reversal_id, payment_intent, cents }: Subject) => {
  const withdrawn = { object: "balance_transaction", amount: -cents, type: "adjustment" }
  const reinstated = { ...withdrawn, amount: cents }
  return {
    id: reversal_id,
    object: "dispute",
    amount: cents,
    balance_transactions: status === "won" ? [withdrawn, reinstated] : status === "warning_closed" ? [] : [withdrawn],
    currency: "usd",
    livemode: false,
    metadata: {},
    payment_intent,
    reason: "fraudulent",
    status
  }
}

const taken = ({ reversal_id }: Subject) => reversal_id
const returned = ({ reversal_id }: Subject) => `${reversal_id}:returned`

const credits = {
  needs: "checkout",
  object: (subject: Subject) => session("complete", "paid", subject),
  books: ({ session_id }: Subject) => session_id
} as const
const refunds = {
  does: "takes a refund out of the wallet",
  needs: "paid",
  object: (subject: Subject) => refund("succeeded", subject),
  books: taken
} as const

export const triggers = {
  "checkout.session.completed": { ...credits, does: "credits the wallet: it was paid" },
  "checkout.session.async_payment_succeeded": {
    ...credits,
    does: "credits the wallet: a debit arrived"
  },
  "checkout.session.async_payment_failed": {
    does: "the payment has failed; no credit",
    needs: "checkout",
    object: (subject) => session("complete", "unpaid", subject),
    books: nothing
  },
  "checkout.session.expired": {
    does: "the payment has expired; no credit",
    needs: "checkout",
    object: (subject) => session("expired", "unpaid", subject),
    books: nothing
  },
  "payment_intent.succeeded": {
    does: "credits an auto top-up",
    needs: "payment",
    object: (subject) => intent("succeeded", subject),
    books: ({ payment_intent }) => payment_intent
  },
  "payment_intent.payment_failed": {
    does: "fails an auto top-up",
    needs: "payment",
    object: (subject) => intent("requires_payment_method", subject),
    books: nothing
  },
  "payment_intent.canceled": {
    does: "the same: nobody confirmed it",
    needs: "payment",
    object: (subject) => intent("canceled", subject),
    books: nothing
  },
  "refund.created": refunds,
  "refund.updated": refunds,
  "charge.refund.updated": refunds,
  "refund.failed": {
    does: "a refund failed: gives it back",
    needs: "paid",
    before: "refund.created",
    object: (subject) => refund("failed", subject),
    books: returned
  },
  "charge.refunded": {
    does: "asks Stripe what was refunded",
    needs: "intent",
    object: ({ payment_intent, payment_id, cents }) => ({
      id: payment_intent.replace(/^pi_/, "ch_"),
      object: "charge",
      amount: cents,
      amount_refunded: cents,
      currency: "usd",
      metadata: payment_id === null ? {} : { payment_id },
      payment_intent,
      refunded: true
    }),
    books: nothing
  },
  "charge.dispute.created": {
    does: "takes a disputed payment out of it",
    needs: "paid",
    object: (subject) => dispute("needs_response", subject),
    books: taken
  },
  "charge.dispute.updated": {
    does: "under review: the same, if it is new",
    needs: "paid",
    object: (subject) => dispute("under_review", subject),
    books: taken
  },
  "charge.dispute.closed": {
    does: "won: gives it back; lost: no change",
    needs: "paid",
    before: "charge.dispute.created",
    object: (subject) => dispute(subject.outcome, subject),
    books: (subject) => (subject.outcome === "won" ? returned(subject) : null)
  },
  "charge.dispute.funds_withdrawn": {
    does: "takes a disputed payment out of it",
    needs: "paid",
    object: (subject) => dispute("needs_response", subject),
    books: taken
  },
  "charge.dispute.funds_reinstated": {
    does: "gives a disputed payment back",
    needs: "paid",
    before: "charge.dispute.created",
    object: (subject) => dispute("won", subject),
    books: returned
  }
} as const satisfies Readonly<Record<string, Trigger>>

export type EventType = keyof typeof triggers
const isEventType = (text: string): text is EventType => Object.hasOwn(triggers, text)
export const eventTypes = Object.keys(triggers).filter(isEventType)
export const triggerOf = (type: EventType): Trigger => triggers[type]
export const eventTypeOf = (text: string): EventType | null => (isEventType(text) ? text : null)

/** As long as Stripe's. */
const digits = 24
const made = (prefix: string, letters: string) => `${prefix}_trigger${letters.slice(0, digits)}`

/** The intent of a checkout or a payment that was triggered: the same whenever it is asked for. */
export const intentOf = (name: string) => made("pi", createHash("sha256").update(name).digest("hex"))
export const newReversal = (type: EventType) =>
  made(type.includes("dispute") ? "dp" : "re", crypto.randomUUID().replaceAll("-", ""))

/** An event as Stripe writes it, always of test mode: a service with a live key refuses it. `now` in milliseconds since 1970. */
export const eventText = (type: string, object: object, now: number) => {
  const id = `evt_trigger${crypto.randomUUID().replaceAll("-", "")}`
  const event = {
    id,
    object: "event",
    api_version: null,
    created: Math.floor(now / 1000),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type
  }
  return { id, text: JSON.stringify(event, null, 2) }
}
