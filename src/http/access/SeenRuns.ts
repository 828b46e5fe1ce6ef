/**
 * Whether the caller of a request sees a run. The answer for another caller's run is that for an unknown id, which each handler words.
 *
 * Statements find runs by organization. A key that reads its own runs only costs one statement more, and no other caller does.
 */
import { Effect } from "effect"
import type { Caller } from "../../schema/accounts/KeyAccess.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { looksLike } from "../../schema/Ids.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

/** `caller` is who sends the request. */
export const seesRunOf =
  (runs: RunStore["Service"]) =>
  ({ org_id, access }: Pick<Caller, "org_id" | "access">, run_id: string): Effect.Effect<boolean> => {
    if (!looksLike("run", run_id)) return Effect.succeed(false)
    const reads = access?.reads ?? null
    return reads === null ? Effect.succeed(true) : runs.isOf(org_id, run_id, reads)
  }

export const makeSeesRun = Effect.map(
  RunStore,
  (runs) => (run_id: string) => Effect.flatMap(CurrentCaller, (caller) => seesRunOf(runs)(caller, run_id))
)
