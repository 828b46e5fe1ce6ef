/**
 * The client of the OpenID provider: the authorization code flow with PKCE. `openid-client` checks issuer, audience, nonce and signature of
 * the ID token.
 *
 * State, nonce and code verifier are digests of a secret in the browser's cookie. So an answer of the provider works in that browser only.
 */
import { Effect, Redacted, Schema } from "effect"
import type { Claims } from "../../schema/accounts/OpenId.ts"
import type { OpenIdSettings } from "../platform/settings/openIdSettings.ts"
import { digest } from "./Secrets.ts"

/** The provider did not answer, or its answer is not valid for this browser. `message` is for the log. */
export class OpenIdFailed extends Schema.TaggedError<OpenIdFailed>()("OpenIdFailed", { message: Schema.String }) {}

const timeoutSeconds = 10
const scope = "openid email profile"

const derived = (binding: string, use: string) => Buffer.from(digest(`openid ${use} ${binding}`)).toString("base64url")

/** Whether `callback` answers the sign-in of this secret, and not that of another tab. */
export const isAnswer = (binding: string, callback: URL) =>
  callback.searchParams.get("state") === derived(binding, "state")

/** The library's errors name the rule in `message`, and what broke it in `cause`. Neither has a token. */
const attempt = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new OpenIdFailed({ message: error instanceof Error ? error.message : String(error) })
  })

/** The client at one provider. It reads the provider's addresses at the first sign-in, and again after an hour or a failure. */
export const makeOpenId = Effect.fnUntraced(function* ({ issuer, clientId, clientSecret }: OpenIdSettings) {
  const discovered = Effect.gen(function* () {
    // Loaded at the first sign-in, because most services have no provider.
    const library = yield* attempt(() => import("openid-client"))
    const insecure = issuer.startsWith("http:") ? [library.allowInsecureRequests] : []
    const authentication = library.ClientSecretBasic(Redacted.value(clientSecret))
    const options = { execute: [library.enableNonRepudiationChecks, ...insecure], timeout: timeoutSeconds }
    const config = yield* attempt(() =>
      library.discovery(new URL(issuer), clientId, undefined, authentication, options)
    )
    return { library, config, metadata: config.serverMetadata() }
  })
  const [remembered, forget] = yield* Effect.cachedInvalidateWithTTL(discovered, "1 hour")
  const client = Effect.tapError(remembered, () => forget)

  return {
    /** Where to send the browser whose cookie has the secret `binding`. `redirect_uri` is the service's own, `acr` how strongly to sign in. */
    start: Effect.fn("OpenId.start")(function* (binding: string, redirect_uri: string, acr: ReadonlyArray<string>) {
      const { library, config } = yield* client
      const code_challenge = yield* attempt(() => library.calculatePKCECodeChallenge(derived(binding, "verifier")))
      return library.buildAuthorizationUrl(config, {
        ...{ redirect_uri, scope, code_challenge, code_challenge_method: "S256" },
        ...{ state: derived(binding, "state"), nonce: derived(binding, "nonce") },
        ...(acr.length > 0 && { acr_values: acr.join(" ") })
      }).href
    }),

    /** Redeems the code in the address `callback`, and checks who has signed in. */
    finish: Effect.fn("OpenId.finish")(function* (binding: string, callback: URL) {
      const { library, config, metadata } = yield* client
      const tokens = yield* attempt(() =>
        library.authorizationCodeGrant(config, callback, {
          pkceCodeVerifier: derived(binding, "verifier"),
          expectedState: derived(binding, "state"),
          expectedNonce: derived(binding, "nonce"),
          idTokenExpected: true
        })
      )
      const token = tokens.claims()
      // Many providers tell the address only there. It must be of the same subject.
      const more = token?.email === undefined && metadata.userinfo_endpoint !== undefined
      const info = more && (yield* attempt(() => library.fetchUserInfo(config, tokens.access_token, token?.sub ?? "")))
      const claims: Claims = { ...info, ...token }
      return { issuer: metadata.issuer, claims }
    })
  }
})
