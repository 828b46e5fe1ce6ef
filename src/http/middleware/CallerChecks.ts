/**
 * Who sends a request, and whether this caller may send it: the checks of every request with a token, in their order.
 *
 * What a caller may do is decided by the rights of the operation (Access.ts). The role is read with the session, so a changed role counts
 * from the next request. Every request reads the token's row from the database, so revocation is immediate. Only `POST /v1/run` may use a
 * cached caller, because admission checks the key again in its own statement.
 */
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { digest } from "../../layers/accounts/Secrets.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { type Mode, Settings } from "../../layers/platform/Settings.ts"
import type { Caller } from "../../schema/accounts/KeyAccess.ts"
import { markPattern } from "../../schema/accounts/TokenText.ts"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import { withCommands, type Sentence } from "../../schema/Hints.ts"
import { createKey, signIn } from "../../schema/Steps.ts"
import { Rights } from "../api/shapes/Common.ts"
import { type Allowance, Limits } from "./Limits.ts"
import { enforceRateLimit, type TakeMore } from "./RequestChecks.ts"
import { verificationProblem } from "./Verified.ts"
import { refusalFor } from "../access/Access.ts"

export type Environment = "test" | "live"

export const unauthorized = (message: string | Sentence) => problem("unauthorized", message)

const malformed = unauthorized(
  "This is not a token of this service. An API key starts with rg_test_ or rg_live_, a session token with rg_sess_; check that you copied all of it."
)
const otherEnvironment: Readonly<Record<Environment, ReturnType<typeof unauthorized>>> = {
  test: unauthorized("This is a live key (rg_live_), and this service is a sandbox. Use a test key (rg_test_)."),
  live: unauthorized("This is a test key (rg_test_), and this service is in production. Use a live key (rg_live_).")
}
/** One message for both causes, so nobody learns whether a guessed key existed. */
const unknownKey = unauthorized(
  withCommands`This API key is unknown, revoked or expired. Create another one with ${createKey} and a session token.`
)
export const unknownSession = unauthorized(
  withCommands`This session token is unknown, or the session has ended. Sign in with ${signIn}.`
)

/** The form of every token. */
export const tokenForm = new RegExp(`^rg_(test|live|sess)_${markPattern}[0-9A-Za-z]{20,100}$`)

/** The error for a credential whose form alone is wrong. Null if it has to be looked up. */
const formProblem = (text: string, environment: Environment) => {
  const kind = tokenForm.exec(text)?.[1]
  if (kind === undefined) return malformed
  return kind === "sess" || kind === environment ? null : otherEnvironment[environment]
}

export const environmentOf = (mode: Mode): Environment => (mode === "sandbox" ? "test" : "live")

/** Milliseconds for which `POST /v1/run` may use a caller that it has found, and how many it keeps. */
const keptMillis = 30_000
const keptMax = 10_000

/** The callers that `POST /v1/run` looked up by their API keys, so that a run needs no query for its key. */
const cachedCallers = () => {
  const kept = new Map<string, { readonly principal: Caller; readonly until: number }>()
  // A digest, so that a dump of the memory shows no key of a caller who has left.
  const nameOf = (token: string) => Buffer.from(digest(token)).toString("base64")
  return {
    /** The caller with this token, if it was kept less than half a minute before `now` (milliseconds since 1970). */
    find: (token: string, now: number): Caller | null => {
      const one = kept.get(nameOf(token))
      return one !== undefined && one.until > now ? one.principal : null
    },
    /** Keeps the caller of an API key. Does nothing for a session. */
    keep: (token: string, principal: Caller, now: number) => {
      if (principal.key_id === null) return
      if (kept.size >= keptMax) kept.clear()
      const expiry = principal.access?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
      kept.set(nameOf(token), { principal, until: Math.min(now + keptMillis, expiry) })
    }
  }
}

/** An operation of the API. */
export interface Operation {
  /** Its group and its own name, such as `runs.run`. */
  readonly name: string
  readonly endpoint: Pick<HttpApiEndpoint.Top, "annotations">
}

/** A request with a token, before anything of it is believed. */
export interface SentRequest<A, E, R> {
  readonly token: string
  readonly operation: Operation
  /** The request as it came to the socket. Its facts are kept by it. */
  readonly source: object
  /** Adds the headers of the rate limit to the answer. */
  readonly tell: (allowance: Allowance) => Effect.Effect<void, never, R>
  /** Receives the body. A large one takes more requests from the limit before it is parsed. */
  readonly receive: (takeMore: TakeMore<R>) => Effect.Effect<A, E, R>
}

/** A caller who may send the request. */
export interface Admitted<A> {
  readonly caller: Caller
  readonly body: A
}

export class CallerChecks extends Context.Service<
  CallerChecks,
  {
    /** First the token, then the rate limit, then the body, so a refused request costs no parsing; then what the caller may do. */
    readonly admit: <A, E, R>(
      request: SentRequest<A, E, R>
    ) => Effect.Effect<Admitted<A>, E | ProblemOf<"unauthorized" | "rate_limited" | "forbidden">, R>
  }
>()("rungate/http/middleware/CallerChecks") {
  static readonly layer = Layer.effect(
    CallerChecks,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const limits = yield* Limits
      const facts = yield* FactsOfRequests
      const settings = yield* Settings
      const environment = environmentOf(settings.mode)
      const clock = yield* Clock.Clock
      const callers = cachedCallers()

      const lookUp = (token: string, mayKeep: boolean) =>
        Effect.map(accounts.principal(Redacted.make(token)), (row) => {
          const principal = Option.getOrNull(row)
          if (principal !== null && mayKeep) callers.keep(token, principal, clock.currentTimeMillisUnsafe())
          return principal
        })

      return CallerChecks.of({
        admit: Effect.fnUntraced(function* ({ token, operation: { name, endpoint }, source, tell, receive }) {
          const wrong = formProblem(token, environment)
          if (wrong !== null) return yield* Effect.fail(wrong)
          const mayUseCache = name === "runs.run"
          const cached = mayUseCache ? callers.find(token, clock.currentTimeMillisUnsafe()) : null
          const caller = cached ?? (yield* lookUp(token, mayUseCache))
          if (caller === null) return yield* Effect.fail(token.startsWith("rg_sess_") ? unknownSession : unknownKey)
          const noted = facts.get(source)
          if (noted !== undefined) noted.org_id = caller.org_id
          if (caller.environment !== null && caller.environment !== environment)
            return yield* Effect.fail(otherEnvironment[environment])
          const owner = caller.key_id ?? caller.user_id ?? caller.org_id
          const take = (requests: number) =>
            Effect.flatMap(limits.request(owner, requests), (allowance) =>
              enforceRateLimit(allowance, "requests with this key", tell)
            )
          yield* take(1)
          const body = yield* receive(take)
          if (caller.key_id !== null) accounts.used(caller.key_id)
          const rights = Context.get(endpoint.annotations, Rights)
          const refused = refusalFor(rights, caller) ?? (rights.verified ? verificationProblem(settings, caller) : null)
          if (refused !== null) return yield* Effect.fail(refused)
          return { caller, body }
        })
      })
    })
  )
}
