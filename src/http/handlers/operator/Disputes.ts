/** Disputes of the outcome warranty, and the decisions of operators. A decision stores a command; the wallet's turn books it. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Lanes } from "../../../actors/mailbox/Lanes.ts"
import { makeAcceptDispute } from "../../../actors/warranty/acceptDispute.ts"
import { type DisputeRow, Disputes } from "../../../layers/warranty/Disputes.ts"
import { problem } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { disputeJson } from "../../../schema/nouns/Dispute.ts"
import { listDisputes } from "../../../schema/Steps.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"
import { listLimitDefault } from "../../api/shapes/Common.ts"
import { cursorOf, makeOrganizationOf, pageOf } from "./Lists.ts"

const field = (path: string, message: string) => problem("invalid_request", `${path} ${message}`, [{ path, message }])
const noDispute = problem(
  "not_found",
  withCommands`There is no dispute of a run with this id. List all disputes with ${listDisputes}.`
)
const notCovered = (why: string) =>
  problem(
    "invalid_request",
    `The warranty does not cover this run: ${why}. You can refund its organization all the same.`,
    [{ path: "path.run_id", message: `has no warranty: ${why}` }]
  )
const off = problem("invalid_request", "The outcome warranty is off. Set RUNGATE_WARRANTY_SHARE to refund disputes.")
const limited = problem(
  "invalid_request",
  "The refunds of 30 days would pass RUNGATE_WARRANTY_SHARE of these days' revenue. Nothing was changed. Raise it, or try again later."
)

const view = (row: DisputeRow) => ({ org_id: row.org_id, ...disputeJson(row) })

export const OperatorDisputesHandlers = HttpApiBuilder.group(
  Api,
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
      list: Effect.fnUntraced(function* ({ query: { cursor, org_id, decided, limit = listLimitDefault } }) {
        const filter = {
          org_id: yield* inQuery(org_id),
          all: decided === "true",
          after: yield* cursorOf("run", cursor)
        }
        const rows = yield* disputes.list(filter, limit + 1)
        return pageOf(rows, limit, (row) => row.run_id, view)
      }),

      accept: Effect.fnUntraced(function* ({ params: { run_id }, payload: { note } }) {
        yield* disputeOf(run_id)
        const decided = yield* asOperator(acceptDispute(run_id, note.trim()))
        if (decided._tag === "Off") return yield* Effect.fail(off)
        if (decided._tag === "Limited") return yield* Effect.fail(limited)
        if (decided._tag === "Unknown") return yield* Effect.fail(noDispute)
        if (decided._tag === "NotCovered") return yield* Effect.fail(notCovered(decided.why))
        if (decided._tag === "Refunded") yield* lanes.wake(decided.lane)
        return view(yield* disputeOf(run_id))
      }),

      refuse: Effect.fnUntraced(function* ({ params: { run_id }, payload: { note } }) {
        yield* disputeOf(run_id)
        yield* asOperator(disputes.refuse(run_id, note.trim()))
        const row = yield* disputeOf(run_id)
        if (row.state === "refunded")
          return yield* Effect.fail(field("path.run_id", "was already refunded; nothing was changed"))
        return view(row)
      })
    })
  })
)
