/**
 * The page behind a referral link: what the code gives, and how to sign up with it. Public, and says nothing of whose code it is.
 *
 * It loads nothing and runs nothing, so there is nothing in it that could be turned against who opens it.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Referrals } from "../layers/Referrals.ts"
import { addressOf, Settings } from "../layers/Settings.ts"
import { codeOf, describeTerms } from "../schema/Referral.ts"
import { limitedPage } from "./Door.ts"
import type { Limits } from "./Limits.ts"

const headers = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store"
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}
const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => escapes[letter] ?? letter)

const page = (status: number, title: string, body: string) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff }
pre { background: #f3f3f1; padding: 1rem; overflow-x: auto; border-radius: .4rem }
code { font-family: ui-monospace, monospace }
@media (prefers-color-scheme: dark) { body { color: #e8e8e6; background: #161616 } pre { background: #242424 } a { color: #9cc4ff } }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`,
    { status, contentType: "text/html; charset=utf-8", headers }
  )

const unknown = page(
  404,
  "This referral code is not known",
  `<p>Check the link with whoever gave it to you. You can sign up without a code, too: <a href="/docs">see the API reference</a>.</p>`
)

/** Sent as it stands it is refused: nobody should own an account whose password stands on a page. */
const command = (address: string, code: string) => `curl -s ${address}/v1/auth/sign-up \\
  -H "Content-Type: application/json" \\
  -d '{"email":"you@example.com","password":"YOUR-PASS","organization":"Your workspace","referral_code":"${code}"}'`

export const JoinRoute = HttpRouter.add(
  "GET",
  "/join/:code",
  limitedPage(
    Effect.gen(function* () {
      const referrals = yield* Referrals
      const settings = yield* Settings
      const address = addressOf(settings)
      const code = codeOf((yield* HttpRouter.params)["code"] ?? "")
      if (code === null || !(yield* referrals.isKnown(code))) return unknown
      return page(
        200,
        "You are invited to Rungate",
        `<p>Rungate runs data and outreach jobs for you, and you pay per run from one prepaid wallet.</p>
<p>${escaped(describeTerms(settings.referral).referred)} The code is for people who have no account here yet.</p>
<p>Sign up with the code <strong><code>${code}</code></strong>, the field <code>referral_code</code> of <code>POST /v1/auth/sign-up</code>, with a password of at least ten characters:</p>
<pre><code>${escaped(command(address, code))}</code></pre>
<p>The answer holds a session token; with it, <code>POST /v1/wallet/topups/checkout</code> makes the first deposit. <a href="${escaped(address)}/docs">API reference</a></p>`
      )
    })
  )
)

/** What this route asks of the process. */
export type JoinServices = Limits | Referrals | Settings
