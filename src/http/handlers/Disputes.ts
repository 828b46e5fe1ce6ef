/** Disputes: a handler hands the evidence to the actor, or reads how the dispute stands. It moves no money. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Warranties } from "../../actors/warranty/Warranties.ts"
import { Disputes } from "../../layers/warranty/Disputes.ts"
import { problem } from "../../schema/Errors.ts"
import { shownName } from "../../schema/json/StorableText.ts"
import { makeSeesRun } from "../access/SeenRuns.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { disputeView } from "../views/DisputeView.ts"

const undisputed = (run_id: string) =>
  problem("not_found", `There is no dispute of a run "${shownName(run_id)}".`, [
    { path: "path.run_id", message: "is not a disputed run of this organization" }
  ])

export const DisputesHandlers = HttpApiBuilder.group(
  Api,
  "disputes",
  Effect.fnUntraced(function* (handlers) {
    const warranties = yield* Warranties
    const disputes = yield* Disputes
    const seesRun = yield* makeSeesRun
    return handlers.handleAll({
      dispute: Effect.fnUntraced(function* ({ params: { run_id }, payload: { evidence } }) {
        const { org_id } = yield* CurrentCaller
        return disputeView(yield* warranties.dispute(org_id, run_id, evidence))
      }),

      get: Effect.fnUntraced(function* ({ params: { run_id } }) {
        const { org_id } = yield* CurrentCaller
        const row = (yield* seesRun(run_id)) ? yield* disputes.find(run_id) : null
        if (row?.org_id !== org_id) return yield* Effect.fail(undisputed(run_id))
        return disputeView(row)
      })
    })
  })
)
