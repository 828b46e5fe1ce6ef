/**
 * Rate limits: token buckets per API key, per account that somebody tries to sign in to, and per address that tries.
 *
 * Kept in each process: a limit protects the process it stands in. `RUNGATE_RATE_LIMIT=0` lifts them all.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { Settings } from "../layers/Settings.ts"

export interface Allowance {
  readonly allowed: boolean
  /** Requests that the bucket holds when it is full. */
  readonly limit: number
  readonly remaining: number
  /** Seconds until the next request would be allowed, or until the bucket is full again. */
  readonly reset: number
}

/** A full bucket lasts for two seconds of the permitted rate: 50 requests/s with a burst of 100. */
const burstSeconds = 2
const attemptSeconds = 60
const attemptsPerAddress = 30
const attemptsPerAccount = 10

export class Limits extends Context.Service<
  Limits,
  {
    /** One request of a key or session; null when limits are off. */
    readonly request: (caller: string) => Effect.Effect<Allowance | null>
    /** One attempt to sign in or up; null when limits are off. */
    readonly attempt: (email: string, address: string) => Effect.Effect<Allowance | null>
    readonly burstSeconds: number
  }
>()("rungate/http/Limits") {
  static readonly layer = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const { rateLimit } = yield* Settings
      const limiter = yield* RateLimiter.RateLimiter
      const consume = (key: string, limit: number, seconds: number): Effect.Effect<Allowance> =>
        limiter
          .consume({ key, limit, window: `${seconds} seconds`, algorithm: "token-bucket", onExceeded: "fail" })
          .pipe(
            Effect.map(({ remaining, resetAfter }) => ({
              allowed: true,
              limit,
              remaining,
              reset: Math.ceil(Duration.toSeconds(resetAfter))
            })),
            Effect.catch(({ reason }) => {
              const wait =
                reason._tag === "RateLimitExceeded" ? Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter))) : 1
              return Effect.succeed({ allowed: false, limit, remaining: 0, reset: wait })
            })
          )
      const attempt = Effect.fnUntraced(function* (email: string, address: string) {
        const byAddress = yield* consume(`address ${address}`, attemptsPerAddress, attemptSeconds)
        if (!byAddress.allowed) return byAddress
        return yield* consume(`account ${email.toLowerCase()}`, attemptsPerAccount, attemptSeconds)
      })
      return Limits.of({
        request: (caller) =>
          rateLimit === 0 ? Effect.succeed(null) : consume(caller, rateLimit * burstSeconds, burstSeconds),
        attempt: (email, address) => (rateLimit === 0 ? Effect.succeed(null) : attempt(email, address)),
        burstSeconds
      })
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimiter.layerStoreMemory))
}
