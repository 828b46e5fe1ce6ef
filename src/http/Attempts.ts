/** One attempt at an account, by whoever asks: refused with `rate_limited` beyond the limits per address and per account. */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { problem } from "../schema/Errors.ts"
import type { Limits } from "./Limits.ts"
import { RequestContext } from "./RequestContext.ts"

export const allowAttempt = Effect.fnUntraced(function* (limits: Limits["Service"], account: string) {
  const { address } = yield* RequestContext
  const allowance = yield* limits.attempt(account, address)
  if (allowance === null || allowance.allowed) return
  const wait = String(allowance.reset)
  yield* HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", wait))
  )
  return yield* Effect.fail(problem("rate_limited", `Too many attempts; try again in ${wait} s.`))
})

/** What attempts with a link are counted by: not the token itself, which no limiter needs to know. */
export const linkAccount = (token: string): string =>
  `link ${new Bun.CryptoHasher("sha256").update(token).digest("hex").slice(0, 16)}`
