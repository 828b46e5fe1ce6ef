/** Production without a payment processor: the operator credits wallets, and every operation with cards fails with that explanation. */
import { Effect, Layer } from "effect"
import { Payments, ProcessorUnavailable, SignatureRefused } from "./Payments.ts"

const message =
  "Card payments are not configured here; whoever runs this service sets STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET."
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
