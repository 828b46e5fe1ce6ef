/**
 * The tool `run` where nobody but the API remembers what was sent.
 *
 * Every run is sent with an idempotency key, the caller's or one that is made here, and the answer has it: the same call with that key
 * joins the run, as the API does it. A call that is cancelled or lost leaves its run.
 */
import { Clock, Effect } from "effect"
import { isFinal } from "../../schema/runs/Run.ts"
import { runIn } from "../api/shapes/KnownRun.ts"
import { unanswered, withMembers } from "./Answers.ts"
import { ranAs, runBody, telling, titleOf } from "./Runs.ts"
import { Service } from "./Service.ts"
import { type RunArguments, waitSecondsDefault } from "./Tools.ts"

/** How long the first answer may take to say how a run ends; the id comes with it at the latest. */
const firstSeconds = 1

const unsettled =
  "Nobody knows whether the run was started. Call run again with the same arguments and this idempotency_key: it is one run then, paid once. list_runs shows it too."

export const statelessRunTool = Effect.fnUntraced(function* (given: RunArguments) {
  const { send, waitFor } = yield* Service
  const { wait_seconds = waitSecondsDefault, idempotency_key = `mcp_${crypto.randomUUID().replaceAll("-", "")}` } =
    given
  const first = Math.min(firstSeconds, wait_seconds)
  const began = yield* Clock.currentTimeMillis
  return yield* telling(
    titleOf(given),
    Effect.fnUntraced(function* (named) {
      const answer = yield* send("POST", "/v1/run", {
        text: withMembers(runBody(given), { wait_seconds: String(first) }),
        headers: { "idempotency-key": idempotency_key }
      })
      const run = runIn(answer.text)
      if (run === null || isFinal(run.status)) return answer
      yield* named(run.run_id)
      const left = Math.ceil(wait_seconds - ((yield* Clock.currentTimeMillis) - began) / 1000)
      if (left <= 0) return answer
      const last = yield* Effect.option(waitFor(run.run_id, left))
      // What can't be read is still under way, as the first answer said.
      return last._tag === "Some" && runIn(last.value.text) !== null ? last.value : answer
    })
  ).pipe(
    Effect.flatMap((answer) =>
      ranAs(answer, idempotency_key, answer.status >= 500 ? { idempotency_key, hint: unsettled } : {})
    ),
    Effect.catch((error) => unanswered("run", error, { idempotency_key, hint: unsettled }))
  )
})
