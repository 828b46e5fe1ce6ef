/**
 * Goes on with pending disputes of the outcome warranty: asks the provider again when its time has come.
 *
 * So a dispute needs nobody to repeat it when a process died while it asked, a provider did not answer, an organization disputed many runs
 * at once, or the operator's limit of refunds was used up. Every worker process does it, and a claim lets one of them ask.
 */
import { Context, Effect, Layer } from "effect"
import { Settings } from "../../layers/platform/Settings.ts"
import { Disputes, type DueDispute } from "../../layers/warranty/Disputes.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import type { Detail, Problem } from "../../schema/Errors.ts"
import { Warranties } from "./Warranties.ts"
import { repeatedly } from "../../layers/postgres/DueWork.ts"

/** Seconds between two passes. Tests shorten them. */
export const DisputeSeconds = Context.Reference("rungate/actors/warranty/DisputeSeconds", { defaultValue: () => 15 })

/** Disputes of one pass, and of these the ones about which providers are asked at once. */
const [passMax, atOnce] = [20, 4]

/** Why a dispute that was taken can't be decided by a provider any more: its run was erased, or its seven days have passed. */
const reasonOf = ({ error }: Problem<"invalid_request">): string => {
  const [fault]: ReadonlyArray<Detail> = error.details ?? []
  if (fault === undefined) return error.message
  return `the ${fault.path === "evidence" ? "evidence" : "run"} ${fault.message}`
}

export const DisputeWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { warrantyShareBps } = yield* Settings
    if (warrantyShareBps === 0) return
    const [disputes, warranties] = [yield* Disputes, yield* Warranties]

    const goOn = (due: DueDispute) =>
      warranties.dispute(due.org_id, due.run_id, due.evidence).pipe(
        Effect.catch((refusal) => disputes.leave(due, `${reasonOf(refusal)}; the operator decides`)),
        Effect.catchCause(logFailure(`Deciding the dispute of ${due.run_id} failed; the next pass tries again`))
      )
    const pass = disputes
      .due(passMax)
      .pipe(Effect.flatMap((due) => Effect.forEach(due, goOn, { concurrency: atOnce, discard: true })))
    yield* repeatedly("disputes", `${(yield* DisputeSeconds) * 1_000} millis`, pass)
  })
)
