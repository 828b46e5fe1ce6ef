/**
 * The sandbox's payment processor. Every payment succeeds immediately, without network and without state.
 *
 * Its ids are derived from our payment ids, so a retried payment is the same charge in every process and after every restart. It sends
 * no webhooks, and refuses every webhook that arrives.
 */
import { DateTime, Duration, Effect, Layer } from "effect"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"
import { Payments, ProcessorUnavailable, SignatureRefused } from "./Payments.ts"

const method = { customer: "cus_sim", payment_method: "pm_sim", label: "simulated card ending in 4242" }

export const SimulatedPayments: Layer.Layer<Payments> = Layer.succeed(
  Payments,
  Payments.of({
    processor: "simulated",
    // There is no checkout page, so its URL is the one that follows a successful checkout.
    checkout: ({ payment_id, success_url }) =>
      Effect.map(DateTime.now, (now) => ({
        session_id: `cs_sim_${payment_id}`,
        url: success_url,
        expires_at: DateTime.toDateUtc(DateTime.addDuration(now, Duration.days(1)))
      })),
    session: () =>
      Effect.fail(
        new ProcessorUnavailable({
          message: "The sandbox has no checkout sessions. Its payments are only in its own database."
        })
      ),
    savedMethod: () => Effect.succeed(method),
    // In the sandbox, TopUps puts the card into the payment's fact.
    card: () => Effect.succeed(null),
    charge: ({ payment_id, amount }) =>
      Effect.succeed({
        _tag: "Succeeded",
        payment_intent: `${simulatedIntentPrefix}${payment_id}`,
        amount,
        currency: "usd"
      }),
    findCharge: () => Effect.succeed(null),
    paymentOf: (payment_intent) =>
      Effect.succeed(
        payment_intent.startsWith(simulatedIntentPrefix) ? payment_intent.slice(simulatedIntentPrefix.length) : null
      ),
    reversals: () => Effect.succeed([]),
    verify: () =>
      Effect.fail(
        new SignatureRefused({ message: "The sandbox has no payment processor, so it accepts no webhooks." })
      ),
    eventsSince: () => Effect.succeed([]),
    settledSince: () => Effect.succeed([])
  })
)
