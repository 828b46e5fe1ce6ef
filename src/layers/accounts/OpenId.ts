/**
 * The client of the OpenID provider: the authorization code flow with PKCE. `openid-client` checks issuer, audience, nonce and signature of
 * the ID token.
 *
 * State, nonce and code verifier are digests of a secret in the browser's cookie. So an answer of the provider works in that browser only.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { isPrintable } from "../../schema/json/StorableText.ts"
import { Settings } from "../platform/Settings.ts"
import type { Claims } from "../../schema/accounts/OpenId.ts"
import { digest } from "./Secrets.ts"

const printable = Schema.makeFilter((text: string) => isPrintable(text))
const Person = Schema.Struct({
  sub: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  email: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(254), Schema.isPattern(/^[^\s@]+@[^\s@]+\.[^\s@]+$/), printable)
  ),
  email_verified: Schema.optionalKey(Schema.Unknown),
  name: Schema.optionalKey(Schema.Unknown)
})
const personOf = Schema.decodeUnknownEffect(Person)

export interface OpenIdPerson {
  readonly issuer: string
  readonly subject: string
  /** Only if the provider says that it has verified the address. */
  readonly email: string | null
  readonly name: string
  readonly claims: Claims
}

/** The provider did not answer, or its answer is not valid for this browser. `message` is for the log. */
export class OpenIdFailed extends Schema.TaggedError<OpenIdFailed>()("OpenIdFailed", { message: Schema.String }) {}

const timeoutSeconds = 10
const scope = "openid email profile"

const derived = (binding: string, use: string) => Buffer.from(digest(`openid ${use} ${binding}`)).toString("base64url")

/** The library's errors name the rule in `message`, and what broke it in `cause`. Neither has a token. */
const attempt = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new OpenIdFailed({ message: error instanceof Error ? error.message : String(error) })
  })

export class OpenId extends Context.Service<
  OpenId,
  {
    /** Where to send the browser whose cookie has the secret `binding`. `redirect_uri` is the service's own, `acr` how strongly to sign in. */
    readonly start: (
      binding: string,
      redirect_uri: string,
      acr: ReadonlyArray<string>
    ) => Effect.Effect<string, OpenIdFailed>
    /** Whether `callback` answers the sign-in of this secret, and not that of another tab. */
    readonly isAnswer: (binding: string, callback: URL) => boolean
    /** Redeems the code in the address `callback`, and checks who has signed in. */
    readonly finish: (binding: string, callback: URL) => Effect.Effect<OpenIdPerson, OpenIdFailed>
  }
>()("rungate/layers/accounts/OpenId") {
  static readonly layer = Layer.effect(
    OpenId,
    Effect.gen(function* () {
      const { openId } = yield* Settings
      const failed = new OpenIdFailed({ message: "RUNGATE_OIDC_ISSUER is not set" })

      // Loaded at the first sign-in, because most services have no provider.
      const discovered = Effect.gen(function* () {
        if (openId === null) return yield* failed
        const { issuer, clientId, clientSecret } = openId
        const library = yield* attempt(() => import("openid-client"))
        const insecure = issuer.startsWith("http:") ? [library.allowInsecureRequests] : []
        const config = yield* attempt(() =>
          library.discovery(
            new URL(issuer),
            clientId,
            undefined,
            library.ClientSecretBasic(Redacted.value(clientSecret)),
            {
              execute: [library.enableNonRepudiationChecks, ...insecure],
              timeout: timeoutSeconds
            }
          )
        )
        return { library, config }
      })
      const [remembered, forget] = yield* Effect.cachedInvalidateWithTTL(discovered, "1 hour")
      const client = Effect.tapError(remembered, () => forget)

      const start = Effect.fn("OpenId.start")(function* (
        binding: string,
        redirect_uri: string,
        acr: ReadonlyArray<string>
      ) {
        const { library, config } = yield* client
        const code_challenge = yield* attempt(() => library.calculatePKCECodeChallenge(derived(binding, "verifier")))
        return library.buildAuthorizationUrl(config, {
          ...{ redirect_uri, scope, code_challenge, code_challenge_method: "S256" },
          ...{ state: derived(binding, "state"), nonce: derived(binding, "nonce") },
          ...(acr.length > 0 && { acr_values: acr.join(" ") })
        }).href
      })

      const finish = Effect.fn("OpenId.finish")(function* (binding: string, callback: URL) {
        const { library, config } = yield* client
        const tokens = yield* attempt(() =>
          library.authorizationCodeGrant(config, callback, {
            pkceCodeVerifier: derived(binding, "verifier"),
            expectedState: derived(binding, "state"),
            expectedNonce: derived(binding, "nonce"),
            idTokenExpected: true
          })
        )
        const token: Claims & { readonly sub?: string } = tokens.claims() ?? {}
        const { sub = "" } = token
        // Many providers tell the address only there. It must be of the same subject.
        const more = token["email"] === undefined && config.serverMetadata().userinfo_endpoint !== undefined
        const info = more ? yield* attempt(() => library.fetchUserInfo(config, tokens.access_token, sub)) : {}
        const claims: Claims = { ...info, ...token }
        const person = yield* personOf(claims).pipe(Effect.mapError(({ message }) => new OpenIdFailed({ message })))
        return {
          issuer: config.serverMetadata().issuer,
          subject: person.sub,
          email: person.email_verified === true ? (person.email ?? null) : null,
          name: typeof person.name === "string" ? person.name : "",
          claims
        }
      })

      return OpenId.of({
        start,
        isAnswer: (binding, callback) => callback.searchParams.get("state") === derived(binding, "state"),
        finish
      })
    })
  )
}
