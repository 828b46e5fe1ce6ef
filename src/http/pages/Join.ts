/** The page of a referral link: what the code gives, and how to sign up with it. It is public and does not say whose code it is. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Referrals } from "../../layers/accounts/Referrals.ts"
import { addressOf, Settings, type SignUp } from "../../layers/platform/Settings.ts"
import { cellQuery } from "../../schema/accounts/TokenText.ts"
import { codeOf, describeTerms } from "../../schema/wallet/Referral.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped, page } from "./Page.ts"

const unknown = page(
  404,
  "This referral code does not exist",
  `<p>Check the link with the person who gave it to you. You can also sign up without a code: <a href="/docs/api">see the API reference</a>.</p>`
)

/** The password is too short on purpose: nobody should get an account whose password is on a page. */
const command = (
  address: string,
  code: string,
  cell: string | null
) => `curl -s '${address}/v1/auth/sign-up${cellQuery(cell, null)}' \\
  -H "Content-Type: application/json" \\
  -d '{"email":"you@example.com","password":"YOUR-PASS","organization":"Your organization","referral_code":"${code}"}'`

/** What a sign-up needs besides the code. */
const joining: Readonly<Record<SignUp, string>> = {
  open: "",
  invite:
    "<p>Sign-up here is by invitation: ask the operator of this service for one, and send its token in the field <code>invitation</code>.</p>",
  closed: "<p>Sign-up is closed here at present.</p>"
}

export const JoinRoute = HttpRouter.add(
  "GET",
  "/join/:code",
  rateLimitedPage(
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
<pre><code>${escaped(command(address, code, settings.cell))}</code></pre>
${joining[settings.signUp]}
<p>The response contains a session token. Use it for <code>POST /v1/wallet/topups/checkout</code>, which makes the first deposit. <a href="${escaped(address)}/docs/api">API reference</a></p>`
      )
    })
  )
)
