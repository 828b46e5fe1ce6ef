/**
 * The interface of payment processors: checkout pages, charges of saved payment methods, and events.
 *
 * A processor never changes a wallet. Its events become facts (paid, failed, expired, reversed), and facts become commands to the wallet
 * actor.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { PaymentFact } from "../../schema/wallet/PaymentFact.ts"

/** The processor did not answer, or its answer leaves the outcome open. Retry, or look up the outcome. */
export class ProcessorUnavailable extends Schema.TaggedError<ProcessorUnavailable>()("ProcessorUnavailable", {
  message: Schema.String
}) {}

/** The message at the webhook does not come from the processor, or is not meant for this account. */
export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
  message: Schema.String
}) {}

export interface NewCheckout {
  /** Our id. It is also the idempotency key, so a retry opens no second session. */
  readonly payment_id: string
  readonly org_id: string
  /** Whole cents. */
  readonly amount: MicroUsd
  /** The organization's customer id at the processor. Null before its first payment. */
  readonly customer: string | null
  readonly success_url: string
  readonly cancel_url: string
}

export interface Checkout {
  readonly session_id: string
  readonly url: string
  readonly expires_at: Date
}

/** The state of a checkout session. Our ids come from its metadata and are null if it has none. */
export interface SessionState {
  readonly session_id: string
  readonly payment_id: string | null
  readonly org_id: string | null
  readonly status: "open" | "complete" | "expired"
  readonly paid: boolean
  readonly amount: MicroUsd
  readonly currency: string
  readonly payment_intent: string | null
  readonly customer: string | null
}

export interface NewCharge {
  readonly payment_id: string
  readonly org_id: string
  readonly amount: MicroUsd
  readonly customer: string
  readonly payment_method: string
}

export type ChargeOutcome =
  | {
      readonly _tag: "Succeeded"
      readonly payment_intent: string
      readonly amount: MicroUsd
      readonly currency: string
    }
  /** `message` is shown to the customer. */
  | { readonly _tag: "Declined"; readonly message: string }
  /** The processor is still processing the charge. An event will report the outcome. */
  | { readonly _tag: "Pending"; readonly payment_intent: string }

/** A saved payment method. `label` is its display name, such as "visa ending in 4242". */
export interface SavedMethod {
  readonly customer: string
  readonly payment_method: string
  readonly label: string
}

/** The ids in an event that name a payment. Null for those that the event lacks. */
export interface EventSubject {
  readonly payment_id: string | null
  readonly session_id: string | null
  readonly payment_intent: string | null
}

export interface ProcessorEvent {
  readonly event_id: string
  readonly type: string
  readonly about: EventSubject
  /** Empty if an event of this type affects no wallet. */
  readonly facts: ReadonlyArray<PaymentFact>
  /** The event says that money was refunded, but not by which refunds. Call `reversals` to get them. */
  readonly ask_reversals: boolean
}

/** A payment whose money the processor received, even if it was refunded later. For the audit. */
export interface SettledPayment {
  readonly payment_id: string | null
  readonly org_id: string | null
  readonly session_id: string | null
  readonly payment_intent: string | null
  readonly amount: MicroUsd
  readonly currency: string
}

export class Payments extends Context.Service<
  Payments,
  {
    readonly processor: "stripe" | "simulated" | "none"
    readonly checkout: (request: NewCheckout) => Effect.Effect<Checkout, ProcessorUnavailable>
    readonly session: (session_id: string) => Effect.Effect<SessionState, ProcessorUnavailable>
    /** The payment method that a payment saved. Null if it saved none. */
    readonly savedMethod: (payment_intent: string) => Effect.Effect<SavedMethod | null, ProcessorUnavailable>
    /**
     * A fingerprint of the card that a payment was made with, the same for every customer who uses the card. Null if the processor
     * has none.
     */
    readonly card: (payment_intent: string) => Effect.Effect<string | null, ProcessorUnavailable>
    /** Charges a saved payment method without the customer present. Idempotent by `payment_id` for a day. */
    readonly charge: (request: NewCharge) => Effect.Effect<ChargeOutcome, ProcessorUnavailable>
    /** Looks up the outcome of an earlier `charge` by our id. Null if the processor has no such charge. */
    readonly findCharge: (
      customer: string,
      payment_id: string,
      since: Date
    ) => Effect.Effect<ChargeOutcome | null, ProcessorUnavailable>
    /** Our payment id in the metadata of a processor's payment. Null if it has none. */
    readonly paymentOf: (payment_intent: string) => Effect.Effect<string | null, ProcessorUnavailable>
    /** All refunds and disputes of a payment, as facts. */
    readonly reversals: (payment_intent: string) => Effect.Effect<ReadonlyArray<PaymentFact>, ProcessorUnavailable>
    /** Verifies and decodes a webhook's raw body. `nowSeconds` is the database's time, because a process's clock may be wrong. */
    readonly verify: (
      body: string,
      signature: string | undefined,
      nowSeconds: number
    ) => Effect.Effect<ProcessorEvent, SignatureRefused>
    /** All events since a time, oldest first, to find those whose webhook never arrived. */
    readonly eventsSince: (since: Date) => Effect.Effect<ReadonlyArray<ProcessorEvent>, ProcessorUnavailable>
    /** Our payments made since a time whose money the processor received. */
    readonly settledSince: (since: Date) => Effect.Effect<ReadonlyArray<SettledPayment>, ProcessorUnavailable>
  }
>()("rungate/layers/payments/Payments") {}

const message =
  "Card payments are not configured on this service. Its operator must set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET."
const unavailable = () => Effect.fail(new ProcessorUnavailable({ message }))

/** The processor of a production service without Stripe settings: every card operation fails and says what the operator must set. */
export const NoPayments = Layer.succeed(Payments, {
  processor: "none",
  checkout: unavailable,
  session: unavailable,
  savedMethod: unavailable,
  card: unavailable,
  charge: unavailable,
  findCharge: unavailable,
  paymentOf: unavailable,
  reversals: unavailable,
  verify: () => Effect.fail(new SignatureRefused({ message })),
  eventsSince: unavailable,
  settledSince: unavailable
})
