/**
 * The tool `run` of `rungate mcp`. It records the run in the journal, sends it once and waits for a limited time.
 *
 * When the host cancels or loses a call, the run continues and its journal entry stays. The same call joins it until its
 * result was returned, and so does `rungate runs resume`. A new idempotency_key starts another run of the same request.
 */
import { Effect, type Semaphore } from "effect"
import { refusal, unanswered } from "../../mcp/Answers.ts"
import { ranAs, runBody, telling, titleOf } from "../../mcp/Runs.ts"
import { type RunArguments, waitSecondsDefault } from "../../mcp/Tools.ts"
import { Credentials } from "../state/Credentials.ts"
import { deliver } from "../runs/execution.ts"
import { type Entry, Journal } from "../state/Journal.ts"
import { noAnswer } from "./service.ts"

interface Order {
  readonly entry: Entry
  /** An earlier call sent it. */
  readonly before: boolean
}

/**
 * The unfinished run of the same call, or a new journal entry; null when the key belongs to another request.
 * Calls are serialized, or two simultaneous calls would both create a run.
 */
const orderOf = Effect.fnUntraced(function* (title: string, body: string, idempotency_key: string | undefined) {
  const journal = yield* Journal
  const left = yield* idempotency_key === undefined ? journal.left(body) : journal.find(idempotency_key)
  if (left !== null && left.body !== body) return null
  const order: Order =
    left === null
      ? { entry: yield* journal.open({ title, typed: body, body, idempotency_key }), before: false }
      : { entry: yield* journal.adopt(left), before: true }
  return order
})

export const runTool = Effect.fnUntraced(function* (given: RunArguments, oneByOne: Semaphore.Semaphore) {
  const credentials = yield* Credentials
  const journal = yield* Journal
  const { wait_seconds = waitSecondsDefault } = given
  if (credentials.key === null) return yield* refusal("run", { code: "unauthorized", message: credentials.missing })
  const title = titleOf(given)
  const ordered = yield* Effect.result(oneByOne.withPermits(1)(orderOf(title, runBody(given), given.idempotency_key)))
  if (ordered._tag === "Failure") {
    return yield* refusal("run", { code: "journal_unwritable", message: ordered.failure.message })
  }
  const order = ordered.success
  if (order === null) {
    return yield* refusal("run", {
      code: "idempotency_key_reused",
      message: `idempotency_key: ${given.idempotency_key} belongs to another request that has not finished.`
    })
  }
  const { idempotency_key } = order.entry
  // This call stops waiting, so other processes may join the run.
  const letGo = journal.letGo(idempotency_key)
  return yield* telling(title, (onNamed) =>
    deliver(order.entry, order.before, { seconds: wait_seconds, async: false, onNamed })
  ).pipe(
    Effect.flatMap((answer) => ranAs(answer, idempotency_key)),
    Effect.catch((error) => unanswered("run", noAnswer(error), { idempotency_key })),
    Effect.ensuring(letGo)
  )
})
