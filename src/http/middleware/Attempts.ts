/** Limits attempts to sign in, to use a mailed link and to set a password, per client address and per account. */
import { Effect } from "effect"
import { enforceRateLimit, tellLimit } from "./RequestChecks.ts"
import type { Limits } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"

/**
 * `isKnown` says whether the account had a sign-in from this client address before. Only sign-in passes it, so wrong passwords at sign-in do not slow
 * down the other endpoints.
 */
export const allowAttempt = Effect.fnUntraced(function* (
  limits: Limits["Service"],
  account: string,
  isKnown: Effect.Effect<boolean> = Effect.succeed(true)
) {
  const { address } = yield* RequestContext
  yield* enforceRateLimit(yield* limits.attempt(account, address, isKnown), "attempts", tellLimit)
})

/** The account name under which attempts with a mailed link are counted. It is a digest, so the limiter never stores the token. */
export const linkAccount = (token: string): string =>
  `link ${new Bun.CryptoHasher("sha256").update(token).digest("hex").slice(0, 16)}`
