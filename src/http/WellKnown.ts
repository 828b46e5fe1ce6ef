/** `/.well-known/jwks.json`: the public keys of receipts and ledger heads, the retired ones too. Public, cacheable, and limited by address. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { costBoundCache } from "../layers/platform/costBoundCache.ts"
import { SigningKeys } from "../layers/receipts/SigningKeys.ts"
import { keysPath } from "../schema/receipts/PublicKeys.ts"
import { rateLimitedPage } from "./middleware/RequestChecks.ts"

/** A new key is found by clients after at most this long, and by verifiers that meet an unknown key at once. */
const cacheSeconds = 300
/** Anybody may ask, so one read serves all who ask at that moment. */
const readMillisMax = 1_000

export const WellKnownRoute = Layer.unwrap(
  Effect.gen(function* () {
    const keys = yield* SigningKeys
    const read = yield* costBoundCache(() => keys.published, readMillisMax)
    const answer = Effect.map(read("keys"), (published) =>
      HttpServerResponse.jsonUnsafe(
        { keys: published },
        { contentType: "application/jwk-set+json", headers: { "cache-control": `public, max-age=${cacheSeconds}` } }
      )
    )
    return HttpRouter.add("GET", keysPath, rateLimitedPage(answer))
  })
)
