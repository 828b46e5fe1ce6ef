/** The contract behind the console's consent page: what an agent asks for, and the person's decision. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, optional, own } from "../shapes/Common.ts"
import { oauthScopes } from "../../../schema/oauth/Scope.ts"
import { BudgetRequest } from "../shapes/KeyRules.ts"
import { component, org_id, organization, such, withExample } from "../../../schema/nouns/Noun.ts"

const text = (max: number) => Schema.NonEmptyString.check(Schema.isMaxLength(max))

/** The parameters of an authorization request (RFC 6749, 7636, 8707). */
const parameters = {
  response_type: text(20).annotate({ description: 'must be "code"' }),
  client_id: text(3_000).annotate({ description: "from POST /oauth/register" }),
  redirect_uri: text(500).annotate({ description: "exactly as the client registered it" }),
  code_challenge: text(200).annotate({ description: "base64url of the SHA-256 digest of the verifier" }),
  code_challenge_method: text(20).annotate({ description: 'must be "S256"' }),
  scope: Schema.optionalKey(text(500).annotate({ description: "run (the default) or lookup, separated by spaces" })),
  state: Schema.optionalKey(text(2_000).annotate({ description: "returned to the client" })),
  resource: Schema.optionalKey(text(500).annotate({ description: "the address of /mcp" }))
}
export const AuthorizationQuery = Schema.Struct(parameters)
export type AuthorizationQuery = typeof AuthorizationQuery.Type

const AuthorizationRequest = component("AuthorizationRequest", {
  client_name: such("Example Agent", "What the client calls itself. Nothing proves it."),
  redirect_uri: such("https://agents.example/callback"),
  redirect_host: such("agents.example"),
  on_this_machine: Schema.Boolean.annotate({ description: "The answer goes to a program on the person's machine." }),
  scope: Schema.Literals(oauthScopes),
  organization: Schema.Struct({ id: org_id, name: organization })
})

const Decision = component("AuthorizationDecision", {
  ...parameters,
  organization_id: text(100).annotate({
    description: "the organization that the person saw; refused if the session is of another one"
  }),
  approve: Schema.Boolean,
  lookup_only: optional(Schema.Boolean.annotate({ description: "grant lookup where the client asks for run" })),
  budget: optional(BudgetRequest)
}).pipe(
  withExample({
    response_type: "code",
    client_id: "rgc_WyJFeGFtcGxlIEFnZW50IiwiaHR0cHM6Ly9hZ2VudHMuZXhhbXBsZS9jYWxsYmFjayJd",
    redirect_uri: "https://agents.example/callback",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    state: "af0ifjsldkj",
    organization_id: "org_01kanb8v4mh2x9ce5tq3r7w6fa",
    approve: true,
    budget: { limit: "20.00", period: "month" }
  })
)

export class AuthorizationApi extends HttpApiGroup.make("oauth").add(
  own(
    "Read an agent's request to connect",
    "The console's consent page shows it. An invalid request is an error here and is never redirected."
  ).get("asked", "/oauth/authorization", {
    query: parameters,
    success: AuthorizationRequest
  }),
  operation(
    { role: "member", keys: "people" },
    "Decide about an agent's request to connect",
    "If approved, the code in redirect_to works once, within a minute, and becomes an API key with this scope and budget."
  ).post("decide", "/oauth/authorization", {
    payload: Decision,
    success: component("AuthorizationAnswer", {
      redirect_to: such(
        "https://agents.example/callback?code=CODE",
        "The client's redirect URI with a code, or with an error."
      )
    })
  })
) {}
