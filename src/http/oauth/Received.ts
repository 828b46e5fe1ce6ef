/** Limits requests to an OAuth endpoint by client address, and checks their bodies before anything parses them. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type AddressLimit, Limits } from "../middleware/Limits.ts"
import { checkBodyByAddress, checkFormByAddress, limitByAddress } from "../middleware/RequestChecks.ts"
import { problemAnswer } from "../standards/ProblemType.ts"

type Checks = (limit: AddressLimit) => ReturnType<typeof checkFormByAddress>

const after =
  (checks: Checks) =>
  <R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
    Effect.flatMap(Limits, ({ anonymous }) => Effect.andThen(checks(anonymous), handler)).pipe(
      Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong)))
    )

/** A request with JSON. */
export const received = after((limit) => Effect.andThen(limitByAddress(limit), checkBodyByAddress(limit)))

export const receivedForm = after(checkFormByAddress)
