/**
 * Starts manual top-ups and stores the automatic top-up setting.
 *
 * A manual top-up opens a checkout page of the payment processor. In the sandbox the payment is simulated, and then follows the same
 * path as a real payment. Automatic top-up requires a payment method that an earlier payment saved.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { PaymentStore } from "../../layers/payments/PaymentStore.ts"
import { Payments, type ProcessorUnavailable } from "../../layers/payments/Payments.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import type { AutoTopupSetting } from "../../schema/wallet/AutoTopup.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { TopUp } from "../../schema/nouns/Wallet.ts"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"
import { CommandClient, type NoReplyYet } from "../mailbox/CommandClient.ts"
import { encodeAutoTopup, encodePay } from "../mailbox/Commands.ts"

/** The organization has opened too many checkouts in the last hour. */
export class TooManyCheckouts extends Schema.TaggedError<TooManyCheckouts>()("TooManyCheckouts", {}) {}
/** The organization has no saved payment method. */
export class NoSavedMethod extends Schema.TaggedError<NoSavedMethod>()("NoSavedMethod", {}) {}

export interface CheckoutRequest {
  readonly org_id: string
  /** A whole number of cents, at least the minimum top-up. */
  readonly amount: MicroUsd
  /** The processor redirects the customer to these URLs. Neither redirect credits anything. */
  readonly success_url: string
  readonly cancel_url: string
}

export class TopUps extends Context.Service<
  TopUps,
  {
    readonly checkout: (
      request: CheckoutRequest
    ) => Effect.Effect<TopUp, TooManyCheckouts | ProcessorUnavailable | NoReplyYet>
    /** Returns after the setting is applied. */
    readonly setAutoTopup: (
      org_id: string,
      setting: AutoTopupSetting,
      actor: Actor
    ) => Effect.Effect<void, NoSavedMethod | ProcessorUnavailable | NoReplyYet>
  }
>()("rungate/actors/payments/TopUps") {
  static readonly layer = Layer.effect(
    TopUps,
    Effect.gen(function* () {
      const store = yield* PaymentStore
      const payments = yield* Payments
      const commands = yield* CommandClient

      const simulate = Effect.fnUntraced(function* ({ org_id, amount }: CheckoutRequest) {
        const payment_id = newId("pay")
        const session_id = newId("cs")
        yield* store.open({ payment_id, org_id, kind: "simulated", amount, session_id })
        const about = {
          session_id,
          payment_intent: `${simulatedIntentPrefix}${payment_id}`,
          customer: `cus_sim_${org_id}`,
          // Each sandbox organization has its own card.
          card: `card_sim_${org_id}`
        }
        const fact = { _tag: "Paid" as const, ...about, amount, currency: "usd" }
        // The command id equals the event id, so the turn that credits the payment also answers this command.
        const event_id = `evt_sim_${payment_id}`
        const payload = encodePay({ payment_id, event_id, fact })
        const reply = yield* commands.ask({ org_id, run_id: null, tag: "Pay", payload, command_id: event_id })
        return { status: "simulated" as const, session_id, transaction_id: reply.transaction_id ?? "" }
      })

      const checkout = Effect.fn("TopUps.checkout")(function* (request: CheckoutRequest) {
        if (payments.processor === "simulated") return yield* Effect.uninterruptible(simulate(request))
        const { org_id, amount, success_url, cancel_url } = request
        const payment_id = newId("pay")
        // Without a processor `payments.checkout` fails with the reason, so no payment is opened.
        const opened =
          payments.processor === "none" ||
          (yield* store.open({ payment_id, org_id, kind: "checkout", amount, session_id: null }))
        if (!opened) return yield* new TooManyCheckouts()
        const customer = (yield* store.method(org_id))?.customer ?? null
        const ask = { payment_id, org_id, amount, customer, success_url, cancel_url }
        // Uninterruptible: a client that hangs up must not leave a payable session whose id is not stored.
        const { session_id, url } = yield* Effect.uninterruptible(
          Effect.tap(payments.checkout(ask), (session) =>
            Effect.andThen(crashPoint("checkout.created"), store.attach(payment_id, session.session_id))
          )
        )
        return { status: "checkout" as const, checkout_url: url, session_id }
      })

      const requireSavedMethod = Effect.fnUntraced(function* (org_id: string) {
        const saved = yield* store.method(org_id)
        if (saved === null) return yield* new NoSavedMethod()
        if (saved.payment_method !== null) return
        const method = yield* payments.savedMethod(saved.payment_intent)
        if (method === null) return yield* new NoSavedMethod()
        yield* store.keepMethod(org_id, saved.payment_intent, method)
      })

      const setAutoTopup = Effect.fn("TopUps.setAutoTopup")(function* (
        org_id: string,
        setting: AutoTopupSetting,
        actor: Actor
      ) {
        if (setting.enabled) yield* requireSavedMethod(org_id)
        const payload = encodeAutoTopup({ _tag: "Set", ...setting, actor })
        yield* commands.ask({ org_id, run_id: null, tag: "AutoTopup", payload })
      })

      return TopUps.of({ checkout, setAutoTopup })
    })
  )
}
