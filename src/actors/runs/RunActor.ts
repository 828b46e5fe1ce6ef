/**
 * Executes one leased run, from its first provider call to the command that settles it.
 *
 * It calls the planned providers in order, within the plan's limit of attempts, and records each attempt durably before the call.
 * Only the attempt that delivers is charged. Money moves in the wallet's turn, never here.
 */
import { Context, Effect, Layer } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { OptOuts } from "../../layers/guards/OptOuts.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { type LeasedRun, Leases, type LostRun } from "../../layers/runs/Leases.ts"
import { Ownership } from "../../layers/runs/Ownership.ts"
import { MailStore } from "../../layers/ledger/MailStore.ts"
import { keepingAnswer } from "../../layers/executor/AnswerBudget.ts"
import { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { estimatedCost } from "../../schema/money/Pricing.ts"
import { CurrentTrace, inSpan, Traces } from "../../layers/observability/Traces.ts"
import { countAttempt } from "../../layers/observability/Meters.ts"
import { OfferOutcomes } from "../../layers/quotes/OfferOutcomes.ts"
import type { ProviderAnswer, RawProviderAnswer } from "../../layers/executor/Providers.ts"
import type { Named } from "../../schema/catalog/Resources.ts"
import { suppressed } from "../../schema/catalog/Provider.ts"
import { type Contacts, contactsPeople } from "../../schema/guards/ContactGuard.ts"
import * as Money from "../../schema/money/Money.ts"
import { nextStep, startedAttempt, type Step } from "../../schema/accounts/OwnAccount.ts"
import { acts, affords, type Plan } from "../../schema/runs/Plan.ts"
import type { Attempt } from "../../schema/runs/Run.ts"
import { encodeSettle } from "../mailbox/Commands.ts"
import { noShare } from "../../schema/runs/Slots.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import {
  attemptOf,
  chargeOf,
  costOf,
  costsOf,
  type Delivered,
  endedAttempts,
  finalStatus,
  isUnknown,
  type Kept,
  lastResort,
  lost,
  nextOf,
  reportOf,
  type Reports
} from "./Delivery.ts"
import { type Attempted, makeAttempt, retrying, type StartedJob } from "./Attempts.ts"
import { callsOf } from "./RunOutcomes.ts"
import { RunSlots } from "./RunSlots.ts"
import { lostObject } from "../owners/Owners.ts"
import { explainFailure, hintsOf } from "./Explain.ts"
import { DirectCommands } from "../mailbox/DirectCommands.ts"
import { EventSequencer } from "../events/EventSequencer.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { Waiters } from "../mailbox/Waiters.ts"
import { isOpenAttempt } from "../../schema/nouns/Run.ts"

const noReports: Reports = new Map()

const isCounted = ({ outcome }: Attempt) => outcome !== lost
/** Why the outcome of an attempt is unknown. Undefined for a known outcome and for calls that only read. */
const unknownOf = (
  plan: Plan,
  { doubt }: ProviderAnswer | RawProviderAnswer,
  { state }: StartedJob,
  look: boolean
): SettleReport["unknown"] =>
  doubt !== undefined && acts(plan) ? { why: doubt, provider_state: state, look } : undefined

/** A run as the turn that settles it needs it. The turn is rolled back unless the run is still open under this lease. */
const running = ({ plan, hold }: LeasedRun) =>
  ({ status: "running", hold: Money.MicroUsd(hold), method: plan.raw?.method ?? null }) as const

export class RunActor extends Context.Service<
  RunActor,
  {
    readonly execute: (run: LeasedRun) => Effect.Effect<void>
    /** Settles a lost run that may not be retried as failed. */
    readonly giveUp: (run: LostRun, attempts: ReadonlyArray<Attempt>) => Effect.Effect<void>
  }
>()("rungate/actors/runs/RunActor") {
  static readonly layer = Layer.effect(
    RunActor,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const leases = yield* Leases
      const events = yield* EventSequencer
      const mail = yield* MailStore
      const lanes = yield* Lanes
      const direct = yield* DirectCommands
      const slots = yield* RunSlots
      const drifts = yield* CostDrifts
      const outcomes = yield* OfferOutcomes
      const settings = yield* Settings

      const [optOuts, guards, ownership] = [yield* OptOuts, yield* GuardStore, yield* Ownership]
      const waiters = yield* Waiters
      const attempt = yield* makeAttempt
      const traces = yield* Traces

      /** Whether this call carries the run id, so that its outcome can be looked up at the provider. */
      const carriesRunId = ({ capability, plan }: LeasedRun, provider: string, input: unknown): boolean =>
        plan.raw === undefined && catalog.offer(capability ?? "", provider)?.offer.reconcile?.marks(input) === true

      const post = Effect.fnUntraced(function* (
        run: LeasedRun,
        input: unknown,
        report: SettleReport,
        result: string | null
      ) {
        const { org_id, run_id } = run
        if (result !== null) waiters.keepResult(run_id, run.lease_token, result)
        slots.leave(run_id)
        yield* crashPoint("mail.before")
        const calls = callsOf(run, input, report, catalog)
        outcomes.observe(calls)
        // Of a run that is charged nothing the input is stored too, whether or not it has a result.
        const counts = report.charge === 0n || run.plan.reuse !== undefined
        const kept = counts ? { stored_bytes: Buffer.byteLength(result ?? "") + Buffer.byteLength(run.input) } : null
        const settled: SettleReport =
          calls.rehearsed || kept !== null
            ? { ...report, ...kept, ...(calls.rehearsed ? { rehearsed: true } : {}) }
            : report
        const inMemory = { ...run, ...running(run), buys: run.plan.reuse !== undefined, plan: () => run.plan }
        const applied = yield* direct.apply({ _tag: "Settle", run: inMemory, report: settled, result })
        if (applied !== null) return yield* crashPoint("mail.after")
        const payload = encodeSettle(settled)
        const command = { command_id: null, org_id, run_id, tag: "Settle", payload, result } as const
        const lane = yield* retrying(mail.enqueue(command))
        direct.learn(org_id, lane)
        yield* crashPoint("mail.after")
        yield* lanes.wake(lane)
      })

      const settleFailure = (
        run: LeasedRun,
        plan: Plan,
        input: unknown,
        attempts: ReadonlyArray<Attempt>,
        reports: Reports,
        unknown: SettleReport["unknown"],
        refused: SettleReport["error"] = null
      ) => {
        const status = refused === null ? finalStatus(attempts) : "failed"
        const capability = catalog.find(run.capability ?? "")?.capability
        return post(
          run,
          input,
          {
            lease_token: run.lease_token,
            status,
            charge: Money.zero,
            provider_cost: costOf(null, reports, plan.markup),
            ...costsOf(attempts, null, reports),
            ...(unknown === undefined ? {} : { unknown }),
            billed: false,
            // Whoever answered that there is nothing, also if another one failed after it.
            provider: (attempts.findLast((one) => one.outcome === status) ?? attempts.at(-1))?.provider ?? null,
            attempts,
            hints: refused === null ? hintsOf({ status, plan, attempts, capability, input }) : [],
            error: refused ?? explainFailure(status, attempts, plan, unknown?.why)
          },
          null
        )
      }

      /** Why the run may not contact its recipients any more: one has opted out, or was contacted meanwhile. */
      const keptFromRecipients = Effect.fnUntraced(function* (run: LeasedRun & { readonly contacts: Contacts }) {
        const meanwhile = contactsPeople(run.capability) ? guards.contactedMeanwhile(run) : Effect.succeed(null)
        return (yield* retrying(optOuts.refuse(run))) ?? (yield* retrying(meanwhile))
      })

      /** The objects in the service's account that the call names. */
      const objectsOf = ({ plan, capability }: LeasedRun, input: unknown): ReadonlyArray<Named> => {
        if (catalog.sandbox) return []
        const named = catalog.find(capability ?? "")?.capability.uses(input) ?? []
        return plan.raw?.uses ?? named.map((one) => ({ ...one, path: `input.${one.path}` }))
      }

      /** Ends a run that has waited if it may not make this call any more. The turn has checked a run that it started itself. */
      const barred = Effect.fnUntraced(function* (
        run: LeasedRun,
        step: Step,
        input: unknown,
        attempts: ReadonlyArray<Attempt>,
        reports: Reports
      ) {
        const { contacts } = run.plan
        const objects = step.own ? [] : objectsOf(run, input)
        const lostOne = yield* retrying(lostObject(ownership, run.org_id, step.provider, objects))
        const refused =
          lostOne === null && contacts !== undefined ? yield* keptFromRecipients({ ...run, contacts }) : lostOne
        if (refused === null) return false
        const { code, message } = refused
        yield* settleFailure(run, run.plan, input, attempts, reports, undefined, { code, message })
        return true
      })

      const settleDelivery = (
        run: LeasedRun,
        plan: Plan,
        input: unknown,
        calls: ReadonlyArray<Attempt>,
        kept: Kept,
        reports: Reports
      ) => {
        const { lease_token } = run
        const { delivered } = kept
        const { status, billed, provider } = delivered
        const attempts = endedAttempts(calls, kept)
        const charge = chargeOf(kept, Money.MicroUsd(run.hold))
        const provider_cost = costOf(kept, reports, plan.markup)
        const capability = catalog.find(run.capability ?? "")?.capability
        const error = status === "succeeded" ? null : explainFailure(status, attempts, plan)
        const hints =
          status === "succeeded" ? (plan.raw?.filled ?? []) : hintsOf({ status, plan, attempts, capability, input })
        const costs = costsOf(attempts, kept, reports)
        const report = {
          lease_token,
          status,
          charge,
          provider_cost,
          ...costs,
          billed,
          provider,
          attempts,
          hints,
          error
        }
        return post(run, input, report, delivered.result)
      }

      /** What the rate says about the call. Null if a reported cost says nothing about the rate, as for a miss. */
      const expectedOf = ({ plan, capability }: LeasedRun, { rated }: Delivered) => {
        const { raw, markup } = plan
        if (raw?.rated !== undefined)
          return {
            capability: `${raw.method} ${raw.endpoint}`,
            expected: estimatedCost(Money.dollars(raw.rated), markup)
          }
        return rated === null || capability === null
          ? null
          : { capability, expected: estimatedCost(rated, settings.markup) }
      }
      const watchCost = (run: LeasedRun, delivered: Delivered, measured: Money.MicroUsd) => {
        const said = expectedOf(run, delivered)
        if (said === null || said.expected === Money.zero) return Effect.void
        return drifts.observe({ provider: delivered.provider, run_id: run.run_id, measured, ...said })
      }

      const spanEndOf = ({ answered, delivered }: Attempted, step: Step, plan: Plan) => {
        const { outcome } = attemptOf(step, answered, delivered, plan)
        return { failed: outcome !== "succeeded" && outcome !== "no_match", attributes: { "rungate.outcome": outcome } }
      }

      const execute = Effect.fnUntraced(function* (run: LeasedRun) {
        const { plan } = run
        const input: unknown = JSON.parse(run.input)
        const attempts = run.attempts.filter((one) => !isOpenAttempt(one))
        // The turn that leased the run already recorded its first attempt. A claim from the queue does not.
        let recorded = run.attempts.length > attempts.length
        let reports: Map<number, Money.MicroUsd> | null = null
        // Results that are used only if no later one is better, or that wait for one that agrees.
        let kept: ReadonlyArray<Kept> = []
        let unknown: SettleReport["unknown"]
        while (attempts.length < plan.attempts_max) {
          const step = nextStep(plan, attempts.filter(isCounted))
          if (step === undefined || !affords(plan, attempts, step)) break
          const { provider } = step
          // The provider's concurrency limit is reached. The run waits in the queue, where it holds no slot.
          const share = step.own ? noShare : provider
          if (!slots.enter(run.run_id, share) && reports === null && kept.length === 0) {
            const requeued = { run_id: run.run_id, lease_token: run.lease_token, asks: provider }
            // A job that it resumes was started, and its provider is paid.
            const job = recorded ? run.job : null
            yield* retrying(leases.requeue(requeued, JSON.stringify(job === null ? attempts : run.attempts), job))
            return slots.queued([run.org_id])
          }
          if (!recorded) {
            if (yield* barred(run, step, input, attempts, reports ?? noReports)) return
            yield* crashPoint("attempt.before")
            const startedText = JSON.stringify([...attempts, startedAttempt(step)])
            const isHeld = yield* retrying(leases.attempt(run.run_id, run.lease_token, startedText))
            if (!isHeld)
              return yield* Effect.logInfo(`${run.run_id}: the lease is lost; another worker continues the run`)
            events.touch(run.org_id, run.run_id)
          }
          if (!recorded) yield* crashPoint("attempt.after")
          recorded = false
          yield* crashPoint("provider.before")
          const job: StartedJob = { state: run.job?.state ?? null }
          const { answered, delivered } = yield* inSpan<Attempted>(
            traces,
            { name: `provider ${provider}`, kind: "client", parent: traces === null ? null : yield* CurrentTrace },
            (one) => spanEndOf(one, step, plan)
          )(attempt(run, step, input, attempts.length + 1, job))
          yield* crashPoint("provider.after")
          const tried = attemptOf(step, answered, delivered, plan)
          countAttempt(provider, tried.outcome, tried.duration_ms / 1_000)
          attempts.push(tried)
          const at = attempts.length - 1
          const reported = reportOf(answered)
          if (reported !== null) reports = (reports ?? new Map<number, Money.MicroUsd>()).set(at, reported)
          if (reported !== null && delivered !== null) yield* watchCost(run, delivered, reported)
          // The call may have been carried out, so no second provider may repeat it. Nor may one write to who is closed to the sender.
          unknown = unknownOf(plan, answered, job, carriesRunId(run, provider, input))
          if (unknown !== undefined || tried.outcome === suppressed) break
          if (delivered === null) continue
          const next = nextOf(plan, kept, { at, delivered })
          if (next._tag === "Ends")
            return yield* settleDelivery(run, plan, input, attempts, next.kept, reports ?? noReports)
          kept = next.kept
          attempts[at] = { ...tried, ...next.marks }
        }
        const billsNoMatch = catalog.find(run.capability ?? "")?.capability.billing.bills_no_match === true
        const last = lastResort(kept, billsNoMatch)
        yield* last === null
          ? settleFailure(run, plan, input, attempts, reports ?? noReports, unknown)
          : settleDelivery(run, plan, input, attempts, last, reports ?? noReports)
      })

      return RunActor.of({
        execute: (run) =>
          keepingAnswer(execute(run)).pipe(
            inSpan<unknown>(
              traces,
              { name: `run ${run.capability ?? "raw"}`, kind: "consumer", parent: run.plan.trace ?? null },
              () => ({
                failed: false,
                attributes: { "rungate.run_id": run.run_id, "rungate.org_id": run.org_id }
              })
            ),
            Effect.catchCause((cause) =>
              Effect.logError(
                `Executing ${run.run_id} failed; a worker recovers the run when this lease ends: ${oneLine(cause)}`
              )
            )
          ),
        giveUp: (run, attempts) => {
          const provider_state = run.job?.state ?? null
          const input: unknown = JSON.parse(run.input)
          const look = run.sends_run_id && carriesRunId(run, attempts.at(-1)?.provider ?? "", input)
          const unknown = attempts.some(isUnknown) ? { why: "worker_lost" as const, provider_state, look } : undefined
          return settleFailure(run, run.plan, input, attempts, noReports, unknown)
        }
      })
    })
  )
}
