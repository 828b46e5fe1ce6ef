/** An operator's decision to refund a disputed run, by the same rules as a bounce that a provider confirms. */
import { Effect } from "effect"
import { Settings } from "../../layers/platform/Settings.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { coverOfRow } from "../../layers/warranty/cover.ts"
import { Disputes } from "../../layers/warranty/Disputes.ts"
import type { Decided } from "../../layers/warranty/WarrantyRefunds.ts"
import { makeDecideRefund } from "./decideRefund.ts"

export type Accepted =
  | Decided
  /** There is no such dispute, or its run is gone. */
  | { readonly _tag: "Unknown" }
  /** The operator has turned the warranty off. */
  | { readonly _tag: "Off" }
  | { readonly _tag: "NotCovered"; readonly why: string }

export const makeAcceptDispute = Effect.gen(function* () {
  const disputes = yield* Disputes
  const runs = yield* RunStore
  const { warrantyShareBps } = yield* Settings
  const decideRefund = yield* makeDecideRefund

  return Effect.fn("acceptDispute")(function* (run_id: string, note: string): Effect.fn.Return<Accepted> {
    const dispute = yield* disputes.find(run_id)
    if (dispute === null) return { _tag: "Unknown" }
    if (dispute.state === "refunded") return { _tag: "Already" }
    if (warrantyShareBps === 0) return { _tag: "Off" }
    const row = yield* runs.find(dispute.org_id, run_id)
    if (row === null) return { _tag: "Unknown" }
    const cover = coverOfRow(row)
    if (cover._tag === "NotCovered") return cover
    return yield* decideRefund({ org_id: dispute.org_id, run_id, cover, send_run: null, note })
  })
})
