/**
 * The short route of `GET /v1/runs/{id}?wait=<seconds>`: a client that waits keeps little more than a fiber.
 *
 * As with `POST /v1/run`, only the API's route decides who is refused and how: a request that would be refused goes there.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import { Admission } from "../../actors/runs/Admission.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { looksLike } from "../../schema/Ids.ts"
import { refusalFor } from "../access/Access.ts"
import { Deprecations } from "../api/shapes/Deprecations.ts"
import { WaitSeconds } from "../api/shapes/Common.ts"
import { concerning } from "../standards/Deprecation.ts"
import { environmentOf, tokenForm } from "../middleware/Auth.ts"
import { Limits } from "../middleware/Limits.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { showRead, toldOf } from "../submission/SubmitRun.ts"
import { bearer, type Envelope, type Outcome, type ShortRoute, shortRoutes, type AnswerBase } from "./ShortRoute.ts"

const operation = "GET /v1/runs/{run_id}"

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

/** A caller that may read runs. */
interface Allowed {
  readonly _tag: "Allowed"
  readonly org_id: string
  readonly envelope: Envelope
}

export const shortWaitRoute = Effect.gen(function* () {
  const admission = yield* Admission
  const accounts = yield* Accounts
  const limits = yield* Limits
  const { mode } = yield* Settings
  const environment = environmentOf(mode)
  const facts = yield* FactsOfRequests
  const { inFiber, orDefect, untilEnd } = yield* shortRoutes
  // The API's route says what of a request is deprecated.
  const closed = concerning(yield* Deprecations, "runs.get") !== null

  const allowed = Effect.fnUntraced(function* (
    request: Request,
    { token }: Asked,
    base: AnswerBase
  ): Effect.fn.Return<Allowed | Outcome> {
    // Read for every request, as Auth.ts does, so that revocation is immediate.
    const principal = Option.getOrNull(yield* accounts.principal(Redacted.make(token)))
    if (principal === null || (principal.environment ?? environment) !== environment) return null
    const known = facts.get(request)
    if (known !== undefined) known.org_id = principal.org_id
    // The API's route looks whose run it is.
    if (refusalFor("runs.get", principal.role) !== null || (principal.access?.reads ?? null) !== null) return null
    const allowance = yield* limits.request(principal.key_id ?? principal.user_id ?? principal.org_id)
    if (allowance !== null && !allowance.allowed) return { _tag: "PassedOn", body: null, allowance }
    if (principal.key_id !== null) accounts.used(principal.key_id)
    return { _tag: "Allowed", org_id: principal.org_id, envelope: { ...base, allowance, ...toldOf(principal) } }
  })

  const watch = ({ org_id, envelope }: Allowed, { run_id, seconds }: Asked) =>
    untilEnd(envelope, showRead, (place, answered) =>
      Effect.map(admission.beginWatch(org_id, run_id, seconds * 1000, place), (begun) =>
        begun === null ? { _tag: "PassedOn", body: null, allowance: envelope.allowance } : answered(begun)
      )
    )
  const respond = (request: Request, one: Asked) => {
    const accept = request.headers.get("accept") ?? undefined
    const base = { request_id: newId("req"), allowance: null, accept, operation }
    return Effect.flatMap(orDefect(base, allowed(request, one, base)), (may) =>
      may !== null && "_tag" in may && may._tag === "Allowed" ? watch(may, one) : Effect.succeed(may)
    )
  }

  const route: ShortRoute = (request, api) => {
    const one = closed ? null : askedOf(request)
    return one === null ? null : inFiber(request, api, respond(request, one))
  }
  return route
})
