/** Disputes: a handler hands the evidence to the actor, or reads how the dispute stands. It moves no money. */
import { Effect } from "effect"
import { Warranties } from "../../actors/warranty/Warranties.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { Disputes } from "../../layers/warranty/Disputes.ts"
import { problem, unknownRun } from "../../schema/Errors.ts"
import { disputeJson } from "../../schema/nouns/Dispute.ts"
import { makeSeesRun } from "../access/SeenRuns.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

const undisputed = (run_id: string) =>
  problem("not_found", `Nobody has disputed the run "${run_id}".`, [
    { path: "path.run_id", message: "is not a disputed run" }
  ])

export const DisputesHandlers = group(
  "disputes",
  Effect.fnUntraced(function* (handlers) {
    const warranties = yield* Warranties
    const disputes = yield* Disputes
    const runs = yield* RunStore
    const seesRun = yield* makeSeesRun
    return handlers.handleAll({
      dispute: Effect.fnUntraced(function* ({ params: { run_id }, payload: { evidence } }) {
        const { org_id } = yield* CurrentCaller
        return disputeJson(yield* warranties.dispute(org_id, run_id, evidence))
      }),

      get: Effect.fnUntraced(function* ({ params: { run_id } }) {
        const { org_id } = yield* CurrentCaller
        if (!(yield* seesRun(run_id)) || (yield* runs.find(org_id, run_id)) === null)
          return yield* Effect.fail(unknownRun(run_id))
        const row = yield* disputes.find(run_id)
        if (row === null) return yield* Effect.fail(undisputed(run_id))
        return disputeJson(row)
      })
    })
  })
)
