/** Disputes: a handler hands the evidence to the actor and shows how the dispute stands. It moves no money. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Warranties } from "../../actors/warranty/Warranties.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { disputeView } from "../views/DisputeView.ts"

export const DisputesHandlers = HttpApiBuilder.group(
  Api,
  "disputes",
  Effect.fnUntraced(function* (handlers) {
    const warranties = yield* Warranties
    return handlers.handle(
      "dispute",
      Effect.fnUntraced(function* ({ params: { run_id }, payload: { evidence } }) {
        const { org_id } = yield* CurrentCaller
        return disputeView(yield* warranties.dispute(org_id, run_id, evidence))
      })
    )
  })
)
