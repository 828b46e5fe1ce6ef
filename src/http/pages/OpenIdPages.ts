/**
 * Sign-in by OpenID Connect: `/auth/openid` sends the browser to the provider, which sends it back to `/auth/openid/callback`.
 *
 * A cookie binds both requests to one browser, and is deleted with the answer. Opening the second address without it does nothing.
 */
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { type Account, Identities } from "../../layers/accounts/Identities.ts"
import { OpenId, type OpenIdFailed, type OpenIdPerson } from "../../layers/accounts/OpenId.ts"
import { randomPassword, randomText } from "../../layers/accounts/Secrets.ts"
import { AuditLog } from "../../layers/auditlog/AuditLog.ts"
import { Directory } from "../../layers/accounts/Directory.ts"
import { OperatorSessions } from "../../layers/operator/OperatorSessions.ts"
import type { OpenIdSettings } from "../../layers/platform/settings/openIdSettings.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import {
  domainOf,
  hasClaim,
  localAddress,
  openIdCallbackPath,
  openIdStartPath,
  roleOf
} from "../../schema/accounts/OpenId.ts"
import { setOperatorCookie } from "../access/OperatorCookie.ts"
import { setSessionCookie } from "../access/SessionCookie.ts"
import { Name } from "../api/shapes/AccountFields.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { issuerOf } from "../oauth/Issuer.ts"
import { answered } from "./Forms.ts"
import { makeSignUp } from "./SignUp.ts"

const cookie = "__Host-rungate_openid"
const cookieSeconds = 600
/** The console's page of operators: who wants to go there signs in as one. */
const operatorPage = "/operator"
/** The cookie: in a cell its name, which the router reads, then the binding, and where the browser goes at the end. */
const keptForm = /^(?:[a-z0-9]{1,12}_)?([0-9A-Za-z]{43})(.*)$/s

const refused = (message: string) => problem("forbidden", message)
const off = refused("This service has no sign-in by OpenID Connect. Sign in with your password at /sign-in.")
const failed = refused(
  "The sign-in did not work: it took too long, was stopped, or belongs to another browser. Start again at /sign-in."
)
const unverified = refused(
  "Your identity provider does not say that it has verified your e-mail address. Verify it there, or sign in with a password at /sign-in."
)
const refusedBecause = {
  unverified: refused(
    "An account with your e-mail address exists, and nobody has verified the address here. Set its password with a mailed link at /forgot, then try again."
  ),
  other: refused(
    "The account of your e-mail address belongs to another person of your identity provider. Ask an admin of your organization for an invitation of another address."
  ),
  elsewhere: refused(
    "Your e-mail address has an account in another part of this service, so it can't join the organization of its domain here. Ask the operator to move that organization (rungate admin cells move)."
  ),
  organization: refused(
    "The organization of your domain does not exist. Ask the operator of this service to correct RUNGATE_OIDC_DOMAINS."
  )
} as const
const notOperator = refused("Your account at the identity provider is not one of an operator (RUNGATE_OIDC_OPERATORS).")
const noFactor = refused(
  "Your identity provider does not say that you have signed in with a second factor, which operators need here (RUNGATE_OIDC_OPERATOR_FACTORS). Set one up there, and sign in again."
)
const noOrganization = refused("Your account is in no organization. Ask an owner or admin of one for an invitation.")

const nameOf = Schema.decodeUnknownOption(Name)

const to = (address: string) =>
  HttpServerResponse.redirect(address, { status: 303, headers: { "cache-control": "no-store" } })

/** The provider's page is another site, so a strict cookie would not come back. */
const keep = (value: string, seconds: number) => (answer: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setCookieUnsafe(answer, cookie, value, {
    ...{ path: "/", httpOnly: true, secure: true, sameSite: "lax" as const },
    maxAge: `${seconds} seconds`
  })

const orFailed = <A>(work: Effect.Effect<A, OpenIdFailed>) =>
  Effect.catchTag(work, "OpenIdFailed", ({ message }) =>
    Effect.andThen(Effect.logWarning(`a sign-in by OpenID Connect failed: ${message}`), Effect.fail(failed))
  )

/** Finds, links or creates the account of a person, and opens its session. */
const makeSignInAs = Effect.gen(function* () {
  const accounts = yield* Accounts
  const identities = yield* Identities
  const signUp = yield* makeSignUp

  const signedUp = (person: OpenIdPerson, email: string) =>
    signUp(
      {
        email,
        password: Redacted.value(randomPassword()),
        organization: Option.getOrElse(nameOf(person.name), () => email.slice(0, 200))
      },
      ({ user_id }) => identities.store(person, user_id)
    )

  const opened = ({ user_id, password_hash }: Account) =>
    Effect.flatMap(accounts.open(user_id, password_hash, null, true), (session) =>
      session === null ? Effect.fail(noOrganization) : Effect.succeed(session)
    )

  return Effect.fnUntraced(function* (person: OpenIdPerson, { domains, roles }: OpenIdSettings) {
    const { email, claims } = person
    const account = yield* identities.find(person)
    if (account !== null) return yield* opened(account)
    if (email === null) return yield* Effect.fail(unverified)
    const org_id = domains.get(domainOf(email))
    const joining = org_id === undefined ? null : { org_id, role: roleOf(claims, roles) }
    const linked = yield* identities
      .link(person, email, joining, (yield* RequestContext).address)
      .pipe(Effect.catchTag("IdentityRefused", ({ reason }) => Effect.fail(refusedBecause[reason])))
    return yield* linked === null ? signedUp(person, email) : opened(linked)
  })
})

export const OpenIdPages = Layer.unwrap(
  Effect.gen(function* () {
    const openId = yield* OpenId
    const operators = yield* OperatorSessions
    const log = yield* AuditLog
    const settings = yield* Settings
    const signInAs = yield* makeSignInAs
    const directory = yield* Directory

    const begin = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      if (settings.openId === null) return yield* Effect.fail(off)
      const binding = randomText(43)
      const callback = `${yield* issuerOf(settings)}${openIdCallbackPath}`
      const next = localAddress(new URLSearchParams(url.split("?")[1] ?? "").get("next") ?? undefined)
      const factors = next === operatorPage ? settings.openId.operatorFactors : []
      const acr = factors.flatMap(({ claim, value }) => (claim === "acr" ? [value] : []))
      const place = settings.cell === null ? "" : `${settings.cell}_`
      return keep(`${place}${binding}${next}`, cookieSeconds)(to(yield* orFailed(openId.start(binding, callback, acr))))
    })

    const asOperator = Effect.fnUntraced(function* ({ email, claims }: OpenIdPerson, rules: OpenIdSettings) {
      if (email === null) return yield* Effect.fail(unverified)
      if (!rules.operators.some(hasClaim(claims))) return yield* Effect.fail(notOperator)
      if (rules.operatorFactors.length > 0 && !rules.operatorFactors.some(hasClaim(claims)))
        return yield* Effect.fail(noFactor)
      const { address } = yield* RequestContext
      const { token } = yield* log.by({ kind: "operator", id: null, name: email, address })(operators.makeLink(email))
      const opened = yield* operators.open(token, address)
      if (opened === null) return yield* Effect.fail(failed)
      yield* setOperatorCookie(opened.token, opened.session.expires_at)
    })

    const ended = Effect.fnUntraced(function* (binding: string, callback: URL, next: string, rules: OpenIdSettings) {
      const person = yield* orFailed(openId.finish(binding, callback))
      const elsewhere =
        person.email === null || directory.cells === null ? null : yield* directory.cells.of(person.email)
      // The provider knows the person already, so this is two redirects that nobody sees.
      if (elsewhere !== null && next !== operatorPage)
        return to(`${openIdStartPath}?${new URLSearchParams({ cell: elsewhere.name, next })}`)
      yield* next === operatorPage
        ? asOperator(person, rules)
        : Effect.flatMap(signInAs(person, rules), ({ token, session }) => setSessionCookie(token, session.expires_at))
      return to(next)
    })

    const end = Effect.gen(function* () {
      const { url, cookies } = yield* HttpServerRequest.HttpServerRequest
      if (settings.openId === null) return yield* Effect.fail(off)
      const [, binding, page] = keptForm.exec(cookies[cookie] ?? "") ?? []
      const callback = new URL(`${yield* issuerOf(settings)}${openIdCallbackPath}?${url.split("?")[1] ?? ""}`)
      // The cookie stays for the tab that has begun last.
      if (binding === undefined || !openId.isAnswer(binding, callback)) return yield* Effect.fail(failed)
      return keep("", 0)(yield* answered(ended(binding, callback, localAddress(page), settings.openId)))
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", openIdStartPath, rateLimitedPage(answered(begin))),
      HttpRouter.add("GET", openIdCallbackPath, rateLimitedPage(answered(end)))
    )
  })
)
