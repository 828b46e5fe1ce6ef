/** The error of a run that no provider can take now, with the reason of each provider. Pure. */
import { type Detail, problem, type Problem } from "../../schema/Errors.ts"
import * as Money from "../../schema/money/Money.ts"
import type { Exclusion, OverTotal } from "../../schema/runs/Plan.ts"
import type { Route, RoutingRequest } from "../../schema/runs/Routing.ts"

const failing = "is failing and is not called for some minutes"

const whyNot: Readonly<Record<Exclusion["reason"], (one: Exclusion) => Detail>> = {
  max_cost: ({ provider, quote }) => ({
    path: "routing.max_cost",
    message: `${provider} costs up to $${quote}, above the cap`
  }),
  cannot_serve: ({ provider }) => ({ path: "input", message: `${provider} can't serve this input` }),
  no_account: ({ provider }) => ({
    path: "routing.provider",
    message: `This service has no account at ${provider} yet`
  }),
  unavailable: ({ provider, quote }) => ({
    path: "routing.provider",
    message: `${provider} (up to $${quote}) ${failing}`
  })
}

const tooMuch = ({ provider, quote }: OverTotal): Detail => ({
  path: "routing.max_total",
  message: `${provider} costs up to $${quote}, above the cap of all attempts`
})

const capTooLow = (tooDear: ReadonlyArray<Exclusion>): string => {
  const [first, ...others] = tooDear.map(({ provider, quote }) => ({ provider, quote: Money.dollars(quote) }))
  if (first === undefined) return "routing.max_cost is too low"
  const { provider, quote } = others.reduce((least, one) => (one.quote < least.quote ? one : least), first)
  const usd = Money.usd(quote)
  return `routing.max_cost is below every price. The lowest is up to $${usd} at ${provider}, so set it to "${usd}" or more; see details`
}

export const unavailable = (
  capability: string,
  routing: RoutingRequest,
  chosen: Route,
  /** Providers of the capability that have an account. */
  names: ReadonlyArray<string>
) => {
  const { excluded, over_total } = chosen
  const unpaid = excluded.filter((one) => one.reason === "no_account")
  const tooDear = excluded.filter((one) => one.reason === "max_cost")
  const isCapTooLow = tooDear.length > 0 && tooDear.length + unpaid.length === excluded.length + over_total.length
  const reason = isCapTooLow
    ? capTooLow(tooDear)
    : unpaid.length < excluded.length + over_total.length
      ? "every provider was excluded; see details"
      : routing.provider === "auto" || names.length === 0
        ? "this service has no account at any of its providers yet"
        : `this service has no account at ${routing.provider} yet; use "auto" or one of: ${names.join(", ")}`
  const details = [...excluded.map((one) => whyNot[one.reason](one)), ...over_total.map(tooMuch)]
  return problem("provider_not_available", `${capability} can't run now: ${reason}.`, details)
}

/** The refusal of a run that two providers have to answer, when only one can. */
export const lacksSecond = (capability: string, only: string, { excluded, over_total }: Route) =>
  problem(
    "provider_not_available",
    `${capability} can't run now: accept.agree needs two providers, and only ${only} can be called. Leave out accept.agree, or raise a cap that excludes others; see details`,
    [...excluded.map((one) => whyNot[one.reason](one)), ...over_total.map(tooMuch)]
  )

/** Whether a run was refused because a provider is failing. The same run may be admitted some minutes later. */
export const mayPass = ({ error }: Problem): boolean =>
  error.code === "provider_not_available" && (error.details ?? []).some(({ message }) => message.endsWith(failing))

/** The refusal of a new run when the embedded database's disk lacks room. */
export const diskIsFull = problem(
  "service_unavailable",
  "The service's disk is nearly full, so it starts no new runs; nothing was charged. Try again later with the same Idempotency-Key."
)

/** The refusal of a new run while its organization moves to another cell. */
export const isMoving = problem(
  "service_unavailable",
  "The operator is moving this organization to another part of the service, which takes a moment; nothing was charged. Try again with the same Idempotency-Key."
)
