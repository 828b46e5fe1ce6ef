/**
 * Whether the caller of a request sees a run. The answer for another caller's run is that for an unknown id, which each handler words.
 *
 * Statements find runs by organization. A key that reads its own runs only costs one statement more, and no other caller does.
 */
import { Effect } from "effect"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { looksLike } from "../../schema/Ids.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

export const makeSeesRun = Effect.map(RunStore, (runs) =>
  Effect.fnUntraced(function* (run_id: string) {
    const { org_id, access } = yield* CurrentCaller
    if (!looksLike("run", run_id)) return false
    const reads = access?.reads ?? null
    return reads === null || (yield* runs.isOf(org_id, run_id, reads))
  })
)
