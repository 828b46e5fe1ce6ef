/**
 * Rate limits: token buckets per API key, per client address on public endpoints, and for sign-in attempts.
 *
 * Processes share them through Redis if there is one. `RUNGATE_RATE_LIMIT=0` turns them off.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { digest } from "../../layers/accounts/Secrets.ts"
import { RateLimitStore } from "../../layers/queues/RateLimitStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"

export interface Allowance {
  readonly allowed: boolean
  /** Which bucket it is, as the RateLimit headers name it. */
  readonly policy: string
  /** Requests that the bucket holds when it is full. */
  readonly limit: number
  /** Seconds in which an empty bucket fills. */
  readonly window: number
  readonly remaining: number
  /** Seconds until the next request would be allowed, or until the bucket is full again. */
  readonly reset: number
}

interface Policy {
  readonly policy: string
  readonly limit: number
  readonly window: number
}

/** A full bucket lasts for two seconds of the permitted rate: 50 requests/s with a burst of 100. */
const burstSeconds = 2
/** Sign-in attempts per address over all accounts, and per address and account. */
const byAddress: Policy = { policy: "address", limit: 30, window: 60 }
const byPair: Policy = { policy: "account", limit: 10, window: 60 }
/** Wrong passwords per account from all addresses. Beyond it, addresses that never signed in to the account get `slowed`. */
const byAccount: Policy = { policy: "account", limit: 30, window: 3_600 }
const slowed: Policy = { policy: "account", limit: 1, window: 60 }

/** A body counts as one request per started 32 KiB, because parsing costs more than the rest of a request. */
export const bytesPerRequest = 32 * 1024

/** Limits the requests of one client address; null when limits are off. */
export type AddressLimit = (address: string, requests?: number) => Effect.Effect<Allowance | null>

/** An address may send four times as many requests to /mcp: hosted agents of many customers share few addresses, and each key has its own limit. */
const mcpMultiplier = 4

export class Limits extends Context.Service<
  Limits,
  {
    /** Takes `requests`, by default 1, from the limit of an API key or a session. Null when limits are off. */
    readonly request: (caller: string, requests?: number) => Effect.Effect<Allowance | null>
    /** The same per client address, for endpoints that need no key. */
    readonly anonymous: AddressLimit
    /** The same per client address, for /mcp. */
    readonly mcp: AddressLimit
    /**
     * Takes one attempt to sign in or up. `isKnown` says whether the address has signed in to the account before. It runs only if the
     * account had too many wrong passwords.
     */
    readonly attempt: (
      email: string,
      address: string,
      isKnown: Effect.Effect<boolean>
    ) => Effect.Effect<Allowance | null>
    /** Counts a wrong password. */
    readonly failedAttempt: (email: string) => Effect.Effect<void>
  }
>()("rungate/http/middleware/Limits") {
  static readonly layer = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const { rateLimit } = yield* Settings
      const limiter = yield* RateLimiter.RateLimiter
      const isOff = rateLimit === 0
      const unlimited = Effect.succeed(null)

      const consume = (key: string, { policy, limit, window }: Policy, requests = 1): Effect.Effect<Allowance> =>
        limiter
          .consume({
            key,
            limit,
            window: `${window} seconds`,
            tokens: Math.min(requests, limit),
            algorithm: "token-bucket",
            onExceeded: "fail"
          })
          .pipe(
            Effect.map(({ remaining, resetAfter }) => {
              const reset = Math.ceil(Duration.toSeconds(resetAfter))
              return { allowed: true, policy, limit, window, remaining, reset }
            }),
            Effect.catch(({ reason }) => {
              const wait =
                reason._tag === "RateLimitExceeded" ? Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter))) : 1
              return Effect.succeed({ allowed: false, policy, limit, window, remaining: 0, reset: wait })
            })
          )
      /** Whether one more attempt would be allowed. Takes nothing from the bucket. */
      const peek = (key: string, policy: Policy): Effect.Effect<Allowance> =>
        Effect.map(consume(key, policy, 0), (now) =>
          now.remaining >= 1 ? now : { ...now, allowed: false, reset: Math.ceil(policy.window / policy.limit) }
        )

      const default_ = { policy: "default", limit: rateLimit * burstSeconds, window: burstSeconds }
      const anonymous = { ...default_, policy: "address" }
      const mcp = { ...anonymous, limit: anonymous.limit * mcpMultiplier }
      // A digest, so that Redis holds no e-mail addresses.
      const accountOf = (email: string) => Buffer.from(digest(email.toLowerCase())).toString("base64url")

      const attempt = Effect.fnUntraced(function* (email: string, address: string, isKnown: Effect.Effect<boolean>) {
        const account = accountOf(email)
        const pair = `${account} ${address}`
        const ofAddress = yield* consume(`attempts ${address}`, byAddress)
        if (!ofAddress.allowed) return ofAddress
        const ofPair = yield* consume(`pair ${pair}`, byPair)
        if (!ofPair.allowed) return ofPair
        const ofAccount = yield* peek(`account ${account}`, byAccount)
        if (ofAccount.allowed || (yield* isKnown)) return ofPair
        return yield* consume(`slowed ${pair}`, slowed)
      })

      return Limits.of({
        request: (caller, requests) => (isOff ? unlimited : consume(caller, default_, requests)),
        anonymous: (address, requests) => (isOff ? unlimited : consume(`address ${address}`, anonymous, requests)),
        mcp: (address, requests) => (isOff ? unlimited : consume(`mcp ${address}`, mcp, requests)),
        attempt: (email, address, isKnown) => (isOff ? unlimited : attempt(email, address, isKnown)),
        failedAttempt: (email) =>
          isOff ? Effect.void : Effect.asVoid(consume(`account ${accountOf(email)}`, byAccount))
      })
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimitStore))
}
