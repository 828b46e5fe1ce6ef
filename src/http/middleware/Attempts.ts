/** Limits attempts to sign in, to use a mailed link or to set a password, per client address and per account. */
import { Effect } from "effect"
import { admit } from "./RequestChecks.ts"
import type { Limits } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"

/**
 * `isKnown` says whether the client address has signed in to the account before. Only sign-in asks: elsewhere no password is guessed, so nobody is
 * slowed down for passwords that are guessed at sign-in.
 */
export const allowAttempt = Effect.fnUntraced(function* (
  limits: Limits["Service"],
  account: string,
  isKnown: Effect.Effect<boolean> = Effect.succeed(true)
) {
  const { address } = yield* RequestContext
  yield* admit(yield* limits.attempt(account, address, isKnown), "attempts")
})

/** What attempts with a link are counted by: not the token itself, which no limiter needs to know. */
export const linkAccount = (token: string): string =>
  `link ${new Bun.CryptoHasher("sha256").update(token).digest("hex").slice(0, 16)}`
