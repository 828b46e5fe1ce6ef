/**
 * The pages to which the payment processor returns a customer after a checkout. They say what happens next.
 *
 * Opening them changes no wallet, with any parameters.
 */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { cancelPath, successPath } from "../middleware/Paths.ts"
import { page } from "./Page.ts"

const success = page(
  200,
  "Thank you",
  `<p>Your wallet is credited as soon as the payment processor confirms the payment: usually within a few seconds, for bank transfers within days.</p>
<p>This page itself credits nothing. <code>GET /v1/wallet/transactions</code> shows the top-up as soon as it is credited. You can close this window.</p>
<p><a href="/">Go to Rungate</a></p>`
)

const cancelled = page(
  200,
  "Nothing was paid",
  `<p>You left the checkout before paying, so nothing was charged and nothing was credited.</p>
<p>To try again, create a new checkout: <code>POST /v1/wallet/topups/checkout</code>.</p>
<p><a href="/">Go to Rungate</a></p>`
)

export const ReturnPages = Layer.mergeAll(
  HttpRouter.add("GET", successPath, Effect.succeed(success)),
  HttpRouter.add("GET", cancelPath, Effect.succeed(cancelled))
)
