/**
 * Rate limits: token buckets per API key, per client address on public endpoints, and for sign-in attempts.
 *
 * Processes share them through Redis if there is one. `RUNGATE_RATE_LIMIT=0` turns them off.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { digest } from "../../layers/accounts/Accounts.ts"
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
/** Attempts of one address, whatever the account; and of one address at one account. */
const byAddress: Policy = { policy: "address", limit: 30, window: 60 }
const byPair: Policy = { policy: "account", limit: 10, window: 60 }
/** Wrong passwords for one account from everywhere. When they are used up, addresses that never signed in to it get `slowed`. */
const byAccount: Policy = { policy: "account", limit: 30, window: 3_600 }
const slowed: Policy = { policy: "account", limit: 1, window: 60 }

/** A larger body counts as several requests, because parsing costs more than all else: one for each started 32 KiB. */
export const bytesPerRequest = 32 * 1024

/** Limits the requests of one client address; null when limits are off. */
export type OfAddress = (address: string, requests?: number) => Effect.Effect<Allowance | null>

/** Hosted agents of many customers ask from few addresses, and every key behind /mcp has its own limit. */
const hostTimes = 4

export class Limits extends Context.Service<
  Limits,
  {
    /** A request of a key or session, or the rest of one that counts as several; null when limits are off. */
    readonly request: (caller: string, requests?: number) => Effect.Effect<Allowance | null>
    /** The same for a door that needs no key. */
    readonly stranger: OfAddress
    /** The same for /mcp. */
    readonly host: OfAddress
    /**
     * One attempt to sign in or up. `isKnown` says whether the address has signed in to the account before; it is asked only while
     * the account is under attack.
     */
    readonly attempt: (
      email: string,
      address: string,
      isKnown: Effect.Effect<boolean>
    ) => Effect.Effect<Allowance | null>
    /** The password was wrong. */
    readonly failedAttempt: (email: string) => Effect.Effect<void>
  }
>()("rungate/http/middleware/Limits") {
  static readonly layer = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const { rateLimit } = yield* Settings
      const limiter = yield* RateLimiter.RateLimiter
      const isOff = rateLimit === 0
      const nothing = Effect.succeed(null)

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
      /** Whether one more would be allowed, which takes nothing. */
      const look = (key: string, policy: Policy): Effect.Effect<Allowance> =>
        Effect.map(consume(key, policy, 0), (found) =>
          found.remaining >= 1 ? found : { ...found, allowed: false, reset: Math.ceil(policy.window / policy.limit) }
        )

      const default_ = { policy: "default", limit: rateLimit * burstSeconds, window: burstSeconds }
      const stranger = { ...default_, policy: "address" }
      const host = { ...stranger, limit: stranger.limit * hostTimes }
      // E-mail addresses are nobody's business who reads Redis.
      const accountOf = (email: string) => Buffer.from(digest(email.toLowerCase())).toString("base64url")

      const attempt = Effect.fnUntraced(function* (email: string, address: string, isKnown: Effect.Effect<boolean>) {
        const account = accountOf(email)
        const pair = `${account} ${address}`
        const ofAddress = yield* consume(`attempts ${address}`, byAddress)
        if (!ofAddress.allowed) return ofAddress
        const ofPair = yield* consume(`pair ${pair}`, byPair)
        if (!ofPair.allowed) return ofPair
        const ofAccount = yield* look(`account ${account}`, byAccount)
        if (ofAccount.allowed || (yield* isKnown)) return ofPair
        return yield* consume(`slowed ${pair}`, slowed)
      })

      return Limits.of({
        request: (caller, requests) => (isOff ? nothing : consume(caller, default_, requests)),
        stranger: (address, requests) => (isOff ? nothing : consume(`address ${address}`, stranger, requests)),
        host: (address, requests) => (isOff ? nothing : consume(`host ${address}`, host, requests)),
        attempt: (email, address, isKnown) => (isOff ? nothing : attempt(email, address, isKnown)),
        failedAttempt: (email) =>
          isOff ? Effect.void : Effect.asVoid(consume(`account ${accountOf(email)}`, byAccount))
      })
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimitStore))
}
