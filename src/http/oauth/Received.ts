/** Limits requests to an OAuth endpoint by client address, and checks their bodies before anything parses them. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { Limits } from "../middleware/Limits.ts"
import { checkBodyByAddress, limitByAddress } from "../middleware/RequestChecks.ts"
import { problemAnswer } from "../standards/ProblemType.ts"

export const received = <R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.gen(function* () {
    const { anonymous } = yield* Limits
    yield* limitByAddress(anonymous)
    yield* checkBodyByAddress(anonymous)
    return yield* handler
  }).pipe(Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong))))
