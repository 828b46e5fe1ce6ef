/**
 * The sandbox's payment processor: every payment succeeds immediately, without a network and without state.
 *
 * Its ids are derived from ours, so the same payment is the same charge in every process and after every restart. It sends no webhooks, and
 * refuses every webhook that arrives.
 */
import { DateTime, Duration, Effect, Layer } from "effect"
import { simulatedIntentPrefix } from "../../schema/wallet/Payment.ts"
import { Payments, ProcessorUnavailable, SignatureRefused } from "./Payments.ts"

const method = { customer: "cus_sim", payment_method: "pm_sim", label: "simulated card ending in 4242" }

export const SimulatedPayments: Layer.Layer<Payments> = Layer.succeed(
  Payments,
  Payments.of({
    processor: "simulated",
    // Nothing is left to do at the processor's, so its page is the one after it.
    checkout: ({ payment_id, success_url }) =>
      Effect.map(DateTime.now, (now) => ({
        session_id: `cs_sim_${payment_id}`,
        url: success_url,
        expires_at: DateTime.toDateUtc(DateTime.addDuration(now, Duration.days(1)))
      })),
    session: () =>
      Effect.fail(new ProcessorUnavailable({ message: "The sandbox keeps its payments in its own books only." })),
    savedMethod: () => Effect.succeed(method),
    // The sandbox's payments carry their cards with them.
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
      Effect.fail(new SignatureRefused({ message: "The sandbox has no payment processor: nobody sends it webhooks." })),
    eventsSince: () => Effect.succeed([]),
    settledSince: () => Effect.succeed([])
  })
)
