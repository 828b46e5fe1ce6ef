/** The page at `/`: what this service is, where its documentation is, and how to get an API key. Public, and without JavaScript. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { addressOf, Settings, type SignUp } from "../../layers/platform/Settings.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped, page } from "./Page.ts"

const signUpOf: Readonly<Record<SignUp, string>> = {
  open: "Sign up with <code>POST /v1/auth/sign-up</code> or <code>rungate login --sign-up</code>.",
  invite: "Sign-up is by invitation. Ask the operator of this service for an invitation link, and open it.",
  closed: "Sign-up is closed. Ask the operator of this service for an account."
}

const modeOf = {
  sandbox:
    "<p><strong>Sandbox:</strong> providers and payments are simulated. No run leaves this service, and no money is real.</p>",
  production: ""
} as const

export const HomeRoute = HttpRouter.add(
  "GET",
  "/",
  rateLimitedPage(
    Effect.map(Settings, (settings) => {
      const address = escaped(addressOf(settings))
      return page(
        200,
        "Rungate",
        `<p>One API and one prepaid wallet for data and outreach providers. You see the price before each run, and you pay for what was delivered.</p>
${modeOf[settings.mode]}
<ul>
<li><a href="${address}/docs">Docs</a>, with the <a href="${address}/docs/api">API reference</a></li>
<li><a href="${address}/openapi.json">OpenAPI document</a>, for tools and code generators</li>
<li><code>${address}/mcp</code>: the API as tools for AI agents (Model Context Protocol, <code>POST</code>)</li>
</ul>
<h2>Get an API key</h2>
<ol>
<li>${signUpOf[settings.signUp]}</li>
<li>Create a key with <code>POST /v1/api-keys</code> and the session token, or with <code>rungate keys create</code>.</li>
<li>Send it with every request: <code>Authorization: Bearer &lt;key&gt;</code>.</li>
</ol>`
      )
    })
  )
)
