/**
 * The tool `run` of `rungate mcp`: written down before it is sent, waited for within a bound, and never sent twice for the same wish.
 *
 * A call that a host cancels, gives up on or loses leaves the run and its entry in the journal. The same call joins it until somebody
 * has seen its end, as does `rungate runs resume`; only a key of the caller's own makes another run of the same.
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
      message: `idempotency_key: ${given.idempotency_key} was sent with another request, whose end nobody has seen.`
    })
  }
  const { idempotency_key } = order.entry
  // Whoever waited is gone or was told how to go on: now other processes may wait for it too.
  const letGo = journal.letGo(idempotency_key)
  return yield* telling(title, (onNamed) =>
    deliver(order.entry, order.before, { seconds: wait_seconds, async: false, onNamed })
  ).pipe(
    Effect.flatMap((answer) => ranAs(answer, idempotency_key)),
    Effect.catch((error) => unanswered("run", noAnswer(error), { idempotency_key })),
    Effect.ensuring(letGo)
  )
})
