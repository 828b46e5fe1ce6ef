/**
 * Sign-in by OpenID Connect: `/auth/openid` sends the browser to the provider, which sends it back to `/auth/openid/callback`.
 *
 * A cookie binds both requests to one browser, and is deleted with the answer. Opening the second address without it does nothing.
 */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { Directory } from "../../layers/accounts/Directory.ts"
import { type Account, Identities } from "../../layers/accounts/Identities.ts"
import { isAnswer, makeOpenId, type OpenIdFailed } from "../../layers/accounts/OpenId.ts"
import { randomPassword, randomText } from "../../layers/accounts/Secrets.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import { OperatorSessions } from "../../layers/operator/OperatorSessions.ts"
import type { OpenIdSettings } from "../../layers/platform/settings/openIdSettings.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { refusedWith } from "../../schema/Errors.ts"
import {
  type Claims,
  hasClaim,
  localAddress,
  openIdCallbackPath,
  openIdStartPath,
  roleOf
} from "../../schema/accounts/OpenId.ts"
import { domainOf } from "../../schema/accounts/Sender.ts"
import { setOperatorCookie } from "../access/OperatorCookie.ts"
import { setSessionCookie } from "../access/SessionCookie.ts"
import { Email, Name } from "../api/shapes/AccountFields.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { issuerOf } from "../oauth/Issuer.ts"
import { answered, query, type Handler } from "./Forms.ts"
import { notMember } from "./SignIn.ts"
import { makeSignUp } from "./SignUp.ts"

const cookie = "__Host-rungate_openid"
const cookieSeconds = 600
/** The console's page of operators: who wants to go there signs in as one. */
const operatorPage = "/operator"
/** The cookie: in a cell its name, which the router reads, then the binding, and where the browser goes at the end. */
const keptForm = /^(?:[a-z0-9]{1,12}_)?([0-9A-Za-z]{43})(.*)$/s

const refusals = {
  off: "This service has no sign-in by OpenID Connect. Sign in with your password at /sign-in.",
  failed:
    "The sign-in did not work: it took too long, was stopped, or belongs to another browser. Start again at /sign-in.",
  no_address:
    "Your identity provider does not say that it has verified your e-mail address. Verify it there, or sign in with a password at /sign-in.",
  unverified:
    "An account with your e-mail address exists, and nobody has verified the address here. Set its password with a mailed link at /forgot, then try again.",
  other:
    "The account of your e-mail address belongs to another person of your identity provider. Ask an admin of your organization for an invitation of another address.",
  elsewhere:
    "Your e-mail address has an account in another part of this service, so it can't join the organization of its domain here. Ask the operator to move that organization (rungate admin cells move).",
  organization:
    "The organization of your domain does not exist. Ask the operator of this service to correct RUNGATE_OIDC_DOMAINS.",
  not_operator: "Your account at the identity provider is not one of an operator (RUNGATE_OIDC_OPERATORS).",
  no_factor:
    "Your identity provider does not say that you have signed in with a second factor, which operators need here (RUNGATE_OIDC_OPERATOR_FACTORS). Set one up there, and sign in again."
}
const refused = (why: keyof typeof refusals) => refusedWith("forbidden", refusals[why])

const nameOf = Schema.decodeUnknownOption(Name)
const identified = Schema.decodeUnknownEffect(
  Schema.Struct({ sub: Schema.NonEmptyString.check(Schema.isMaxLength(255)), email: Schema.optionalKey(Email) })
)

/** `email`: only if the provider says that it has verified the address. */
const personOf = ({ issuer, claims }: { readonly issuer: string; readonly claims: Claims }) =>
  Effect.map(identified(claims), ({ sub, email = null }) => ({
    ...{ issuer, subject: sub, claims },
    email: claims["email_verified"] === true ? email : null
  }))
type Person = Effect.Success<ReturnType<typeof personOf>>

const to = (address: string) =>
  HttpServerResponse.redirect(address, { status: 303, headers: { "cache-control": "no-store" } })

/** The provider's page is another site, so a strict cookie would not come back. */
const keep = (value: string, seconds: number) => (answer: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setCookieUnsafe(answer, cookie, value, {
    ...{ path: "/", httpOnly: true, secure: true, sameSite: "lax" as const },
    maxAge: `${seconds} seconds`
  })

const orFailed = <A>(work: Effect.Effect<A, OpenIdFailed | Schema.SchemaError>) =>
  work.pipe(
    Effect.tapError(({ message }) => Effect.logWarning(`a sign-in by OpenID Connect failed: ${message}`)),
    Effect.catch(() => refused("failed"))
  )

/** Finds, links or creates the account of a person, and opens its session. */
const makeSignInAs = Effect.fnUntraced(function* ({ domains, roles }: OpenIdSettings) {
  const accounts = yield* Accounts
  const identities = yield* Identities
  const signUp = yield* makeSignUp

  const opened = Effect.fnUntraced(function* ({ user_id, password_hash }: Account) {
    return (yield* accounts.open(user_id, password_hash, null, true)) ?? (yield* Effect.fail(notMember(null)))
  })

  return Effect.fnUntraced(function* (person: Person) {
    const { email, claims } = person
    const account = yield* identities.find(person)
    if (account !== null) return yield* opened(account)
    if (email === null) return yield* refused("no_address")
    const org_id = domains.get(domainOf(email).toLowerCase())
    const joining = org_id === undefined ? null : { org_id, role: roleOf(claims, roles) }
    const linked = yield* identities
      .link(person, email, joining, (yield* RequestContext).address)
      .pipe(Effect.catchTag("IdentityRefused", ({ reason }) => refused(reason)))
    if (linked !== null) return yield* opened(linked)
    const organization = Option.getOrElse(nameOf(claims["name"]), () => email.slice(0, 200))
    const password = Redacted.value(randomPassword())
    return yield* signUp({ email, password, organization }, ({ user_id }) => identities.store(person, user_id))
  })
})

const routes = <B, E>(begin: Handler<B>, end: Handler<E>) =>
  Layer.mergeAll(
    HttpRouter.add("GET", openIdStartPath, rateLimitedPage(answered(begin))),
    HttpRouter.add("GET", openIdCallbackPath, rateLimitedPage(answered(end)))
  )

export const OpenIdPages = Layer.unwrap(
  Effect.gen(function* () {
    const operators = yield* OperatorSessions
    const log = yield* AuditLog
    const settings = yield* Settings
    const directory = yield* Directory
    const rules = settings.openId
    if (rules === null) return routes(refused("off"), refused("off"))
    const client = yield* makeOpenId(rules)
    const signInAs = yield* makeSignInAs(rules)
    const callbackAddress = Effect.map(issuerOf(settings), (issuer) => `${issuer}${openIdCallbackPath}`)

    const begin = Effect.gen(function* () {
      const binding = randomText(43)
      const next = localAddress((yield* query).get("next") ?? undefined)
      const factors = next === operatorPage ? rules.operatorFactors : []
      const acr = factors.flatMap(({ claim, value }) => (claim === "acr" ? [value] : []))
      const address = yield* orFailed(client.start(binding, yield* callbackAddress, acr))
      const place = settings.cell === null ? "" : `${settings.cell}_`
      return keep(`${place}${binding}${next}`, cookieSeconds)(to(address))
    })

    const asOperator = Effect.fnUntraced(function* ({ email, claims }: Person) {
      if (email === null) return yield* refused("no_address")
      const has = hasClaim(claims)
      if (!rules.operators.some(has)) return yield* refused("not_operator")
      if (rules.operatorFactors.length > 0 && !rules.operatorFactors.some(has)) return yield* refused("no_factor")
      const { address } = yield* RequestContext
      const { token } = yield* log.by({ kind: "operator", id: null, name: email, address })(operators.makeLink(email))
      const opened = (yield* operators.open(token, address)) ?? (yield* refused("failed"))
      yield* setOperatorCookie(opened.token, opened.session.expires_at)
    })

    const ended = Effect.fnUntraced(function* (binding: string, callback: URL, next: string) {
      const person = yield* orFailed(Effect.flatMap(client.finish(binding, callback), personOf))
      if (next === operatorPage) {
        yield* asOperator(person)
        return to(next)
      }
      const { cells } = directory
      const elsewhere = person.email === null || cells === null ? null : yield* cells.of(person.email)
      // The provider knows the person already, so this is two redirects that nobody sees.
      if (elsewhere !== null) return to(`${openIdStartPath}?${new URLSearchParams({ cell: elsewhere.name, next })}`)
      const { token, session } = yield* signInAs(person)
      yield* setSessionCookie(token, session.expires_at)
      return to(next)
    })

    const end = Effect.gen(function* () {
      const { cookies } = yield* HttpServerRequest.HttpServerRequest
      const [, binding, page] = keptForm.exec(cookies[cookie] ?? "") ?? []
      const callback = new URL(`${yield* callbackAddress}?${yield* query}`)
      // The cookie stays for the tab that has begun last.
      if (binding === undefined || !isAnswer(binding, callback)) return yield* refused("failed")
      return keep("", 0)(yield* answered(ended(binding, callback, localAddress(page))))
    })

    return routes(begin, end)
  })
)
