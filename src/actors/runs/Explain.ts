/**
 * The error and the hints of a run that did not deliver. Pure.
 *
 * Hints tell an agent what to try next, and name the options of its request that ruled providers out. They never change routing or spending.
 */
import type { Capability } from "../../schema/catalog/Capability.ts"
import { type Doubt, doubtSentences, outcomeUnknown } from "../../schema/catalog/Doubt.ts"
import { notCalled, suppressed } from "../../schema/catalog/Provider.ts"
import { refused } from "../../schema/accounts/OwnAccount.ts"
import type { OverTotal, Plan } from "../../schema/runs/Plan.ts"
import type { Attempt, RunError, RunStatus } from "../../schema/runs/Run.ts"

const overBudget = (plan: Plan) => plan.excluded.filter((one) => one.reason === "max_cost")

/** The cap that the run was planned under, by its name in the request or in the key. */
const capOf = ({ seen }: Plan) => (seen?.key_cap === true ? "allow.max_cost of this API key" : "routing.max_cost")

const overTotal = (plan: Plan) => plan.total?.excluded ?? []

const excludedSentence = (field: string, offers: ReadonlyArray<OverTotal>): string =>
  offers.length === 0 ? "" : ` ${field} excluded ${offers.map((one) => `${one.provider} ($${one.quote})`).join(", ")}.`

const budgetSentence = (plan: Plan): string =>
  `${excludedSentence(capOf(plan), overBudget(plan))}${excludedSentence("routing.max_total", overTotal(plan))}`

const summary = (attempts: ReadonlyArray<Attempt>) =>
  attempts.map((one) => `${one.provider}: ${one.outcome}`).join("; ")

/** The error of a run that did not deliver. It names the providers that `max_cost` and `max_total` excluded. */
export const explainFailure = (
  status: RunStatus,
  attempts: ReadonlyArray<Attempt>,
  plan: Plan,
  doubt?: Doubt
): RunError => {
  const tried = summary(attempts)
  const budget = budgetSentence(plan)
  if (status === "no_match") {
    const what = plan.accept === undefined ? "found a match" : "gave an answer that accept takes"
    return { code: "no_match", message: `No provider ${what} (${tried}).${budget}` }
  }
  if (status === "timed_out")
    return { code: "provider_timeout", message: `Every attempt timed out (${tried}). Nothing was charged.${budget}` }
  const last = attempts.at(-1)
  if (last?.outcome === outcomeUnknown) {
    const why = doubtSentences[doubt ?? "worker_lost"]
    return {
      code: outcomeUnknown,
      message: `It is unknown whether ${last.provider} carried this out: ${why}. Nothing was charged. Check whether it was done before you run it again.`
    }
  }
  if (last?.outcome === suppressed)
    return {
      code: "provider_error",
      message: `${last.provider} does not write to this recipient: the address is on its suppression list, after a bounce, a complaint or an unsubscribe. Nothing was sent or charged, and no other provider was asked.`
    }
  if (attempts.length > 0 && attempts.every((one) => one.outcome === notCalled))
    return {
      code: "provider_not_available",
      message: `No provider of this run can be called now (${tried}). Nothing was charged. Try again later.${budget}`
    }
  return { code: "provider_error", message: `No attempt delivered a result (${tried}). Nothing was charged.${budget}` }
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
      "The provider may have carried this call out. Ask the recipient, or the operator of this service with the run_id. If the operator finds out, the result appears in these hints.",
      "A new run repeats the action if it was already carried out. Repeating the request with the same Idempotency-Key only returns this run."
    ]
  }
  const last = attempts.at(-1)
  if (last?.outcome === suppressed) {
    const owner = last.account === "own" ? "you have" : "the operator of this service has"
    return [
      `Use another address, or leave this recipient out. If they want your messages, ${owner} to remove the address from the suppression list at ${last.provider}. Messages to such addresses harm the sender's reputation.`
    ]
  }
  const refusing = attempts.filter((one) => one.account === "own" && one.outcome === refused).map((one) => one.provider)
  for (const provider of refusing)
    hints.push(
      `${provider} refused your own account. Set its key again (PUT /v1/provider-accounts/${provider}, or rungate provider-accounts set ${provider}), or allow fallback to this service's account there.`
    )
  if (plan.routing === "pinned" && plan.raw === undefined) {
    hints.push(
      `routing.provider is ${plan.providers[0]}, so no other provider was tried. Set it to "auto" to allow fallback.`
    )
  } else if (plan.routing === "no_fallback") {
    hints.push(
      "routing.allow_fallback is false, so only one provider was tried. Leave it out to allow up to 3 attempts."
    )
  }
  const caps = [
    [capOf(plan), overBudget(plan)],
    ["routing.max_total", overTotal(plan)]
  ] as const
  for (const [field, excluded] of caps) {
    if (excluded.length === 0) continue
    const quotes = excluded.map((one) => `${one.provider} at $${one.quote}`).join(", ")
    hints.push(`${field} excluded ${quotes}. Raise it to include them.`)
  }
  const failing = plan.excluded.filter((one) => one.reason === "unavailable").map((one) => one.provider)
  if (failing.length > 0)
    hints.push(`These providers were excluded because they are failing: ${failing.join(", ")}. Retry in a few minutes.`)
  if (status === "no_match" && plan.accept !== undefined)
    hints.push(
      "accept decided what counts as a match; see `detail` of the attempts. Ask for less in accept, or leave it out."
    )
  if (status === "no_match" && capability !== undefined) hints.push(...capability.missHints(input))
  if (attempts.some((one) => one.outcome === "provider_rejected"))
    hints.push("A provider rejected the input; see `detail` of its attempt. Try another provider or another input.")
  if (attempts.some((one) => one.outcome === "provider_rate_limited"))
    hints.push("A provider was rate limited. Retry in a minute.")
  return hints
}
