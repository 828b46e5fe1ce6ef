/**
 * The tool `run`: written down before it is sent, waited for within a bound, and never sent twice for the same wish.
 *
 * A call that a host cancels, gives up on or loses leaves the run and its entry in the journal. The same call joins it until somebody
 * has seen its end, as does `rungate runs resume`; only a key of the caller's own makes another run of the same.
 */
import { Effect, Fiber, Ref, type Semaphore } from "effect"
import * as Money from "../../schema/Money.ts"
import { isFinal } from "../../schema/Run.ts"
import { memberText } from "../../schema/JsonText.ts"
import { Client } from "../client/Client.ts"
import { Progress } from "../mcp/Register.ts"
import type { Answered } from "../mcp/Tool.ts"
import { resultCharsMax, type RunArguments, waitSecondsDefault } from "../mcp/Tools.ts"
import { Credentials } from "./Credentials.ts"
import { deliver, runIn, waitFor } from "./execution.ts"
import { type Entry, Journal } from "./Journal.ts"
import { advice, answered, refusal, refusalIn, unanswered, withMembers } from "./mcpAnswers.ts"
import { bodyOf } from "./spending.ts"

/** Often enough that a host which counts from the last sign of life never gives up. */
const tellSeconds = 2

const bodyIn = ({ input, path, query, max_cost, routing = {}, include_raw, ...target }: RunArguments): string => {
  const { capability, provider, endpoint, method } = target
  return bodyOf(
    Object.fromEntries(
      Object.entries({
        capability,
        provider,
        endpoint,
        method,
        path,
        query,
        routing: { ...routing, max_cost: Money.usd(max_cost) },
        response: include_raw === undefined ? undefined : { include_raw }
      }).filter(([, value]) => value !== undefined)
    ),
    { input: JSON.stringify(input) }
  )
}

/** What is left to spend, as JSON text; null when nobody can say. */
const walletText = Effect.gen(function* () {
  const { send } = yield* Client
  const answer = yield* Effect.option(send("GET", "/v1/wallet"))
  return answer._tag === "Some" && answer.value.status === 200 ? answer.value.text : "null"
})

/** A run's text with a long result cut down to the piece that begins at `from`. */
const inPieces = (text: string, run_id: string, from: number | null) => {
  const result = memberText(text, "result")
  if (result === null || (from === null && result.length <= resultCharsMax)) return { text, next: undefined }
  const start = from ?? 0
  const end = start + resultCharsMax
  const next_from = end < result.length ? end : null
  const { result: _, ...run }: Record<string, unknown> = JSON.parse(text)
  const part = { text: result.slice(start, end), from: start, next_from, chars: result.length }
  return {
    text: withMembers(JSON.stringify(run), { result_part: JSON.stringify(part) }),
    next:
      next_from === null
        ? undefined
        : `The result is long: read on with get_run ${JSON.stringify({ run_id, result_from: next_from })}.`
  }
}

/** A run as a tool answers it: with what is left in the wallet, and how to go on. */
const shown = Effect.fnUntraced(function* (
  name: string,
  text: string,
  { from = null, idempotency_key }: { readonly from?: number | null; readonly idempotency_key?: string }
) {
  const run = runIn(text)
  if (run === null) {
    return refusal(name, { code: "unexpected_answer", message: "The service answered no run; is it as new as this?" })
  }
  const pieces = inPieces(text, run.run_id, from)
  const waiting = JSON.stringify({ run_id: run.run_id, wait_seconds: waitSecondsDefault })
  const next = isFinal(run.status)
    ? (pieces.next ?? advice(run.error?.code ?? "", name)[0])
    : `The run is ${run.status}: wait for it with get_run ${waiting}.`
  return answered(
    name,
    withMembers(pieces.text, {
      idempotency_key: idempotency_key === undefined ? undefined : JSON.stringify(idempotency_key),
      wallet: yield* walletText,
      next: next === undefined ? undefined : JSON.stringify(next)
    })
  )
})

/** Says every now and then that the call is alive. */
const telling = Effect.fnUntraced(function* <A, E, R>(
  title: string,
  work: (named: (run_id: string) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) {
  const tell = yield* Progress
  const known = yield* Ref.make("waiting for the service")
  const say = Effect.flatMap(Ref.get(known), (what) => tell(`${title}: ${what}`))
  const ticker = yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sleep(`${tellSeconds} seconds`), say)))
  const named = (run_id: string) => Effect.andThen(Ref.set(known, `${run_id} is under way`), say)
  return yield* Effect.ensuring(work(named), Fiber.interrupt(ticker))
})

interface Order {
  readonly entry: Entry
  /** It was sent by an earlier call. */
  readonly before: boolean
}

/**
 * The run that this call means: one whose end nobody has seen, or a new one that is written down now; null where the key is another's.
 * One call after the other, or two at the same time would both find none.
 */
const orderOf = Effect.fnUntraced(function* (title: string, body: string, idempotency_key: string | undefined) {
  const journal = yield* Journal
  const left = yield* idempotency_key === undefined ? journal.left(body) : journal.find(idempotency_key)
  if (left !== null && left.body !== body) return null
  const order: Order =
    left === null
      ? { entry: yield* journal.open({ title, asked: body, body, idempotency_key }), before: false }
      : { entry: yield* journal.adopt(left), before: true }
  return order
})

export const runTool = Effect.fnUntraced(function* (given: RunArguments, oneByOne: Semaphore.Semaphore) {
  const credentials = yield* Credentials
  const journal = yield* Journal
  const { capability, provider = "", endpoint = "", wait_seconds = waitSecondsDefault } = given
  if (credentials.key === null) return refusal("run", { code: "unauthorized", message: credentials.missing })
  const title = capability ?? `${provider} ${endpoint}`.trim()
  const ordered = yield* Effect.result(oneByOne.withPermits(1)(orderOf(title, bodyIn(given), given.idempotency_key)))
  if (ordered._tag === "Failure") {
    return refusal("run", { code: "journal_unwritable", message: ordered.failure.message })
  }
  const order = ordered.success
  if (order === null) {
    return refusal("run", {
      code: "idempotency_key_reused",
      message: `idempotency_key: ${given.idempotency_key} was sent with another request, whose end nobody has seen.`
    })
  }
  const { idempotency_key } = order.entry
  // Whoever waited is gone or was told how to go on: now other processes may wait for it too.
  const letGo = journal.letGo(idempotency_key)
  return yield* telling(title, (onNamed) =>
    deliver(order.entry, order.before, { seconds: wait_seconds, async: false, onNamed })
  ).pipe(
    Effect.flatMap((answer) => {
      const run = runIn(answer.text)
      if (run === null) return Effect.succeed(refusalIn("run", answer, credentials) ?? answered("run", answer.text))
      return Effect.map(
        shown("run", answer.text, { idempotency_key }),
        (one): Answered => ({
          ...one,
          failed: one.failed || (isFinal(run.status) && run.status !== "succeeded")
        })
      )
    }),
    Effect.catch((error) => Effect.succeed(unanswered("run", error, idempotency_key))),
    Effect.ensuring(letGo)
  )
})

export const getRunTool = Effect.fnUntraced(function* (given: {
  readonly run_id: string
  readonly wait_seconds?: number
  readonly result_from?: number
}) {
  const credentials = yield* Credentials
  const { run_id, wait_seconds = 0, result_from = null } = given
  return yield* telling("get_run", (named) =>
    Effect.andThen(wait_seconds > 0 ? named(run_id) : Effect.void, waitFor(run_id, wait_seconds))
  ).pipe(
    Effect.flatMap((answer) => {
      const refused = refusalIn("get_run", answer, credentials)
      return refused === null ? shown("get_run", answer.text, { from: result_from }) : Effect.succeed(refused)
    }),
    Effect.catch((error) => Effect.succeed(unanswered("get_run", error)))
  )
})

export const cancelRunTool = Effect.fnUntraced(function* ({ run_id }: { readonly run_id: string }) {
  const credentials = yield* Credentials
  const journal = yield* Journal
  const { send } = yield* Client
  return yield* send("POST", `/v1/runs/${encodeURIComponent(run_id)}/cancel`).pipe(
    Effect.flatMap((answer) => {
      const refused = refusalIn("cancel_run", answer, credentials)
      if (refused !== null) return Effect.succeed(refused)
      return Effect.andThen(journal.closeRun(run_id), shown("cancel_run", answer.text, {}))
    }),
    Effect.catch((error) => Effect.succeed(unanswered("cancel_run", error)))
  )
})
