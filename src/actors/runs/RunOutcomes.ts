/** What a run that ends says about its offers: how each call ended, for this kind of input. Pure. */
import type { Catalog } from "../../layers/catalog/Catalog.ts"
import type { OfferCall, RunCalls } from "../../layers/quotes/OfferOutcomes.ts"
import type { LeasedRun } from "../../layers/runs/Leases.ts"
import * as Money from "../../schema/money/Money.ts"
import { anyDemand, priceMax } from "../../schema/money/Pricing.ts"
import { endpointSubject, offerSubject } from "../../schema/runs/Health.ts"
import { anyKind, inputKindOf, rehearsedKind } from "../../schema/runs/InputKind.ts"
import type { Plan } from "../../schema/runs/Plan.ts"
import { priceFrom } from "../../schema/runs/PlannedPrice.ts"
import type { Attempt } from "../../schema/runs/Run.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import { lost } from "./Delivery.ts"
import { isOpenAttempt } from "../../schema/nouns/Run.ts"

type Call = Pick<LeasedRun, "capability" | "plan">

/** The name under which the outcomes of a call are counted. */
export const subjectOf = ({ capability, plan: { raw } }: Call, provider: string): string =>
  raw === undefined ? offerSubject(capability ?? "", provider) : endpointSubject(provider, raw.method, raw.endpoint)

/** The kind of a request, and whether it rehearses a scenario. Runs and quotes of the same request have the same kind. */
export const kindOf = ({ plan: { raw, accept } }: Call, input: unknown, sandbox: boolean) => {
  const kind = raw === undefined ? inputKindOf(input, accept) : anyKind
  const rehearsed = sandbox ? rehearsedKind(kind, [input, raw?.path, raw?.query]) : null
  return { kind: rehearsed ?? kind, rehearsed: rehearsed !== null }
}

/** The maximum price of a provider's call, as the plan agreed it. */
const priceOf = ({ raw, prices, providers }: Plan, provider: string, demand = anyDemand): Money.MicroUsd => {
  if (raw !== undefined) return Money.dollars(raw.estimate ?? raw.hold)
  const planned = prices?.[providers.indexOf(provider)]
  return planned === undefined ? Money.zero : priceMax(priceFrom(planned), demand)
}

const outcomeOf = ({ outcome }: Attempt): OfferCall["outcome"] =>
  outcome === "succeeded" || outcome === "inconclusive" || outcome === "no_match" ? outcome : "failed"

export const callsOf = (
  run: LeasedRun,
  input: unknown,
  { attempts, status, provider, charge, billed }: SettleReport,
  { sandbox, find }: Pick<Catalog["Service"], "sandbox" | "find">
): RunCalls => {
  const demand = find(run.capability ?? "")?.capability.demand(input)
  const delivered = billed && (status === "succeeded" || status === "no_match")
  // Only one attempt delivers, and it is the only one with this outcome at its provider.
  const charged = attempts.findLast(
    (one) => delivered && one.provider === provider && (one.outcome === "succeeded" || one.outcome === "no_match")
  )
  const agreed = run.plan.accept?.agree !== undefined && delivered
  const calls = attempts
    // A call through an organization's own account says nothing about the service's offer.
    .filter((one) => !isOpenAttempt(one) && one.outcome !== lost && one.account === undefined)
    .map((one) => {
      const quoted =
        one === charged || (agreed && one.outcome === "succeeded") ? priceOf(run.plan, one.provider, demand) : 0n
      // Each of two answers that agree is charged its own price. The run's charge is their sum.
      return {
        subject: subjectOf(run, one.provider),
        outcome: outcomeOf(one),
        quoted,
        charged: agreed && one.outcome === "succeeded" ? quoted : one === charged ? charge : 0n
      }
    })
  return { ...kindOf(run, input, sandbox), calls }
}
