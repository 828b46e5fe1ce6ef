/**
 * The tool `run` without a journal, for the MCP endpoint of the service.
 *
 * Every run has an idempotency key, from the caller or generated here, and the answer contains it. The same call with that key
 * joins the run. A lost call does not stop its run. A call that its host has called off cancels the run, if it has not started.
 */
import { Clock, Effect, Fiber } from "effect"
import { isFinal } from "../../schema/runs/Run.ts"
import { runIn } from "../api/shapes/KnownRun.ts"
import { unanswered, withMembers } from "./Answers.ts"
import { CurrentCall } from "./OpenCalls.ts"
import { ranAs, runBody, telling, titleOf } from "./Runs.ts"
import { Service } from "./Service.ts"
import { type RunArguments, waitSecondsDefault } from "./Tools.ts"

/** wait_seconds of the first request. Its response contains the run id. */
const firstSeconds = 1

const unsettled =
  "The run may have started. Call run again with the same arguments and this idempotency_key: it joins the run and is paid once. list_runs shows it too."

export const statelessRunTool = Effect.fnUntraced(function* (given: RunArguments) {
  const { send, waitFor } = yield* Service
  const { wait_seconds = waitSecondsDefault, idempotency_key = `mcp_${crypto.randomUUID().replaceAll("-", "")}` } =
    given
  const first = Math.min(firstSeconds, wait_seconds)
  const began = yield* Clock.currentTimeMillis
  const call = yield* CurrentCall
  // The request goes on when its call is called off: it takes a second at most, and its answer names the run to cancel.
  const asking = yield* Effect.forkDetach(
    send("POST", "/v1/run", {
      text: withMembers(runBody(given), { wait_seconds: String(first) }),
      headers: { "idempotency-key": idempotency_key }
    })
  )
  const cancelling = Effect.gen(function* () {
    const run = runIn((yield* Fiber.join(asking)).text)
    if (run !== null && !isFinal(run.status)) yield* send("POST", `/v1/runs/${run.run_id}/cancel`)
  })
  const interrupted = Effect.suspend(() =>
    call.calledOff ? Effect.asVoid(Effect.forkDetach(Effect.ignore(cancelling))) : Fiber.interrupt(asking)
  )
  return yield* telling(
    titleOf(given),
    Effect.fnUntraced(function* (named) {
      const answer = yield* Fiber.join(asking)
      const run = runIn(answer.text)
      if (run === null || isFinal(run.status)) return answer
      yield* named(run.run_id)
      const left = Math.ceil(wait_seconds - ((yield* Clock.currentTimeMillis) - began) / 1000)
      if (left <= 0) return answer
      const last = yield* Effect.option(waitFor(run.run_id, left))
      // When the second read fails, the first response still holds.
      return last._tag === "Some" && runIn(last.value.text) !== null ? last.value : answer
    })
  ).pipe(
    Effect.flatMap((answer) =>
      ranAs(answer, idempotency_key, answer.status >= 500 ? { idempotency_key, hint: unsettled } : {})
    ),
    Effect.catch((error) => unanswered("run", error, { idempotency_key, hint: unsettled })),
    Effect.onInterrupt(() => interrupted)
  )
})
