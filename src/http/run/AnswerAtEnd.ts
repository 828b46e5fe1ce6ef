/** How the routes of the run door answer: with a run at the end of its wait, or with an error in the form that the API gives it. */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { PendingRun, type Submitted } from "../../actors/mailbox/PendingRun.ts"
import type { Place } from "../../actors/mailbox/Places.ts"
import { Admission } from "../../actors/runs/Admission.ts"
import { newId } from "../../layers/platform/Ids.ts"
import type { Problem } from "../../schema/Errors.ts"
import { answerToDefect, concluded } from "../middleware/Boundary.ts"
import type { Allowance } from "../middleware/Limits.ts"
import { Readiness } from "../middleware/Readiness.ts"
import { limitHeaders } from "../middleware/RequestChecks.ts"
import { retryAfterSeconds, type Extras } from "../submission/SubmitRun.ts"
import { problemAnswer } from "../standards/ProblemType.ts"

/** What an answer says besides the run. It is filled in as the request is checked. */
export interface AnswerFacts extends Extras {
  readonly request_id: string
  /** Names the request in the log. */
  readonly operation: string
  /** The client's Accept header. */
  readonly accept: string | undefined
  /** What the request took from the limit of its caller. Null when limits are off. */
  allowance: Allowance | null
  wallet: boolean
  applied: string | null
}

export const answerFacts = ({ headers }: Request, operation: string): AnswerFacts => ({
  request_id: newId("req"),
  operation,
  accept: headers.get("accept") ?? undefined,
  allowance: null,
  wallet: false,
  applied: null
})

export const tellLimit = (facts: AnswerFacts) => (allowance: Allowance) =>
  Effect.sync(() => {
    facts.allowance = allowance
  })

/** The token of a request that sends it as most clients do: not a browser's cookie. Null for any other. */
export const bearerToken = ({ headers }: Request): string | null =>
  headers.has("cookie") ? null : (/^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null)

type Show = (submitted: Submitted, now: number, extras: Extras) => HttpServerResponse.HttpServerResponse

/**
 * Begins a run or a wait, and answers with the run as it is at the end. While the fiber waits, it holds the facts and the run, and nothing
 * else that `begin` has needed.
 */
export type UntilEnd = (
  facts: AnswerFacts,
  show: Show,
  begin: (place: Place) => Effect.Effect<Submitted | PendingRun, Problem>
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

export const answerAtEnd = Effect.gen(function* () {
  const admission = yield* Admission
  const readiness = yield* Readiness
  const clock = yield* Clock.Clock

  const enveloped = (response: HttpServerResponse.HttpServerResponse, { request_id, allowance, accept }: AnswerFacts) =>
    concluded(
      allowance === null ? response : HttpServerResponse.setHeaders(response, limitHeaders(allowance)),
      request_id,
      accept
    )
  /** Answers errors and defects too. In one step, because a client that waits keeps each step in memory. */
  const settled = <A>(facts: AnswerFacts, work: Effect.Effect<A, Problem>) =>
    Effect.catchCause(work, (cause) =>
      Effect.failCause(cause).pipe(
        Effect.catch((refused) => {
          const later = refused.error.code === "rate_limited" || refused.error.code === "service_unavailable"
          const headers = later ? { "retry-after": retryAfterSeconds } : {}
          return Effect.succeed(enveloped(problemAnswer(refused, headers), facts))
        }),
        Effect.catchDefect((defect) =>
          Effect.map(answerToDefect(readiness, `${facts.request_id} ${facts.operation}`, defect), (response) =>
            enveloped(response, facts)
          )
        )
      )
    )

  /** These two are kept by a client that waits, so they are made where `begin` is not. */
  const shownBy = (facts: AnswerFacts, show: Show) => (submitted: Submitted) =>
    enveloped(show(submitted, clock.currentTimeMillisUnsafe(), facts), facts)
  const endedBy = (facts: AnswerFacts, shown: ReturnType<typeof shownBy>) => (ended: Effect.Effect<Submitted>) =>
    settled(facts, Effect.map(ended, shown))

  const untilEnd: UntilEnd = (facts, show, begin) => {
    const shown = shownBy(facts, show)
    return admission.toEnd(
      (place) =>
        settled(
          facts,
          Effect.map(begin(place), (one) => (one instanceof PendingRun ? one : shown(one)))
        ),
      endedBy(facts, shown)
    )
  }
  return untilEnd
})
