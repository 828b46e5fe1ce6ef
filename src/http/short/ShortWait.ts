/**
 * The short route of `GET /v1/runs/{id}?wait=<seconds>`, so that a client that waits for a run keeps no fiber.
 *
 * As with `POST /v1/run`, only the API's route decides who is refused and how: a request that would be refused goes there.
 */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { Admission } from "../../actors/runs/Admission.ts"
import type { Place } from "../../actors/mailbox/Places.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { looksLike } from "../../schema/Ids.ts"
import { refusalFor } from "../access/Access.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { WaitSeconds } from "../api/shapes/Common.ts"
import { concerning } from "../standards/Deprecation.ts"
import { environmentOf, tokenForm } from "../middleware/Auth.ts"
import { answerToDefect } from "../middleware/Boundary.ts"
import { Limits } from "../middleware/Limits.ts"
import { Readiness } from "../middleware/Readiness.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { showRead, toldOf } from "../submission/SubmitRun.ts"
import { bearer, type Envelope, enveloped, type Outcome, type ShortRoute, shortRoutes } from "./ShortRoute.ts"

const asked = "GET /v1/runs/{run_id}"

/** A whole number of seconds, written as clients write it. */
const waitUrl = /^[a-z]+:\/\/[^/]*\/v1\/runs\/(run_[0-9a-z]+)\?wait=([1-9][0-9]{0,2})$/

const isWait = Schema.is(WaitSeconds)

interface Asked {
  readonly run_id: string
  readonly seconds: number
  readonly token: string
}

const askedOf = ({ method, url, headers }: Request): Asked | null => {
  if (method !== "GET") return null
  const [, run_id = "", wait = ""] = waitUrl.exec(url) ?? []
  const seconds = Number(wait)
  if (!looksLike("run", run_id) || !isWait(seconds)) return null
  const token = bearer.exec(headers.get("authorization") ?? "")?.[1]
  return token === undefined || !tokenForm.test(token) ? null : { run_id, seconds, token }
}

export const shortWaitRoute = Effect.gen(function* () {
  const admission = yield* Admission
  const accounts = yield* Accounts
  const limits = yield* Limits
  const readiness = yield* Readiness
  const { mode } = yield* Settings
  const clock = yield* Clock.Clock
  const environment = environmentOf(mode)
  const facts = yield* FactsOfRequests
  const inFiber = yield* shortRoutes
  // The API's route says what of a request is deprecated.
  const closed = concerning(yield* Deprecations, "runs.get") !== null

  const read = (org_id: string, { run_id, seconds }: Asked, place: Place, envelope: Envelope) =>
    Effect.map(admission.beginWatch(org_id, run_id, seconds * 1000, place), (one): Outcome => {
      if (one === null) return { _tag: "PassedOn", body: null, allowance: envelope.allowance }
      return one._tag === "Waiting"
        ? { _tag: "ClientWaits", waiting: one, envelope, shown: showRead }
        : enveloped(showRead(one, clock.currentTimeMillisUnsafe(), envelope), envelope)
    })

  const respond = Effect.fnUntraced(function* (request: Request, one: Asked, place: Place) {
    // Read for every request, as Auth.ts does, so that revocation is immediate.
    const principal = Option.getOrNull(yield* accounts.principal(Redacted.make(one.token)))
    if (principal === null || (principal.environment ?? environment) !== environment) return null
    const known = facts.get(request)
    if (known !== undefined) known.org_id = principal.org_id
    // The API's route looks whose run it is.
    if (refusalFor("runs.get", principal.role) !== null || (principal.access?.reads ?? null) !== null) return null
    const allowance = yield* limits.request(principal.key_id ?? principal.user_id ?? principal.org_id)
    if (allowance !== null && !allowance.allowed) return { _tag: "PassedOn" as const, body: null, allowance }
    if (principal.key_id !== null) accounts.used(principal.key_id)
    const accept = request.headers.get("accept") ?? undefined
    const envelope = { request_id: newId("req"), allowance, accept, asked, ...toldOf(principal) }
    return yield* read(principal.org_id, one, place, envelope)
  })

  const orDefect = (request: Request, work: Effect.Effect<Outcome>) =>
    Effect.catchDefect(work, (defect) => {
      const envelope = {
        request_id: newId("req"),
        allowance: null,
        accept: request.headers.get("accept") ?? undefined
      }
      return Effect.map(answerToDefect(readiness, `${envelope.request_id} ${asked}`, defect), (response) =>
        enveloped(response, envelope)
      )
    })

  const route: ShortRoute = (request, api) => {
    const one = closed ? null : askedOf(request)
    return one === null ? null : inFiber(request, api, (place) => orDefect(request, respond(request, one, place)))
  }
  return route
})
