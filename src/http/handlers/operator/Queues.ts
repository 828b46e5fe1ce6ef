/** Queues and lanes as the operator sees them, and the retry of a dead-lettered command. */
import { Effect, Schema } from "effect"
import { Lanes } from "../../../actors/mailbox/Lanes.ts"
import { makeDeadLetters } from "../../../layers/operator/DeadLetters.ts"
import { Queues } from "../../../layers/queues/Queues.ts"
import { problem } from "../../../schema/Errors.ts"
import { DeadLetter, OperatorQueues } from "../../../schema/nouns/operator/Queues.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { cut, numberBefore, rowNumber } from "../ListPage.ts"

const noCommand = problem(
  "not_found",
  "No dead-lettered command has this id. It may have been retried already. List them at GET /v1/operator/dead-letters."
)

const letterJson = Schema.encodeSync(DeadLetter)
const queuesJson = Schema.encodeSync(OperatorQueues)

export const OperatorQueuesHandlers = group(
  "operatorQueues",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const lanes = yield* Lanes
    const letters = yield* makeDeadLetters
    const queues = yield* Queues

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const rows = yield* letters.lanes
        return queuesJson({
          backend: queues.backend,
          wake_ups: yield* queues.depth,
          lanes: rows,
          runs: yield* letters.runs,
          dead_letters: rows.reduce((sum, one) => sum + one.dead_letters, 0n)
        })
      }),

      deadLetters: Effect.fnUntraced(function* ({ query: { cursor = null, limit = listLimitDefault } }) {
        const before = yield* numberBefore(cursor)
        const page = cut(yield* letters.list(before, limit + 1), limit, ({ id }) => String(id))
        return { items: page.rows.map((row) => letterJson({ ...row, command: row.tag })), next_cursor: page.next }
      }),

      retry: Effect.fnUntraced(function* ({ params: { command_id } }) {
        const id = rowNumber(command_id)
        const retried = id === null ? null : yield* asOperator(letters.retry(id))
        if (retried === null) return yield* Effect.fail(noCommand)
        yield* lanes.wake(retried.lane)
        return { id: command_id, org_id: retried.org_id, command: retried.tag, lane: retried.lane }
      })
    })
  })
)
