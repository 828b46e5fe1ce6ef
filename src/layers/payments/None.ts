/** The payment processor of a production service without Stripe settings. Every card operation fails and says what the operator must set. */
import { Effect, Layer } from "effect"
import { Payments, ProcessorUnavailable, SignatureRefused } from "./Payments.ts"

const message =
  "Card payments are not configured on this service. Its operator must set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET."
const unavailable = () => Effect.fail(new ProcessorUnavailable({ message }))

export const NoPayments: Layer.Layer<Payments> = Layer.succeed(
  Payments,
  Payments.of({
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
)
