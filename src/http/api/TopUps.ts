/** The contract of paying in: checkout and automatic top-up (specification 2.8, 4.12). */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, reads } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { Usd } from "../../schema/money/Money.ts"
import { AutoTopup, TopUp } from "../../schema/nouns/Wallet.ts"
import { component, withExample } from "../../schema/nouns/Noun.ts"

export class TopUpsApi extends HttpApiGroup.make("topups").add(
  operation(
    { role: "admin", keys: "changes", verified: true, command: "wallet topup" },
    "Top up",
    "At least $10.00, in whole cents. In production the response has the URL of the payment page, and only the payment processor's confirmation credits the wallet. In the sandbox the credit is simulated and labeled as such."
  ).post("checkout", "/wallet/topups/checkout", {
    payload: component("CheckoutRequest", { amount: Usd }).pipe(withExample({ amount: "25.00" })),
    success: TopUp,
    error: [Wire.service_unavailable]
  }),
  reads("Read the automatic top-up", "last_error says why the last charge failed.", "wallet auto-topup").get(
    "autoTopup",
    "/wallet/auto-topup",
    { success: AutoTopup }
  ),
  operation(
    { role: "admin", keys: "people", verified: true, command: "wallet auto-topup set" },
    "Set the automatic top-up",
    "When the balance drops below threshold, the saved payment method is charged amount: one charge at a time, up to a daily maximum, and not within an hour after a decline. Needs a completed checkout with a saved payment method."
  ).post("setAutoTopup", "/wallet/auto-topup", {
    payload: component("AutoTopupRequest", { enabled: Schema.Boolean, threshold: Usd, amount: Usd }).pipe(
      withExample({ enabled: true, threshold: "5.00", amount: "25.00" })
    ),
    success: AutoTopup,
    error: [Wire.service_unavailable]
  })
) {}
