/**
 * Formats runs for the tools, and implements get_run and cancel_run.
 *
 * Starting a run is separate: http/cli/mcp/run.ts uses a journal, statelessRun.ts only the Idempotency-Key of the API.
 */
import { Effect, Fiber, Ref } from "effect"
import { segmentOf } from "../../schema/Ids.ts"
import { bodyOf, memberText } from "../../schema/json/JsonText.ts"
import * as Money from "../../schema/money/Money.ts"
import { isFinal } from "../../schema/runs/Run.ts"
import { runIn } from "../api/shapes/KnownRun.ts"
import { advice, answered, refusal, refusalIn, replied, type Unsettled, withMembers } from "./Answers.ts"
import { Progress } from "./Register.ts"
import { type Answer, send, Service } from "./Service.ts"
import type { Answered } from "./Tool.ts"
import { type QuoteArguments, resultCharsMax, type RunArguments, waitSecondsDefault } from "./Tools.ts"

/** The progress interval, shorter than the idle timeout of hosts. */
const tellSeconds = 2

type Called = QuoteArguments & Partial<Pick<RunArguments, "include_raw" | "metadata">>

/** The body of POST /v1/run and POST /v1/quote as JSON text. */
export const runBody = ({ input, path, query, routing = {}, include_raw, metadata, ...target }: Called): string => {
  const { capability, provider, endpoint, method, max_cost, max_total, unless_contacted_within_seconds } = target
  const { accept, reuse } = target
  const caps = {
    max_cost: max_cost === undefined ? undefined : Money.usd(max_cost),
    max_total: max_total === undefined ? undefined : Money.usd(max_total)
  }
  return bodyOf(
    {
      ...{ capability, provider, endpoint, method, path, query },
      routing: { ...routing, ...caps },
      ...{ metadata, unless_contacted_within_seconds, accept, reuse },
      response: include_raw === undefined ? undefined : { include_raw }
    },
    { input: JSON.stringify(input) }
  )
}

/** The name of a run, for display. */
export const titleOf = ({ capability, provider = "", endpoint = "" }: RunArguments): string =>
  capability ?? `${provider} ${endpoint}`.trim()

/** The wallet as JSON text; null when it can't be read. */
const walletText = Effect.gen(function* () {
  const answer = yield* Effect.option(send("GET", "/v1/wallet"))
  return answer._tag === "Some" && answer.value.status === 200 ? answer.value.text : "null"
})

/** The JSON text of a run. A long result is replaced by the part that begins at `from`. */
const inPieces = (text: string, run_id: string, from: number | null) => {
  const result = memberText(text, "result")
  if (result === null || (from === null && result.length <= resultCharsMax)) return { text, next: undefined }
  const start = from ?? 0
  const most = start + resultCharsMax
  // Half of an emoji is no JSON for many hosts, so it begins the next part.
  const end = (result.codePointAt(most - 1) ?? 0) > 0xffff ? most - 1 : most
  const next_from = end < result.length ? end : null
  const { result: _, ...run }: Record<string, unknown> = JSON.parse(text)
  const part = { text: result.slice(start, end).toWellFormed(), from: start, next_from, chars: result.length }
  return {
    text: withMembers(JSON.stringify(run), { result_part: JSON.stringify(part) }),
    next:
      next_from === null
        ? undefined
        : `The result is long. Read the next part with get_run ${JSON.stringify({ run_id, result_from: next_from })}.`
  }
}

/** The answer of a tool for a run, with the wallet and the next step. */
const shown = Effect.fnUntraced(function* (
  name: string,
  text: string,
  { from = null, idempotency_key }: { readonly from?: number | null; readonly idempotency_key?: string }
) {
  const run = runIn(text)
  if (run === null) {
    const message = "The response of the service is not a run. Check that both have the same version."
    return yield* refusal(name, { code: "unexpected_answer", message })
  }
  const pieces = inPieces(text, run.run_id, from)
  const waiting = JSON.stringify({ run_id: run.run_id, wait_seconds: waitSecondsDefault })
  const next = isFinal(run.status)
    ? (pieces.next ?? (yield* advice(run.error?.code ?? "", name))[0])
    : run.approval === undefined
      ? `The run is ${run.status}. Wait for it with get_run ${waiting}.`
      : `Tell your person: ${run.approval.tell} Do not start it again. When they have answered, read it with get_run ${waiting}.`
  return answered(
    name,
    withMembers(pieces.text, {
      idempotency_key: idempotency_key === undefined ? undefined : JSON.stringify(idempotency_key),
      wallet: yield* walletText,
      next: next === undefined ? undefined : JSON.stringify(next)
    })
  )
})

/** The final answer of `run`. `unsettled` is added to an error that contains no run. */
export const ranAs = Effect.fnUntraced(function* (answer: Answer, idempotency_key: string, unsettled: Unsettled = {}) {
  const run = runIn(answer.text)
  if (run === null) return (yield* refusalIn("run", answer, unsettled)) ?? answered("run", answer.text)
  const one = yield* shown("run", answer.text, { idempotency_key })
  const ended: Answered = { ...one, failed: one.failed || (isFinal(run.status) && run.status !== "succeeded") }
  return ended
})

/** Reports progress periodically while `work` executes. */
export const telling = Effect.fnUntraced(function* <A, E, R>(
  title: string,
  work: (named: (run_id: string) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) {
  const tell = yield* Progress
  const status = yield* Ref.make("waiting for the service")
  const say = Effect.flatMap(Ref.get(status), (what) => tell(`${title}: ${what}`))
  const ticker = yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sleep(`${tellSeconds} seconds`), say)))
  const named = (run_id: string) => Effect.andThen(Ref.set(status, `${run_id} is executing`), say)
  return yield* Effect.ensuring(work(named), Fiber.interrupt(ticker))
})

export const getRunTool = Effect.fnUntraced(function* (given: {
  readonly run_id: string
  readonly wait_seconds?: number
  readonly result_from?: number
}) {
  const { waitFor } = yield* Service
  const { run_id, wait_seconds = 0, result_from = null } = given
  const reading = telling("get_run", (named) =>
    Effect.andThen(wait_seconds > 0 ? named(run_id) : Effect.void, waitFor(run_id, wait_seconds))
  )
  return yield* replied("get_run", reading, (text) => shown("get_run", text, { from: result_from }))
})

export const cancelRunTool = Effect.fnUntraced(function* ({ run_id }: { readonly run_id: string }) {
  const { onCancelled } = yield* Service
  return yield* replied("cancel_run", send("POST", `/v1/runs/${segmentOf(run_id)}/cancel`), (text) =>
    Effect.andThen(onCancelled(run_id), shown("cancel_run", text, {}))
  )
})
