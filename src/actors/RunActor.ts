/**
 * The run actor: executes one leased run, from its first provider call to the command that settles it.
 *
 * It asks the planned providers in order, at most as often as the plan allows, and records each attempt durably before it
 * makes it. Only the provider that delivers is charged. Money moves in the wallet's turn, never here.
 */
import { Cause, Clock, Context, Effect, Layer, Schedule, type Schema } from "effect"
import { oneLine } from "../layers/Batch.ts"
import { Catalog, type CatalogOffer } from "../layers/Catalog.ts"
import { crashPoint } from "../layers/CrashPoint.ts"
import { type LeasedRun, Leases } from "../layers/Leases.ts"
import { MailStore } from "../layers/MailStore.ts"
import { Ownership } from "../layers/Ownership.ts"
import { Endpoints } from "../layers/Endpoints.ts"
import { type ProviderAnswer, Providers, type RawProviderAnswer } from "../layers/Providers.ts"
import type { Capability } from "../schema/Capability.ts"
import * as Money from "../schema/Money.ts"
import type { Plan } from "../schema/Plan.ts"
import { charge, providerCost, rawCharge } from "../schema/Pricing.ts"
import { failure } from "../schema/Provider.ts"
import type { RawPlan } from "../schema/RawPlan.ts"
import type { Attempt, RunStatus } from "../schema/Run.ts"
import { storableJson } from "../schema/StorableText.ts"
import { encodeSettle, type SettleReport } from "./Commands.ts"
import { Executions } from "./Executions.ts"
import { explainFailure, hintsOf } from "./Explain.ts"
import { Lanes } from "./Lanes.ts"
import { Waiters } from "./Waiters.ts"

/** Half a minute: longer than a database takes to restart. */
const retryEvery = "250 millis"
const retriesMax = 120

const started = (provider: string): Attempt => ({ provider, outcome: "started", duration_ms: 0, detail: null })
export const isOpenAttempt = (attempt: Attempt) => attempt.outcome === "started"
/** The outcome of an attempt whose worker died: nobody knows what the provider did. */
export const lost = "worker_lost"
const workerDied = "the process that made this call died; its outcome is unknown"
export const notRecorded = "the answer of this call could not be recorded; the operator finds it with rungate audit"
export const closeLost = (attempts: ReadonlyArray<Attempt>, detail = workerDied): ReadonlyArray<Attempt> =>
  attempts.map((one) => (isOpenAttempt(one) ? { ...one, outcome: lost, detail } : one))

interface Delivered {
  readonly status: "succeeded" | "no_match"
  readonly provider: string
  readonly charge: Money.MicroUsd
  readonly billed: boolean
  /** JSON text. */
  readonly result: string | null
  readonly inconclusive: boolean
}

const attemptOf = (
  provider: string,
  { answer, duration_ms }: ProviderAnswer | RawProviderAnswer,
  delivered: Delivered | null
): Attempt => {
  if (answer._tag === "Delivered") return { provider, outcome: "succeeded", duration_ms, detail: answer.note ?? null }
  if (answer._tag === "NoMatch") return { provider, outcome: "no_match", duration_ms, detail: answer.detail }
  if (answer._tag === "Failure") return { provider, outcome: answer.reason, duration_ms, detail: answer.detail }
  // An address that is known to be invalid, say: the provider found it, and it is no match.
  return delivered === null
    ? { provider, outcome: "no_match", duration_ms, detail: "what it found does not count as a match" }
    : { provider, outcome: "succeeded", duration_ms, detail: null }
}

const resultOf = (output: unknown, raw: string | null, sandbox: boolean): string | null => {
  if (output === null || typeof output !== "object") return null
  // An adapter may cut a string within a character; a payload that was asked for stays as the provider wrote it.
  const text = storableJson(JSON.stringify(sandbox ? { ...output, sandbox: true } : output))
  return raw === null ? text : `${text.slice(0, -1)},"raw":${raw}}`
}

/** What the answer is worth, or null when the next provider should be asked. */
const deliveryOf = (
  capability: Capability,
  offer: CatalogOffer,
  input: unknown,
  { answer, raw }: ProviderAnswer,
  sandbox: boolean
): Delivered | null => {
  if (answer._tag !== "Match" && answer._tag !== "NoMatch") return null
  const judged =
    answer._tag === "Match"
      ? capability.judge(answer.output)
      : { matched: false, results: 0, unbilled: false, inconclusive: false }
  if (judged === null) return null
  const provider = offer.provider.slug
  const output = answer._tag === "Match" ? answer.output : null
  const price = charge(offer.offer.price, capability.billing, capability.demand(input), judged)
  const about = { provider, charge: price, billed: true, inconclusive: judged.inconclusive }
  if (judged.matched) return { ...about, status: "succeeded", result: resultOf(output, raw, sandbox) }
  if (!capability.billing.bills_no_match) return null
  // A billed miss with an answer, such as "unknown", is an answer; without one it is a no-match that is paid for.
  if (output === null) return { ...about, status: "no_match", result: null }
  return { ...about, status: "succeeded", result: resultOf(output, raw, sandbox) }
}

/** A raw run delivers whatever the provider answered, at its measured cost or the rate card's. */
const rawDeliveryOf = (
  provider: string,
  raw: RawPlan,
  { answer }: RawProviderAnswer,
  sandbox: boolean
): Delivered | null => {
  if (answer._tag !== "Delivered") return null
  const rates = raw.estimate === null ? null : { estimate: Money.dollars(raw.estimate) }
  return {
    status: "succeeded",
    provider,
    charge: rawCharge(rates, answer.measured, Money.dollars(raw.hold)),
    billed: true,
    inconclusive: false,
    result: `{"data":${answer.data},"raw":true${sandbox ? ',"sandbox":true' : ""}}`
  }
}

/** What an attempt reports that it has cost us, by its number; null for one that does not say, or went down with its worker. */
type Reports = ReadonlyMap<number, Money.MicroUsd>
const reportOf = (said: ProviderAnswer | RawProviderAnswer): Money.MicroUsd | null => {
  if ("measured" in said) return said.measured
  return said.answer._tag === "Delivered" ? said.answer.measured : null
}
/** `delivering` is the number of the attempt that is paid for; null for a run that nothing is charged for. */
const costOf = (charged: Money.MicroUsd, delivering: number | null, reports: Reports): Money.MicroUsd => {
  const others = [...reports].flatMap(([number, cost]) => (number === delivering ? [] : [cost]))
  return providerCost(charged, delivering === null ? null : (reports.get(delivering) ?? null), others)
}

const finalStatus = (attempts: ReadonlyArray<Attempt>): RunStatus => {
  if (attempts.some((one) => one.outcome === "no_match")) return "no_match"
  return attempts.length > 0 && attempts.every((one) => one.outcome === "provider_timeout") ? "timed_out" : "failed"
}

export class RunActor extends Context.Service<
  RunActor,
  {
    readonly execute: (run: LeasedRun) => Effect.Effect<void>
    /** Settles a run that may not be tried again as failed. */
    readonly giveUp: (run: LeasedRun, attempts: ReadonlyArray<Attempt>) => Effect.Effect<void>
  }
>()("rungate/actors/RunActor") {
  static readonly layer = Layer.effect(
    RunActor,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const endpoints = yield* Endpoints
      const providers = yield* Providers
      const leases = yield* Leases
      const ownership = yield* Ownership
      const mail = yield* MailStore
      const lanes = yield* Lanes
      const executions = yield* Executions

      /** What an execution knows is worth waiting for a database that restarts. Only for writes that may be done twice. */
      const patiently = <A>(write: Effect.Effect<A>): Effect.Effect<A> =>
        write.pipe(
          Effect.sandbox,
          Effect.retry({
            schedule: Schedule.spaced(retryEvery),
            times: retriesMax,
            while: (cause) => !Cause.hasInterruptsOnly(cause)
          }),
          Effect.catch(Effect.failCause)
        )

      const waiters = yield* Waiters

      const post = Effect.fnUntraced(function* (run: LeasedRun, report: SettleReport, result: string | null) {
        const { org_id, run_id } = run
        if (result !== null) waiters.keepResult(run_id, run.lease_token, result)
        yield* crashPoint("mail.before")
        const payload = encodeSettle(report)
        const settled = { command_id: null, org_id, run_id, tag: "Settle", payload, result } as const
        const lane = yield* patiently(mail.post(settled))
        yield* crashPoint("mail.after")
        yield* lanes.nudge(lane)
      })

      const settleFailure = (
        run: LeasedRun,
        plan: Plan,
        input: unknown,
        attempts: ReadonlyArray<Attempt>,
        provider_cost: Money.MicroUsd
      ) => {
        const status = finalStatus(attempts)
        const capability = catalog.find(run.capability ?? "")?.capability
        return post(
          run,
          {
            lease_token: run.lease_token,
            status,
            charge: Money.zero,
            provider_cost,
            billed: false,
            provider: attempts.at(-1)?.provider ?? null,
            attempts,
            hints: hintsOf({ status, plan, attempts, capability, input }),
            error: explainFailure(status, attempts, plan)
          },
          null
        )
      }

      const settleDelivery = (
        run: LeasedRun,
        plan: Plan,
        input: unknown,
        attempts: ReadonlyArray<Attempt>,
        delivered: Delivered,
        provider_cost: Money.MicroUsd
      ) => {
        const { lease_token } = run
        const { status, charge, billed, provider } = delivered
        const capability = catalog.find(run.capability ?? "")?.capability
        const error = status === "succeeded" ? null : explainFailure(status, attempts, plan)
        const hints = status === "succeeded" ? [] : hintsOf({ status, plan, attempts, capability, input })
        const report = { lease_token, status, charge, provider_cost, billed, provider, attempts, hints, error }
        return post(run, report, delivered.result)
      }

      /** A bug in an adapter costs its provider this attempt, and the run nothing. */
      const shielded = <A extends ProviderAnswer | RawProviderAnswer>(provider: string, call: Effect.Effect<A>) =>
        Effect.gen(function* () {
          const began = yield* Clock.currentTimeMillis
          return yield* call.pipe(
            Effect.catchCause((cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.failCause(cause)
                : Effect.gen(function* () {
                    yield* Effect.logError(`${provider}: adapter failed: ${Cause.pretty(cause)}`)
                    const duration_ms = (yield* Clock.currentTimeMillis) - began
                    const answer = failure("provider_error", "the adapter could not read the answer")
                    return { answer, duration_ms, raw: null, measured: null }
                  })
            )
          )
        })

      /** The provider speaks of the platform's whole account; a workspace hears of its own part. */
      const ownOnly = Effect.fnUntraced(function* (org_id: string, capability: Capability, said: ProviderAnswer) {
        const { answer } = said
        if (capability.ownOnly === null || catalog.sandbox || answer._tag !== "Match") return said
        const owned = yield* patiently(ownership.all(org_id, capability.ownOnly.kind))
        return { ...said, raw: null, answer: { ...answer, output: capability.ownOnly.keep(answer.output, owned) } }
      })

      /** One attempt: how it went, and what it delivered, if anything. Null when the catalog no longer knows the way. */
      const attempt = (run: LeasedRun, provider: string, input: unknown, number: number) =>
        Effect.gen(function* () {
          const { plan, run_id, org_id } = run
          // The job of an earlier execution belongs to the attempt that was open when its worker died.
          const job = number === run.attempts.length ? run.job : null
          const { state, resumed } = job ?? { state: null, resumed: 0 }
          const keep = (state: Schema.Json) =>
            Effect.tap(patiently(leases.keepJob(run_id, run.lease_token, { state, resumed })), () => {
              executions.beginJob(run_id)
              return crashPoint("job.after")
            })
          if (plan.raw !== undefined) {
            const raw = plan.raw
            const known = endpoints.snapshot().providers.get(provider)
            if (known === undefined) return null
            const call = { run_id, org_id, provider: known, raw, input, input_text: run.input, state, keep }
            const said = yield* shielded(provider, providers.callRaw(call))
            return { said, delivered: rawDeliveryOf(provider, raw, said, catalog.sandbox) }
          }
          const capability = catalog.find(run.capability ?? "")?.capability
          const offer = catalog.offer(run.capability ?? "", provider)
          if (offer === undefined || capability === undefined) return null
          const { include_raw } = plan
          const asked = {
            run_id,
            org_id,
            offer,
            capability: capability.slug,
            input,
            attempt: number,
            include_raw,
            state,
            keep
          }
          const said = yield* ownOnly(run.org_id, capability, yield* shielded(provider, providers.call(asked)))
          const made = said.answer._tag === "Match" ? capability.makes(said.answer.output) : null
          if (made !== null) yield* patiently(ownership.claim(run.org_id, made.kind, made.id, run_id))
          return { said, delivered: deliveryOf(capability, offer, input, said, catalog.sandbox) }
        })

      const gone = (provider: string): Attempt => ({
        provider,
        outcome: "provider_error",
        duration_ms: 0,
        detail: "this offer is no longer in the catalog"
      })

      const execute = Effect.fnUntraced(function* (run: LeasedRun) {
        const { plan } = run
        const input: unknown = JSON.parse(run.input)
        const made = run.attempts.filter((one) => !isOpenAttempt(one))
        // The turn that leased the run recorded its first attempt already; a claim from the queue did not.
        let recorded = run.attempts.length > made.length
        let next = made.filter((one) => one.outcome !== lost).length
        const reports = new Map<number, Money.MicroUsd>()
        // The first answer that settles nothing, for a run that would rather have one that does.
        let reserve: { readonly at: number; readonly delivered: Delivered } | null = null
        while (made.length < plan.attempts_max) {
          const provider = plan.providers[next]
          if (provider === undefined) break
          next += 1
          // As many runs as the provider takes at once ask it already: this one waits in the queue, where it holds no slot.
          if (!executions.enter(run.run_id, provider) && reports.size === 0 && reserve === null) {
            const requeued = { run_id: run.run_id, lease_token: run.lease_token, asks: provider }
            yield* patiently(leases.requeue(requeued, JSON.stringify(made), null))
            return executions.queued([run.org_id])
          }
          if (!recorded) {
            yield* crashPoint("attempt.before")
            const attempts = JSON.stringify([...made, started(provider)])
            const kept = yield* patiently(leases.attempt(run.run_id, run.lease_token, attempts))
            if (!kept) return yield* Effect.logInfo(`${run.run_id}: the lease is lost; another worker goes on`)
          }
          if (!recorded) yield* crashPoint("attempt.after")
          recorded = false
          yield* crashPoint("provider.before")
          const went = yield* attempt(run, provider, input, made.length + 1)
          yield* crashPoint("provider.after")
          made.push(went === null ? gone(provider) : attemptOf(provider, went.said, went.delivered))
          const at = made.length - 1
          const reported = went === null ? null : reportOf(went.said)
          if (reported !== null) reports.set(at, reported)
          const delivered = went?.delivered ?? null
          if (delivered === null) continue
          if (!(plan.conclusive === true && delivered.inconclusive))
            return yield* settleDelivery(run, plan, input, made, delivered, costOf(delivered.charge, at, reports))
          reserve ??= { at, delivered }
          const detail = "the answer settles nothing; another provider is asked"
          made[at] = { ...(made[at] ?? started(provider)), outcome: "inconclusive", detail }
        }
        if (reserve === null) return yield* settleFailure(run, plan, input, made, costOf(Money.zero, null, reports))
        const { at, delivered } = reserve
        made[at] = { ...(made[at] ?? started("")), outcome: "succeeded", detail: null }
        yield* settleDelivery(run, plan, input, made, delivered, costOf(delivered.charge, at, reports))
      })

      return RunActor.of({
        execute: (run) =>
          execute(run).pipe(
            // Left `running`: when this worker's lease ends, recovery decides what may be tried again.
            Effect.catchCause((cause) => Effect.logError(`${run.run_id}: execution stopped: ${oneLine(cause)}`))
          ),
        giveUp: (run, attempts) => settleFailure(run, run.plan, JSON.parse(run.input), attempts, Money.zero)
      })
    })
  )
}
