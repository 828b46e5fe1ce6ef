/** `GET /v1/runs/{id}` with a bearer token, and with or without `?wait=<seconds>`: a client that waits keeps little more than a fiber. */
import { Effect, Schema } from "effect"
import { Admission } from "../../actors/runs/Admission.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { unknownRun } from "../../schema/Errors.ts"
import { CallerChecks } from "../middleware/CallerChecks.ts"
import { seesRunOf } from "../access/SeenRuns.ts"
import { RunsApi } from "../api/Runs.ts"
import { WaitSeconds } from "../api/shapes/Common.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { concerning } from "../standards/Deprecation.ts"
import { waitsFor } from "../standards/Prefer.ts"
import { showRead, extrasOf } from "../submission/SubmitRun.ts"
import { type AnswerFacts, answerFacts, bearerToken, tellLimit, type UntilEnd } from "./AnswerAtEnd.ts"

/** A whole number of seconds, written as clients write it. */
const readUrl = /^[a-z]+:\/\/[^/]*\/v1\/runs\/(\w+)(?:\?wait=(0|[1-9][0-9]{0,2}))?$/
const operation = { name: "runs.get", endpoint: RunsApi.endpoints.get }

const isWait = Schema.is(WaitSeconds)

interface Read {
  readonly run_id: string
  /** The seconds of the query. Null without. */
  readonly wait: number | null
}

const readOf = ({ method, url }: Request): Read | null => {
  const [match, run_id = "", seconds] = (method === "GET" ? readUrl.exec(url) : null) ?? []
  const wait = seconds === undefined ? null : Number(seconds)
  return match === undefined || (wait !== null && !isWait(wait)) ? null : { run_id, wait }
}

export const readRoute = Effect.fnUntraced(function* (untilEnd: UntilEnd) {
  const admission = yield* Admission
  const checks = yield* CallerChecks
  const sees = seesRunOf(yield* RunStore)
  // The API's route says what of a request is deprecated.
  const closed = concerning(yield* Deprecations, operation.name) !== null

  /** The caller's organization. Null if the caller does not see the run. */
  const readable = Effect.fnUntraced(function* (request: Request, token: string, run_id: string, facts: AnswerFacts) {
    const tell = tellLimit(facts)
    const { caller } = yield* checks.admit({ token, operation, source: request, tell, receive: () => Effect.void })
    Object.assign(facts, extrasOf(caller, facts.applied))
    return (yield* sees(caller, run_id)) ? caller.org_id : null
  })

  return (request: Request) => {
    const one = closed ? null : readOf(request)
    const token = one === null ? null : bearerToken(request)
    if (one === null || token === null) return null
    const { seconds, applied } = waitsFor(request.headers.get("prefer") ?? undefined, one.wait, 0)
    const facts = { ...answerFacts(request, "GET /v1/runs/{run_id}"), applied }
    return untilEnd(facts, showRead, (place) =>
      Effect.flatMap(readable(request, token, one.run_id, facts), (org_id) =>
        Effect.flatMap(
          org_id === null ? Effect.succeed(null) : admission.beginWatch(org_id, one.run_id, seconds * 1000, place),
          (begun) => (begun === null ? Effect.fail(unknownRun(one.run_id)) : Effect.succeed(begun))
        )
      )
    )
  }
})
