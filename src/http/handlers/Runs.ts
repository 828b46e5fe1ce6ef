/** Runs: a handler decodes the request, asks an actor and shows the run. It never holds or settles money. */
import { Clock, Effect, Schema } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { Receipts } from "../../actors/receipts/Receipts.ts"
import { Admission } from "../../actors/runs/Admission.ts"
import { Warranties } from "../../actors/warranty/Warranties.ts"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { FactsOfRequests } from "../../layers/observability/RequestFacts.ts"
import { refused, unknownRun } from "../../schema/Errors.ts"
import { RunWarranty } from "../../schema/nouns/Dispute.ts"
import { bodyOf } from "../../schema/json/JsonText.ts"
import { makeSeesRun } from "../access/SeenRuns.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { listRuns } from "./RunList.ts"
import { waitsFor } from "../standards/Prefer.ts"
import { retryAfterSeconds, show, showRead, submitRun, extrasOf, waitsOf } from "../submission/SubmitRun.ts"

const retryAfter = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", retryAfterSeconds))
)

export const RunsHandlers = group(
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const admission = yield* Admission
    const commands = yield* CommandClient
    const reads = yield* Reads
    const receipts = yield* Receipts
    const warranties = yield* Warranties
    const facts = yield* FactsOfRequests
    const submit = submitRun(admission)
    const list = listRuns(reads)
    const seesRun = yield* makeSeesRun

    const runOf = Effect.fnUntraced(function* (org_id: string, run_id: string, millis: number) {
      const run = (yield* seesRun(run_id)) ? yield* admission.watch(org_id, run_id, millis) : null
      return run ?? (yield* Effect.fail(unknownRun(run_id)))
    })

    return handlers.handleAll({
      run: Effect.fnUntraced(function* ({ headers, payload, request }) {
        const caller = yield* CurrentCaller
        const { request_id, arrived } = yield* RequestContext
        // The middleware has received the body already, so reading it does not wait.
        const text = Effect.orDie(request.text)
        const idempotencyKey = headers["idempotency-key"]
        const waits = waitsOf(payload, headers.prefer)
        const trace = request.source instanceof Request ? (facts.get(request.source)?.trace ?? null) : null
        return yield* Effect.tapError(
          submit({ caller, request_id, arrived, idempotencyKey, waits, payload, trace, text }),
          (refused) => (refused.error.code === "rate_limited" ? retryAfter : Effect.void)
        )
      }),

      list: ({ query }) => list(query),

      get: Effect.fnUntraced(function* ({ params, query, request }) {
        const caller = yield* CurrentCaller
        const { seconds, applied } = waitsFor(request.headers["prefer"], query.wait ?? null, 0)
        const run = yield* runOf(caller.org_id, params.run_id, seconds * 1000)
        return showRead({ run }, yield* Clock.currentTimeMillis, extrasOf(caller, applied))
      }),

      details: Effect.fnUntraced(function* ({ params: { run_id } }) {
        const { org_id, access } = yield* CurrentCaller
        const details = (yield* seesRun(run_id)) ? yield* receipts.details(org_id, run_id) : null
        if (details === null) return yield* Effect.fail(unknownRun(run_id))
        const { request, ...all } = details
        // Entries say what the organization's wallet had.
        const facts = (access?.reads ?? null) === null ? all : { ...all, ledger: [] }
        const standing = yield* warranties.standing(org_id, run_id)
        const warranty = standing === null ? null : Schema.encodeSync(RunWarranty)(standing)
        return HttpServerResponse.text(bodyOf({ ...facts, warranty }, { request: request ?? "null" }), {
          contentType: "application/json"
        })
      }),

      cancel: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentCaller
        const { org_id } = caller
        const { run_id } = params
        const before = yield* runOf(org_id, run_id, 0)
        const reply = yield* commands.ask({ org_id, run_id, tag: "Cancel", payload: "{}" }).pipe(Effect.option)
        const run = yield* runOf(org_id, run_id, 0)
        if (reply._tag === "Some" && reply.value.verdict === "Cancelled") {
          return show(run, yield* Clock.currentTimeMillis, 200, extrasOf(caller))
        }
        const status = reply._tag === "Some" ? (reply.value.status ?? run.status) : before.status
        const sentence = `This run is ${status}; only a run that has not started can be cancelled.`
        return yield* refused("path.run_id", `the run is ${status}`, sentence)
      })
    })
  })
)
