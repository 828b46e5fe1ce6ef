/**
 * What to say about a run that did not deliver: its error, and hints that tell an agent what to try. Pure.
 *
 * Hints never change routing or spending; they name what the caller chose that stood in the way.
 */
import type { Capability } from "../../schema/catalog/Capability.ts"
import { type Doubt, doubtSentences, outcomeUnknown } from "../../schema/catalog/Doubt.ts"
import type { Plan } from "../../schema/runs/Plan.ts"
import type { Attempt, RunError, RunStatus } from "../../schema/runs/Run.ts"

const overBudget = (plan: Plan) => plan.excluded.filter((one) => one.reason === "max_cost")

const budgetSentence = (plan: Plan): string => {
  const left = overBudget(plan).map((one) => `${one.provider} ($${one.quote})`)
  return left.length === 0 ? "" : ` routing.max_cost excluded ${left.join(", ")}.`
}

const story = (attempts: ReadonlyArray<Attempt>) => attempts.map((one) => `${one.provider}: ${one.outcome}`).join("; ")

/** The error of a finished run, with the alternatives that its budget excluded. */
export const explainFailure = (
  status: RunStatus,
  attempts: ReadonlyArray<Attempt>,
  plan: Plan,
  doubt?: Doubt
): RunError => {
  const tried = story(attempts)
  const budget = budgetSentence(plan)
  if (status === "no_match") return { code: "no_match", message: `No provider found a match (${tried}).${budget}` }
  if (status === "timed_out")
    return { code: "provider_timeout", message: `Every attempt timed out (${tried}); nothing was charged.${budget}` }
  const last = attempts.at(-1)
  if (last?.outcome === outcomeUnknown) {
    const why = doubtSentences[doubt ?? "worker_lost"]
    return {
      code: outcomeUnknown,
      message: `Nobody knows whether ${last.provider} carried this out: ${why}. Nothing was charged. Don't run it again before you have checked whether it was done.`
    }
  }
  return { code: "provider_error", message: `No attempt delivered (${tried}); nothing was charged.${budget}` }
}

export interface Miss {
  readonly status: RunStatus
  readonly plan: Plan
  readonly attempts: ReadonlyArray<Attempt>
  readonly capability: Capability | undefined
  readonly input: unknown
}

export const hintsOf = ({ status, plan, attempts, capability, input }: Miss): ReadonlyArray<string> => {
  const hints: Array<string> = []
  if (attempts.some((one) => one.outcome === outcomeUnknown)) {
    return [
      "The call may have been carried out. Check it with who was to receive it, or ask the operator of this service with the run_id; what is found out later appears here.",
      "A new run does it again if it was carried out. Repeating the request with the same Idempotency-Key only returns this run."
    ]
  }
  if (plan.routing === "pinned") {
    hints.push(
      `routing.provider pinned ${plan.providers[0]}; a pinned provider never falls back. Use "auto" to let other providers try.`
    )
  } else if (plan.routing === "no_fallback" && !plan.side_effect) {
    hints.push("routing.allow_fallback is false, so one provider was asked; leave it out to let up to 3 try.")
  }
  const left = overBudget(plan)
  if (left.length > 0) {
    const quotes = left.map((one) => `${one.provider} at $${one.quote}`).join(", ")
    hints.push(`routing.max_cost left out ${quotes}; raise it to include them.`)
  }
  const failing = plan.excluded.filter((one) => one.reason === "unavailable").map((one) => one.provider)
  if (failing.length > 0)
    hints.push(
      `Left out because they fail at present: ${failing.join(", ")}; the same run may find them back in minutes.`
    )
  if (status === "no_match" && capability !== undefined) hints.push(...capability.missHints(input))
  if (attempts.some((one) => one.outcome === "provider_rejected"))
    hints.push("A provider refused the input; its attempt's detail says why. Another provider or input may work.")
  if (attempts.some((one) => one.outcome === "provider_rate_limited"))
    hints.push("A provider was rate limited; the same run may deliver in a minute.")
  return hints
}
