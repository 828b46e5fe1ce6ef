/**
 * The layers behind `Payments` as a test holds them, each method a promise, and money as it is written.
 */
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { Payments } from "../../../src/layers/payments/Payments.ts"
import { StripePayments } from "../../../src/layers/payments/Stripe.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { dollars } from "../../../src/schema/money/Money.ts"

export type Processor = Context.Service.Shape<typeof Payments>

export const processorOf = async <E>(layer: Layer.Layer<Payments, E>) => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.build(layer).pipe(Scope.provide(scope)))
  return { processor: Context.get(context, Payments), stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export const stripeLayer = (settings: Readonly<Record<string, string>>) =>
  StripePayments.pipe(Layer.provide(Settings.layerFrom({ RUNGATE_MODE: "production", ...settings })))

/** What an effect came to: its value, or the error's tag and message. */
export const outcome = <A, E extends { readonly _tag: string; readonly message: string }>(
  effect: Effect.Effect<A, E>
): Promise<A | string> =>
  Effect.runPromise(
    Effect.match(effect, { onSuccess: (value) => value, onFailure: (error) => `${error._tag}: ${error.message}` })
  )

export const run = Effect.runPromise

let counter = 0
export const checkoutAsk = (amount = "25.00", customer: string | null = null) => ({
  payment_id: `pay_${++counter}`,
  org_id: "org_1",
  amount: dollars(amount),
  customer,
  success_url: "https://example.com/paid",
  cancel_url: "https://example.com/cancelled"
})

export const chargeAsk = (
  method: { readonly customer: string; readonly payment_method: string },
  amount = "20.00"
) => ({
  payment_id: `pay_${++counter}`,
  org_id: "org_1",
  amount: dollars(amount),
  ...method
})
