/** The page of a referral link: what the code gives, and how to sign up with it. Public, and doesn't tell whose code it is. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Referrals } from "../../layers/accounts/Referrals.ts"
import { addressOf, Settings, type SignUp } from "../../layers/platform/Settings.ts"
import { codeOf, describeTerms } from "../../schema/wallet/Referral.ts"
import { limitedPage } from "../middleware/RequestChecks.ts"
import type { Limits } from "../middleware/Limits.ts"
import { escaped, page } from "./Page.ts"

const unknown = page(
  404,
  "This referral code is not known",
  `<p>Check the link with whoever gave it to you. You can sign up without a code, too: <a href="/docs">see the API reference</a>.</p>`
)

/** Sent as it stands it is refused: nobody should own an account whose password stands on a page. */
const command = (address: string, code: string) => `curl -s ${address}/v1/auth/sign-up \\
  -H "Content-Type: application/json" \\
  -d '{"email":"you@example.com","password":"YOUR-PASS","organization":"Your workspace","referral_code":"${code}"}'`

/** Who else must agree to a sign-up. */
const joining: Readonly<Record<SignUp, string>> = {
  open: "",
  invite:
    "<p>Sign-up here is by invitation: ask whoever runs this service for one, and send its token in the field <code>invitation</code>, too.</p>",
  closed: "<p>Sign-up is closed here at present.</p>"
}

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
${joining[settings.signUp]}
<p>The answer holds a session token; with it, <code>POST /v1/wallet/topups/checkout</code> makes the first deposit. <a href="${escaped(address)}/docs">API reference</a></p>`
      )
    })
  )
)

/** What this route asks of the process. */
export type JoinServices = Limits | Referrals | Settings
