/**
 * The pages to which the payment processor returns a customer after a checkout. They say what happens next.
 *
 * Opening them changes no wallet, with any parameters.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { cancelPath, successPath } from "../middleware/Paths.ts"

const page = (title: string, text: string) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.5rem; line-height: 1.3 }
  code { font-size: 0.9em }
</style>
<h1>${title}</h1>
${text}
</html>
`,
    {
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
        "cache-control": "no-store"
      }
    }
  )

const success = page(
  "Thank you",
  `<p>Your wallet is credited as soon as the payment processor confirms the payment: usually within a few seconds, for bank transfers within days.</p>
<p>This page itself credits nothing. <code>GET /v1/wallet/transactions</code> shows the top-up as soon as it is credited. You can close this window.</p>
<p><a href="/">Go to Rungate</a></p>`
)

const cancelled = page(
  "Nothing was paid",
  `<p>You left the checkout before paying, so nothing was charged and nothing was credited.</p>
<p>To try again, create a new checkout: <code>POST /v1/wallet/topups/checkout</code>.</p>
<p><a href="/">Go to Rungate</a></p>`
)

export const ReturnPages = Layer.mergeAll(
  HttpRouter.add("GET", successPath, Effect.succeed(success)),
  HttpRouter.add("GET", cancelPath, Effect.succeed(cancelled))
)
