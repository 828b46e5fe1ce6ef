/** Runs: a handler decodes the request, asks an actor and shows the run. It never holds or settles money. */
import { Clock, Effect } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Admission, isFinalRow } from "../../actors/runs/Admission.ts"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import type { RunRow } from "../../layers/runs/RunStore.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import type { RunRequest } from "../api/Runs.ts"
import { fingerprintOf } from "../middleware/Fingerprint.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { requireVerified } from "../middleware/Verified.ts"
import { memberText } from "../../schema/json/JsonText.ts"
import { httpStatusOf, pollUrl, runJson } from "../views/RunView.ts"

const waitSecondsDefault = 30
const idempotencyKeyMax = 255

const unknownRun = (run_id: string) =>
  problem("invalid_request", `There is no run "${run_id}".`, [
    { path: "path.run_id", message: "is not a run of this organization" }
  ])

/** Accepts the bare key and the quoted form of the IETF draft. */
const idempotencyKeyOf = (header: string | undefined) => {
  if (header === undefined) return Effect.succeed(null)
  const quoted = /^"(.*)"$/.exec(header.trim())?.[1]
  const key = quoted ?? header.trim()
  if (key.length >= 1 && key.length <= idempotencyKeyMax && /^[\x21-\x7e]+$/.test(key)) return Effect.succeed(key)
  const message = `must be 1 to ${idempotencyKeyMax} visible ASCII characters`
  return Effect.fail(
    problem("invalid_request", `Idempotency-Key ${message}`, [{ path: "headers.idempotency-key", message }])
  )
}

const refused = (path: string, message: string) =>
  Effect.fail(problem("invalid_request", `${path} ${message}`, [{ path, message }]))

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
  if (provider === undefined || provider === null) return refused("provider", "is required with endpoint")
  if (endpoint === undefined || endpoint === null) return refused("endpoint", "is required with provider")
  const pinned = payload.routing?.provider ?? "auto"
  if (pinned !== "auto" && pinned !== provider)
    return refused("routing.provider", `can't differ from provider, which is ${provider}: a raw endpoint has no other`)
  return Effect.succeed({ _tag: "Endpoint" as const, provider, endpoint })
}

/** The input as the client wrote it. The middleware has received the body already, so this does not wait. */
const writtenInput = (request: HttpServerRequest.HttpServerRequest, input: unknown) =>
  request.text.pipe(
    Effect.map((text) => memberText(text, "input") ?? JSON.stringify(input)),
    Effect.orDie
  )

const show = (run: RunRow, now: number, status: number, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(runJson(run, now, true), {
    status,
    contentType: "application/json",
    headers: {
      "run-id": run.run_id,
      ...(status === 202 ? { location: pollUrl(run.run_id), "retry-after": "1" } : {}),
      ...headers
    }
  })

/** Enough time for some of the organization's open runs to end. */
const retryAfterSeconds = "2"
const retryAfter = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", retryAfterSeconds))
)

export const RunsHandlers = HttpApiBuilder.group(
  Api,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const admission = yield* Admission
    const commands = yield* CommandClient
    const store = yield* RunStore
    const settings = yield* Settings

    const runOf = Effect.fnUntraced(function* (org_id: string, run_id: string, millis: number) {
      const run = looksLike("run", run_id) ? yield* admission.watch(org_id, run_id, millis) : null
      return run ?? (yield* Effect.fail(unknownRun(run_id)))
    })

    return handlers.handleAll({
      run: Effect.fnUntraced(function* ({ headers, payload, request }) {
        const caller = yield* requireVerified(settings)
        const { request_id, arrived } = yield* RequestContext
        const target = yield* targetOf(payload)
        const idempotency_key = yield* idempotencyKeyOf(headers["idempotency-key"])
        const seconds = payload.async === true ? 0 : (payload.wait_seconds ?? waitSecondsDefault)
        const elapsed = (yield* Clock.currentTimeMillis) - arrived
        const common = {
          org_id: caller.org_id,
          key_id: caller.key_id,
          request_id,
          idempotency_key,
          fingerprint: idempotency_key === null ? "" : fingerprintOf(payload),
          input: payload.input,
          wait_millis: Math.max(0, seconds * 1000 - elapsed)
        }
        const max_cost = payload.routing?.max_cost ?? null
        const submitted =
          target._tag === "Endpoint"
            ? admission.submitRaw({
                ...common,
                input_text: yield* writtenInput(request, payload.input),
                provider: target.provider,
                endpoint: target.endpoint,
                method: payload.method ?? null,
                path: payload.path ?? {},
                query: payload.query ?? {},
                max_cost
              })
            : admission.submit({
                ...common,
                capability: target.capability,
                routing: {
                  provider: payload.routing?.provider ?? "auto",
                  strategy: payload.routing?.strategy ?? "best_value",
                  max_cost,
                  allow_fallback: payload.routing?.allow_fallback ?? true
                },
                include_raw: payload.response?.include_raw ?? false
              })
        const { run, replayed } = yield* Effect.tapError(submitted, (refused) =>
          refused.error.code === "rate_limited" ? retryAfter : Effect.void
        )
        const now = yield* Clock.currentTimeMillis
        return show(run, now, httpStatusOf(run), replayed ? { "idempotent-replay": "true" } : {})
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        const before = query.cursor ?? null
        if (before !== null && !looksLike("run", before)) {
          return yield* Effect.fail(
            problem("invalid_request", "query.cursor is not a cursor of this list", [
              { path: "query.cursor", message: "is not a cursor of this list" }
            ])
          )
        }
        const { status = null, capability = null, provider = null, endpoint = null } = query
        const rows = yield* store.list({ org_id, status, capability, provider, endpoint, before, limit: limit + 1 })
        const now = yield* Clock.currentTimeMillis
        const page = rows.slice(0, limit)
        const next = rows.length > limit ? (page.at(-1)?.run_id ?? null) : null
        const items = page.map((run) => runJson(run, now, false)).join(",")
        return HttpServerResponse.text(`{"items":[${items}],"next_cursor":${JSON.stringify(next)}}`, {
          contentType: "application/json"
        })
      }),

      get: Effect.fnUntraced(function* ({ params, query }) {
        const { org_id } = yield* CurrentCaller
        const run = yield* runOf(org_id, params.run_id, (query.wait ?? 0) * 1000)
        return show(run, yield* Clock.currentTimeMillis, 200, isFinalRow(run) ? {} : { "retry-after": "1" })
      }),

      cancel: Effect.fnUntraced(function* ({ params }) {
        const { org_id } = yield* CurrentCaller
        const { run_id } = params
        const before = yield* runOf(org_id, run_id, 0)
        const reply = yield* commands.ask({ org_id, run_id, tag: "Cancel", payload: "{}" }).pipe(Effect.option)
        const run = yield* runOf(org_id, run_id, 0)
        if (reply._tag === "Some" && reply.value.verdict === "Cancelled") {
          return show(run, yield* Clock.currentTimeMillis, 200)
        }
        const status = reply._tag === "Some" ? (reply.value.status ?? run.status) : before.status
        return yield* Effect.fail(
          problem("invalid_request", `This run is ${status}; only a run that has not started can be cancelled.`, [
            { path: "path.run_id", message: `the run is ${status}` }
          ])
        )
      })
    })
  })
)
