/**
 * One attempt of a run at a provider: the call, the state of its job, and what it delivered.
 *
 * Thousands of runs may wait here for slow providers, so an attempt at an offer has no generator of its own.
 */
import { Cause, Clock, Effect, Schedule, type Schema } from "effect"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { Endpoints } from "../../layers/catalog/Endpoints.ts"
import { ProviderCredits } from "../../layers/executor/ProviderCredits.ts"
import {
  type ProviderAnswer,
  type ProviderCall,
  Providers,
  type RawProviderAnswer
} from "../../layers/executor/Providers.ts"
import { OptOuts } from "../../layers/guards/OptOuts.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { type LeasedRun, Leases } from "../../layers/runs/Leases.ts"
import { Ownership } from "../../layers/runs/Ownership.ts"
import { emailSend } from "../../schema/capabilities/email.send.ts"
import { unsubscribeIn } from "../../schema/guards/Unsubscribe.ts"
import type { Capability } from "../../schema/catalog/Capability.ts"
import type { Doubt } from "../../schema/catalog/Doubt.ts"
import { failure, notCalled } from "../../schema/catalog/Provider.ts"
import { madeBy } from "../../schema/catalog/Resources.ts"
import { parsedOrText } from "../../schema/json/Json.ts"
import * as Money from "../../schema/money/Money.ts"
import { estimatedCost, type Price, priceMax } from "../../schema/money/Pricing.ts"
import { ownOffer, type Step } from "../../schema/accounts/OwnAccount.ts"
import type { Plan } from "../../schema/runs/Plan.ts"
import { priceFrom } from "../../schema/runs/PlannedPrice.ts"
import type { RawPlan } from "../../schema/runs/RawPlan.ts"
import { acceptedAnswer, checkedAnswer, type Delivered, deliveryOf, rawDeliveryOf, reportOf } from "./Delivery.ts"
import { RunSlots } from "./RunSlots.ts"

/** Half a minute: longer than a database takes to restart. */
const retryEvery = "250 millis"
const retriesMax = 120

/** The provider's job that an attempt started, as its adapter last stored it. */
export interface StartedJob {
  state: Schema.Json
}

/** One attempt at a provider. */
interface AttemptCall {
  readonly step: Step
  readonly input: unknown
  /** 1 for the run's first attempt. */
  readonly number: number
  readonly state: Schema.Json
  readonly keep: (state: Schema.Json) => Effect.Effect<boolean>
}

export interface Attempted {
  readonly answered: ProviderAnswer | RawProviderAnswer
  readonly delivered: Delivered | null
}

/** The price that the plan agreed for the call. Undefined for a plan of an older version. */
const agreedPrice = (plan: Plan, { provider, own }: Step): Price | undefined => {
  const fee = own ? ownOffer(plan, provider)?.fee : undefined
  const planned = fee ?? plan.prices?.[plan.providers.indexOf(provider)]
  return planned === undefined ? undefined : priceFrom(planned)
}

const feeOf = (plan: Plan, provider: string) => Money.dollars(ownOffer(plan, provider)?.fee ?? "0.00")

/** Without the cost of a call through an organization's own account, which the service does not pay. */
const withoutCost = (answered: ProviderAnswer, own: boolean): ProviderAnswer =>
  own ? { ...answered, measured: null } : answered
const withoutRawCost = (answered: RawProviderAnswer, own: boolean): RawProviderAnswer =>
  own && answered.answer._tag === "Delivered"
    ? { ...answered, answer: { ...answered.answer, measured: null } }
    : answered

/** Retries a write while the database restarts, so that no result is lost. Only for idempotent writes. */
export const retrying = <A>(write: Effect.Effect<A>): Effect.Effect<A> =>
  write.pipe(
    Effect.sandbox,
    Effect.retry({
      schedule: Schedule.spaced(retryEvery),
      times: retriesMax,
      while: (cause) => !Cause.hasInterruptsOnly(cause)
    }),
    Effect.catch(Effect.failCause)
  )

/** The attempt if the catalog no longer has the offer or endpoint. A job that an earlier execution started may still act. */
const gone = ({ state }: AttemptCall): Attempted => {
  const answer = failure("provider_error", "this offer is no longer in the catalog")
  const doubt = state === null ? {} : { doubt: "no_answer" as const }
  return { answered: { answer, duration_ms: 0, raw: null, measured: null, ...doubt }, delivered: null }
}

/** The attempt that is not made, because the service's account has too few credits left. The next provider is tried. */
const outOfCredits: Attempted = {
  answered: {
    answer: failure(notCalled, "this service could not call the provider now; nothing was sent"),
    duration_ms: 0,
    raw: null,
    measured: null
  },
  delivered: null
}

/** What the call has cost at its provider: as reported, or by its rate. A call whose answer is missing may cost too. */
const spentOf = ({ answered, delivered }: Attempted, rated: Money.MicroUsd): Money.MicroUsd => {
  const reported = reportOf(answered)
  if (reported !== null) return reported
  const { answer, doubt } = answered
  const isFree =
    answer._tag === "Failure"
      ? doubt === undefined || doubt === "server_error"
      : answer._tag === "NoMatch" && delivered === null
  return isFree ? Money.zero : rated
}

/** The function that makes one attempt. */
export const makeAttempt = Effect.gen(function* () {
  const catalog = yield* Catalog
  const endpoints = yield* Endpoints
  const providers = yield* Providers
  const credits = yield* ProviderCredits
  const leases = yield* Leases
  const ownership = yield* Ownership
  const slots = yield* RunSlots
  const clock = yield* Clock.Clock
  const optOuts = yield* OptOuts
  const settings = yield* Settings
  const service = { address: addressOf(settings), cell: settings.cell }

  const afterBug = Effect.fnUntraced(function* (provider: string, began: number, cause: Cause.Cause<never>) {
    yield* Effect.logError(`${provider}: adapter failed: ${Cause.pretty(cause)}`)
    const duration_ms = (yield* Clock.currentTimeMillis) - began
    // The adapter may have sent the request already, so the outcome of an acting call is unknown.
    const doubt: Doubt = "unreadable_answer"
    const answer = failure("provider_error", "the adapter could not read the answer")
    return { answer, duration_ms, raw: null, measured: null, doubt }
  })

  /** Turns a bug in an adapter into a failed attempt, so that the run continues. */
  const catchingBugs = <A extends ProviderAnswer | RawProviderAnswer>(provider: string, call: Effect.Effect<A>) => {
    const began = clock.currentTimeMillisUnsafe()
    return Effect.catchCause(call, (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : afterBug(provider, began, cause)
    )
  }

  /** Answers from the records of owners. The provider's own list has the objects of all organizations. */
  const ofOwned = Effect.fnUntraced(function* (
    org_id: string,
    { kind, page, list }: NonNullable<Capability["owned"]>,
    input: unknown
  ) {
    const began = yield* Clock.currentTimeMillis
    const output = list(yield* retrying(ownership.page(org_id, kind, page(input))))
    const duration_ms = (yield* Clock.currentTimeMillis) - began
    return { answer: { _tag: "Match", output }, duration_ms, raw: null, measured: null } satisfies ProviderAnswer
  })

  /** Assigns objects that a raw call made at the provider to the run's organization before the run ends. */
  const claimMade = Effect.fnUntraced(function* (
    run: LeasedRun,
    provider: string,
    makes: NonNullable<RawPlan["makes"]>,
    { answer }: RawProviderAnswer
  ) {
    if (makes.length === 0 || answer._tag !== "Delivered" || catalog.sandbox) return
    const resources = madeBy(makes, parsedOrText(answer.data))
    if (resources.length > 0) yield* retrying(ownership.claim(run.org_id, run.run_id, provider, resources))
  })

  /** How the attempt stores the state of its job. */
  const keeping = (run: LeasedRun, resumed: number, started_job: StartedJob) => (state: Schema.Json) =>
    Effect.tap(retrying(leases.keepJob(run.run_id, run.lease_token, { state, resumed })), () => {
      started_job.state = state
      slots.beginJob(run.run_id)
      return crashPoint("job.after")
    })

  const rawAttempt = Effect.fnUntraced(function* (run: LeasedRun, raw: RawPlan, attempt: AttemptCall) {
    const { step, input, state, keep } = attempt
    const { plan, run_id, org_id } = run
    const { provider, own } = step
    const rawProvider = endpoints.snapshot().providers.get(provider)
    if (rawProvider === undefined) return gone(attempt)
    const call = { run_id, org_id, own, provider: rawProvider, raw, input, input_text: run.input, state, keep }
    const answered = withoutRawCost(yield* catchingBugs(provider, providers.callRaw(call)), own)
    // Objects in the organization's own account are nobody's in the service's account.
    if (!own) yield* claimMade(run, provider, raw.makes ?? [], answered)
    const fee = Money.min(feeOf(plan, provider), Money.MicroUsd(run.hold))
    return { answered, delivered: rawDeliveryOf(step, raw, fee, plan.markup, answered, catalog.sandbox) }
  })

  /** A message gets the link with which its recipient opts out. */
  const callWith = (request: ProviderCall) =>
    request.capability === emailSend.slug
      ? Effect.flatMap(retrying(optOuts.secret(request.org_id)), (secret) =>
          providers.call({ ...request, ...unsubscribeIn(secret, service, request, request.input) })
        )
      : providers.call(request)

  /** Without a generator: thousands of runs may wait here for a slow provider. */
  const offerAttempt = (run: LeasedRun, attempt: AttemptCall): Effect.Effect<Attempted> => {
    const { step, input, number, state, keep } = attempt
    const { plan, run_id, org_id } = run
    const { provider, own } = step
    const capability = catalog.find(run.capability ?? "")?.capability
    const offer = catalog.offer(run.capability ?? "", provider)
    if (offer === undefined || capability === undefined) return Effect.succeed(gone(attempt))
    const { include_raw, accept } = plan
    const { owned, slug } = capability
    const asking = { run_id, org_id, own, offer, capability: slug, input, attempt: number, include_raw, state, keep }
    const request = accept === undefined ? asking : { ...asking, wanted: accept.fields }
    const called = owned === null || catalog.sandbox ? callWith(request) : ofOwned(org_id, owned, input)
    return Effect.flatMap(catchingBugs(provider, called), (all) => {
      const checked = checkedAnswer(capability, withoutCost(all, own))
      const answered = acceptedAnswer(capability, plan, checked, clock.currentTimeMillisUnsafe())
      const objects = answered.answer._tag === "Match" && !own ? capability.makes(answered.answer.output) : []
      const price = agreedPrice(plan, step) ?? offer.offer.price
      const agreed = { provider, price, rated: offer.offer.price, hold: Money.MicroUsd(run.hold), own }
      const delivered = () => ({
        answered,
        delivered: deliveryOf(capability, agreed, input, answered, plan, catalog.sandbox)
      })
      return objects.length === 0
        ? Effect.sync(delivered)
        : Effect.map(retrying(ownership.claim(run.org_id, run_id, provider, objects)), delivered)
    })
  }

  /** The most that the call costs at its provider. */
  const costOfStep = ({ plan, capability, hold }: LeasedRun, step: Step, input: unknown): Money.MicroUsd => {
    const { raw, markup } = plan
    const entry = catalog.find(capability ?? "")
    const price = agreedPrice(plan, step) ?? catalog.offer(capability ?? "", step.provider)?.offer.price
    const charge =
      raw !== undefined
        ? Money.dollars(raw.estimate ?? raw.hold)
        : entry === undefined || price === undefined
          ? Money.MicroUsd(hold)
          : priceMax(price, entry.capability.demand(input))
    return estimatedCost(charge, markup)
  }

  /** Makes a call through the service's account, if the account has the credits for it. Most accounts have no limit that is known. */
  const withCredits = (
    run: LeasedRun,
    { step, input, number, state }: AttemptCall,
    call: Effect.Effect<Attempted>
  ): Effect.Effect<Attempted> => {
    const { provider, own } = step
    if (own) return call
    // A raw endpoint may need a plan or a quota that the account never had, so its refusal says nothing of the other calls.
    const watched = Effect.tap(call, ({ answered: { answer } }) =>
      run.plan.raw === undefined && answer._tag === "Failure" && answer.outOfCredits === true
        ? credits.markEmpty(provider)
        : Effect.void
    )
    if (!credits.isLimited(provider)) return watched
    const cost = costOfStep(run, step, input)
    return Effect.flatMap(
      retrying(credits.reserve(provider, run.run_id, `${run.run_id}#${number}`, cost, state !== null)),
      (end) =>
        end === null
          ? Effect.succeed(outOfCredits)
          : Effect.tap(watched, (attempted) => retrying(end(spentOf(attempted, cost))))
    )
  }

  const attempt = (
    run: LeasedRun,
    step: Step,
    input: unknown,
    number: number,
    started_job: StartedJob
  ): Effect.Effect<Attempted> => {
    // The job of an earlier execution belongs to the attempt that was open when its worker died.
    const job = number === run.attempts.length ? run.job : null
    const { state, resumed } = job ?? { state: null, resumed: 0 }
    const call = { step, input, number, state, keep: keeping(run, resumed, started_job) }
    const { raw } = run.plan
    return withCredits(run, call, raw === undefined ? offerAttempt(run, call) : rawAttempt(run, raw, call))
  }

  return attempt
})
