/**
 * Submits the run of a `POST /v1/run`, waits for its end as long as the request asks, and shows it.
 *
 * The run door and the handler of the general router use it. It only decodes, asks an actor and shows.
 */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { type Admission } from "../../actors/runs/Admission.ts"
import type { RunCaller, PlanRequest } from "../../actors/runs/RunRequests.ts"
import type { Submitted } from "../../actors/mailbox/PendingRun.ts"
import type { Caller } from "../../schema/accounts/KeyAccess.ts"
import { seesWallet } from "../../schema/accounts/KeyAccess.ts"
import { acceptOf } from "../../schema/catalog/Acceptance.ts"
import { refused, refusedWith } from "../../schema/Errors.ts"
import { memberText } from "../../schema/json/JsonText.ts"
import { usd } from "../../schema/money/Money.ts"
import { maySeeWallet } from "../access/Access.ts"
import type { RunRequest } from "../api/Runs.ts"
import { personOf } from "../api/shapes/Common.ts"
import { fingerprintOf } from "./Fingerprint.ts"
import { type Waits, waitsFor } from "../standards/Prefer.ts"
import { httpStatusOf, isFinalRow, pollUrl, runJson, type RunRow, withoutWallet } from "../../schema/nouns/Run.ts"

const waitSecondsDefault = 30
const idempotencyKeyMax = 255

/** Accepts the bare key and the quoted form of the IETF draft. */
export const idempotencyKeyOf = (header: string | undefined) => {
  if (header === undefined) return Effect.succeed(null)
  const quoted = /^"(.*)"$/.exec(header.trim())?.[1]
  const key = quoted ?? header.trim()
  if (key.length >= 1 && key.length <= idempotencyKeyMax && /^[\x21-\x7e]+$/.test(key)) return Effect.succeed(key)
  const message = `must be 1 to ${idempotencyKeyMax} visible ASCII characters`
  return refusedWith("invalid_request", `Idempotency-Key ${message}`, [{ path: "headers.idempotency-key", message }])
}

/** The target that a request names: a capability alone, or a provider with an endpoint. */
const targetOf = (payload: RunRequest) => {
  const { capability, provider, endpoint } = payload
  if (capability !== undefined && capability !== null) {
    if ((provider ?? null) !== null)
      return refused("provider", "can't be combined with capability; to pin a provider use routing.provider")
    if ((endpoint ?? null) !== null) return refused("endpoint", "can't be combined with capability")
    if ((payload.path ?? null) !== null) return refused("path", "is for raw endpoints only")
    if ((payload.query ?? null) !== null) return refused("query", "is for raw endpoints only")
    if ((payload.method ?? null) !== null) return refused("method", "is for raw endpoints only")
    return Effect.succeed({ _tag: "Capability" as const, capability })
  }
  if ((provider ?? null) === null && (endpoint ?? null) === null) {
    return refused("capability", "is required: name a capability, or a provider and its endpoint")
  }
  if ((payload.unless_contacted_within_seconds ?? null) !== null)
    return refused("unless_contacted_within_seconds", "is for capabilities that contact people, such as email.send")
  if (acceptOf(payload.accept) !== null)
    return refused("accept", "is for capabilities: a raw endpoint delivers any answer of its provider")
  if (provider === undefined || provider === null) return refused("provider", "is required with endpoint")
  if (endpoint === undefined || endpoint === null) return refused("endpoint", "is required with provider")
  const pinned = payload.routing?.provider ?? "auto"
  if (pinned !== "auto" && pinned !== provider)
    return refused("routing.provider", `can't differ from provider, which is ${provider}: a raw endpoint has no other`)
  return Effect.succeed({ _tag: "Endpoint" as const, provider, endpoint })
}

/** What an answer says beside the run. */
export interface Extras {
  /** Whether the caller may read the organization's wallet. */
  readonly wallet: boolean
  /** The header `Preference-Applied`. Null for none. */
  readonly applied: string | null
}

export const extrasOf = ({ role, access }: Pick<Caller, "role" | "access">, applied: string | null = null): Extras => ({
  wallet: maySeeWallet(role) && seesWallet(access),
  applied
})

/** What a run cost, once that is final, and what its organization can spend now. In dollars, as everywhere. */
const moneyHeaders = (run: RunRow, { wallet, applied }: Extras): Record<string, string> => ({
  ...(isFinalRow(run) ? { "run-charged": usd(run.charged ?? 0n) } : {}),
  ...(wallet && run.available !== null ? { "wallet-available": usd(run.available) } : {}),
  ...(applied === null ? {} : { "preference-applied": applied })
})

export const show = (run: RunRow, now: number, status: number, extras: Extras, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(runJson(extras.wallet ? run : withoutWallet(run), now, true), {
    status,
    contentType: "application/json",
    headers: {
      "run-id": run.run_id,
      ...moneyHeaders(run, extras),
      ...(status === 202 ? { location: pollUrl(run.run_id), "retry-after": "1" } : {}),
      ...headers
    }
  })

/** How long the client of a `POST /v1/run` waits. The body comes before the header `Prefer`. */
export const waitsOf = ({ async, wait_seconds }: RunRequest, prefer: string | undefined): Waits =>
  waitsFor(
    prefer,
    async === true ? 0 : (wait_seconds ?? (async === false ? waitSecondsDefault : null)),
    waitSecondsDefault
  )

/** Seconds after which some of an organization's open runs will have ended. */
export const retryAfterSeconds = "2"

/** One `POST /v1/run` whose caller is known and whose body was decoded. */
export interface RunSubmission {
  readonly caller: Caller
  readonly request_id: string
  /** Milliseconds since 1970. The time that the client waits begins here. */
  readonly arrived: number
  readonly idempotencyKey: string | undefined
  /** How long the client waits. */
  readonly waits: Waits
  readonly payload: RunRequest
  /** The `traceparent` of the request's span. Null without traces. */
  readonly trace: string | null
  /** The body as the client wrote it. Raw endpoints get their input from it, byte for byte. */
  readonly text: Effect.Effect<string>
}

/** Runs and quotes decode a request with this function, so both refuse the same requests. */
export const requestOf = Effect.fnUntraced(function* (
  payload: RunRequest,
  caller: RunCaller,
  text: RunSubmission["text"]
) {
  const target = yield* targetOf(payload)
  const max_cost = payload.routing?.max_cost ?? null
  const max_total = payload.routing?.max_total ?? null
  const common = { ...caller, input: payload.input, reuse: payload.reuse ?? null }
  const planned: PlanRequest =
    target._tag === "Endpoint"
      ? {
          _tag: "Endpoint",
          request: {
            ...common,
            input_text: memberText(yield* text, "input") ?? JSON.stringify(payload.input),
            provider: target.provider,
            endpoint: target.endpoint,
            method: payload.method ?? null,
            path: payload.path ?? {},
            query: payload.query ?? {},
            max_cost,
            max_total
          }
        }
      : {
          _tag: "Capability",
          request: {
            ...common,
            capability: target.capability,
            routing: {
              provider: payload.routing?.provider ?? "auto",
              strategy: payload.routing?.strategy ?? "best_value",
              max_cost,
              max_total,
              allow_fallback: payload.routing?.allow_fallback ?? true
            },
            include_raw: payload.response?.include_raw ?? false,
            accept: payload.accept ?? null,
            unless_contacted_within_seconds: payload.unless_contacted_within_seconds ?? null
          }
        }
  return planned
})

/** Decodes the request of a submission. What is left of its waiting time begins now. */
export const plannedOf = Effect.fnUntraced(function* ({
  caller,
  request_id,
  arrived,
  idempotencyKey,
  waits,
  payload,
  trace,
  text
}: RunSubmission) {
  const idempotency_key = yield* idempotencyKeyOf(idempotencyKey)
  const elapsed = (yield* Clock.currentTimeMillis) - arrived
  const runCaller = {
    org_id: caller.org_id,
    key_id: caller.key_id,
    user_id: personOf(caller),
    access: caller.access,
    request_id,
    idempotency_key,
    fingerprint: fingerprintOf(payload),
    wait_millis: Math.max(0, waits.seconds * 1000 - elapsed),
    metadata: payload.metadata ?? null,
    trace
  }
  return yield* requestOf(payload, runCaller, text)
})

/** The answer to `POST /v1/run`. `now` in milliseconds since 1970. */
export const showSubmitted = ({ run, replayed }: Submitted, now: number, extras: Extras) =>
  show(run, now, httpStatusOf(run), extras, replayed ? { "idempotent-replay": "true" } : {})

/** The answer to `GET /v1/runs/{id}`. */
export const showRead = ({ run }: Pick<Submitted, "run">, now: number, extras: Extras) =>
  show(run, now, 200, extras, isFinalRow(run) ? {} : { "retry-after": "1" })

export const submitRun = (admission: Admission["Service"]) =>
  Effect.fnUntraced(function* (submission: RunSubmission) {
    const submitted = yield* admission.submit(yield* plannedOf(submission))
    const extras = extrasOf(submission.caller, submission.waits.applied)
    return showSubmitted(submitted, yield* Clock.currentTimeMillis, extras)
  })
