/**
 * The interface of payment processors: checkout pages, charges of a saved method, and events.
 *
 * Nothing here moves money in a wallet. Events become facts, and facts become commands to the wallet actor.
 */
import { Context, type Effect, Schema } from "effect"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { PaymentFact } from "../../schema/wallet/PaymentFact.ts"

/** The processor could not be asked, or answered something else than yes or no: nobody knows what happened; ask again. */
export class ProcessorUnavailable extends Schema.TaggedError<ProcessorUnavailable>()("ProcessorUnavailable", {
  message: Schema.String
}) {}

/** What was sent is no message of the processor's. */
export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
  message: Schema.String
}) {}

export interface CheckoutAsk {
  /** Ours, and the processor's idempotency key: asked twice it is one session. */
  readonly payment_id: string
  readonly org_id: string
  /** Whole cents. */
  readonly amount: MicroUsd
  /** The organization's customer at the processor, when it has one. */
  readonly customer: string | null
  readonly success_url: string
  readonly cancel_url: string
}

export interface Checkout {
  readonly session_id: string
  readonly url: string
  readonly expires_at: Date
}

/** How a checkout session stands. Ids of ours are what its metadata says; null when it says none. */
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

export interface ChargeAsk {
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
  /** `message` is fit for the customer. */
  | { readonly _tag: "Declined"; readonly message: string }
  /** The processor works on it and will say. */
  | { readonly _tag: "Pending"; readonly payment_intent: string }

/** A saved method. `label` is for people: "visa ending in 4242". */
export interface SavedMethod {
  readonly customer: string
  readonly payment_method: string
  readonly label: string
}

/** What an event is about: as much as the event itself says. */
export interface EventSubject {
  readonly payment_id: string | null
  readonly session_id: string | null
  readonly payment_intent: string | null
}

export interface ProcessorEvent {
  readonly event_id: string
  readonly type: string
  readonly about: EventSubject
  /** Empty when the event is of a kind that concerns no wallet. */
  readonly facts: ReadonlyArray<PaymentFact>
  /** The event says that money went back, but not which refunds: ask `reversals`. */
  readonly ask_reversals: boolean
}

/** A payment that the processor has the money of, with what went back: for the auditor. */
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
    readonly checkout: (ask: CheckoutAsk) => Effect.Effect<Checkout, ProcessorUnavailable>
    readonly session: (session_id: string) => Effect.Effect<SessionState, ProcessorUnavailable>
    /** The method that a payment has saved; null when it saved none. */
    readonly savedMethod: (payment_intent: string) => Effect.Effect<SavedMethod | null, ProcessorUnavailable>
    /**
     * What tells the card of a payment from every other card, the same for all customers that pay with it; null when the processor
     * does not know.
     */
    readonly card: (payment_intent: string) => Effect.Effect<string | null, ProcessorUnavailable>
    /** Charges a saved method while nobody is there. Idempotent by `payment_id` for a day. */
    readonly charge: (ask: ChargeAsk) => Effect.Effect<ChargeOutcome, ProcessorUnavailable>
    /** The outcome of an earlier `charge`, looked up by our id; null when the processor never saw it. */
    readonly findCharge: (
      customer: string,
      payment_id: string,
      since: Date
    ) => Effect.Effect<ChargeOutcome | null, ProcessorUnavailable>
    /** The ids of ours that a payment carries. */
    readonly paymentOf: (payment_intent: string) => Effect.Effect<string | null, ProcessorUnavailable>
    /** All refunds and disputes of a payment, as facts. */
    readonly reversals: (payment_intent: string) => Effect.Effect<ReadonlyArray<PaymentFact>, ProcessorUnavailable>
    /** Reads a webhook's raw body. `nowSeconds` is the database's time, so that a process's own clock doesn't matter. */
    readonly verify: (
      body: string,
      signature: string | undefined,
      nowSeconds: number
    ) => Effect.Effect<ProcessorEvent, SignatureRefused>
    /** Events since then, oldest first, for those that were never delivered. */
    readonly eventsSince: (since: Date) => Effect.Effect<ReadonlyArray<ProcessorEvent>, ProcessorUnavailable>
    /** Payments of ours that the processor has the money of, made since then. */
    readonly settledSince: (since: Date) => Effect.Effect<ReadonlyArray<SettledPayment>, ProcessorUnavailable>
  }
>()("rungate/layers/payments/Payments") {}
