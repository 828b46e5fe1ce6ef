/** Disputes of the outcome warranty, and the decisions of operators. A decision stores a command; the wallet's turn books it. */
import { Effect, Schema } from "effect"
import { Lanes } from "../../../actors/mailbox/Lanes.ts"
import { makeAcceptDispute } from "../../../actors/warranty/acceptDispute.ts"
import { Disputes } from "../../../layers/warranty/Disputes.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { OperatorDispute } from "../../../schema/nouns/Dispute.ts"
import { listDisputes } from "../../../schema/Steps.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"

const noDispute = problem(
  "not_found",
  withCommands`There is no dispute of a run with this id. List all disputes with ${listDisputes}.`
)
const notCovered = (why: string) =>
  refused(
    "path.run_id",
    `has no warranty: ${why}`,
    `The warranty does not cover this run: ${why}. You can refund its organization all the same.`
  )
const off = problem("invalid_request", "The outcome warranty is off. Set RUNGATE_WARRANTY_SHARE to refund disputes.")
const limited = problem(
  "invalid_request",
  "The refunds of 30 days would pass RUNGATE_WARRANTY_SHARE of these days' revenue. Nothing was changed. Raise it, or try again later."
)

const view = Schema.encodeSync(OperatorDispute)

export const OperatorDisputesHandlers = group(
  "operatorDisputes",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const disputes = yield* Disputes
    const lanes = yield* Lanes
    const acceptDispute = yield* makeAcceptDispute

    const disputeOf = Effect.fnUntraced(function* (run_id: string) {
      const row = looksLike("run", run_id) ? yield* disputes.find(run_id) : null
      return row ?? (yield* Effect.fail(noDispute))
    })

    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const filter = { org_id: yield* inQuery(query.org_id), all: query.decided === "true" }
        const read = (after: string | null, limit: number) => disputes.list({ ...filter, after }, limit)
        return yield* pageBy("run", query, read, ({ run_id }) => run_id, view)
      }),

      accept: Effect.fnUntraced(function* ({ params: { run_id }, payload: { note } }) {
        yield* disputeOf(run_id)
        const decided = yield* asOperator(acceptDispute(run_id, note.trim()))
        if (decided._tag === "Off") return yield* Effect.fail(off)
        if (decided._tag === "Limited") return yield* Effect.fail(limited)
        if (decided._tag === "Unknown") return yield* Effect.fail(noDispute)
        if (decided._tag === "NotCovered") return yield* notCovered(decided.why)
        if (decided._tag === "Refunded") yield* lanes.wake(decided.lane)
        return view(yield* disputeOf(run_id))
      }),

      refuse: Effect.fnUntraced(function* ({ params: { run_id }, payload: { note } }) {
        yield* disputeOf(run_id)
        yield* asOperator(disputes.refuse(run_id, note.trim()))
        const row = yield* disputeOf(run_id)
        if (row.state === "refunded") yield* refused("path.run_id", "was already refunded; nothing was changed")
        return view(row)
      })
    })
  })
)
