/**
 * Runs through an organization's own accounts at providers: what the plan stores of them, and which call comes next. Pure.
 *
 * A provider with an own account is called through it. The service's account is called only after the provider refused the own account, and
 * only if the organization allows it.
 */
import { Schema } from "effect"

/** A provider that the run calls through the organization's own account. */
export const OwnOffer = Schema.Struct({
  provider: Schema.String,
  /** What the run is charged if this account delivers. A decimal string. */
  fee: Schema.String,
  /** After a refusal the service's account is called, at the provider's price in the plan. */
  fallback: Schema.Boolean
})
export type OwnOffer = typeof OwnOffer.Type

/** The outcome of a call whose account the provider refused. */
export const refused = "provider_account"

/** One call: a provider, and through which account. */
export interface Step {
  readonly provider: string
  readonly own: boolean
}

/** The part of a run's plan that says what is called. */
interface Planned {
  readonly providers: ReadonlyArray<string>
  readonly own?: ReadonlyArray<OwnOffer>
}

/** Through which account an attempt was made. */
interface Marked {
  readonly account?: "own"
}

interface PastAttempt extends Marked {
  readonly provider: string
  readonly outcome: string
}

export const ownOffer = ({ own }: Pick<Planned, "own">, provider: string): OwnOffer | undefined =>
  own?.find((one) => one.provider === provider)

/** The members of a plan that say which accounts are the organization's own. Most plans have none. */
export const ownedBy = (own: ReadonlyArray<OwnOffer>) => (own.length === 0 ? {} : { own })

/** A call that was recorded and not made yet. */
export const startedAttempt = ({ provider, own }: Step) => ({
  provider,
  outcome: "started",
  duration_ms: 0,
  detail: null,
  ...marked(own)
})

/** The member of an attempt that says through which account it was made. */
export const marked = (own: boolean): Marked => (own ? { account: "own" } : {})

const stepsOf = (plan: Planned): ReadonlyArray<Step> =>
  plan.providers.flatMap((provider): ReadonlyArray<Step> => {
    const own = ownOffer(plan, provider)
    if (own === undefined) return [{ provider, own: false }]
    const step = { provider, own: true }
    return own.fallback ? [step, { provider, own: false }] : [step]
  })

/** The call after these. Undefined when the plan has no other one. */
export const nextStep = (plan: Planned, attempts: ReadonlyArray<PastAttempt>): Step | undefined => {
  if (plan.own === undefined) {
    const provider = plan.providers[attempts.length]
    return provider === undefined ? undefined : { provider, own: false }
  }
  const steps = stepsOf(plan)
  let at = 0
  for (const one of attempts) {
    const position = steps.findIndex(
      ({ provider, own }, index) => index >= at && provider === one.provider && own === (one.account === "own")
    )
    if (position >= 0) at = position + 1
  }
  const last = attempts.at(-1)
  const step = steps[at]
  if (step === undefined || step.own || ownOffer(plan, step.provider) === undefined) return step
  const failsOver = last?.provider === step.provider && last.account === "own" && last.outcome === refused
  return failsOver ? step : steps[at + 1]
}
