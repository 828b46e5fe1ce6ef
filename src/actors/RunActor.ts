/**
 * The run actor: executes one leased run, from its first provider call to the command that settles it.
 *
 * It asks the planned providers in order, at most as often as the plan allows, and records each attempt durably before it
 * makes it. Only the provider that delivers is charged. Money moves in the wallet's turn, never here.
 */
import { Cause, Clock, Context, Effect, Layer, Schedule } from "effect"
import { oneLine } from "../layers/Batch.ts"
import { Catalog, type CatalogOffer } from "../layers/Catalog.ts"
import { crashPoint } from "../layers/CrashPoint.ts"
import { type LeasedRun, Leases } from "../layers/Leases.ts"
import { MailStore } from "../layers/MailStore.ts"
import { type ProviderAnswer, Providers } from "../layers/Providers.ts"
import type { Capability } from "../schema/Capability.ts"
import * as Money from "../schema/Money.ts"
import type { Plan } from "../schema/Plan.ts"
import { charge } from "../schema/Pricing.ts"
import { failure } from "../schema/Provider.ts"
import type { Attempt, RunStatus } from "../schema/Run.ts"
import { encodeSettle, type SettleReport } from "./Commands.ts"
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
export const closeLost = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<Attempt> =>
  attempts.map((one) =>
    isOpenAttempt(one)
      ? { ...one, outcome: lost, detail: "the process that made this call died; its outcome is unknown" }
      : one
  )

interface Delivered {
  readonly status: "succeeded" | "no_match"
  readonly provider: string
  readonly charge: Money.MicroUsd
  readonly billed: boolean
  readonly output: unknown
  readonly raw: string | null
}

const attemptOf = (provider: string, said: ProviderAnswer): Attempt => {
  const { answer, duration_ms } = said
  if (answer._tag === "Match") return { provider, outcome: "succeeded", duration_ms, detail: null }
  if (answer._tag === "NoMatch") return { provider, outcome: "no_match", duration_ms, detail: answer.detail }
  return { provider, outcome: answer.reason, duration_ms, detail: answer.detail }
}

/** What the answer is worth, or null when the next provider should be asked. */
const deliveryOf = (
  capability: Capability,
  offer: CatalogOffer,
  input: unknown,
  said: ProviderAnswer
): Delivered | null => {
  const { answer, raw } = said
  if (answer._tag !== "Match" && answer._tag !== "NoMatch") return null
  const judged =
    answer._tag === "Match" ? capability.judge(answer.output) : { matched: false, results: 0, unbilled: false }
  if (judged === null) return null
  const provider = offer.provider.slug
  const output = answer._tag === "Match" ? answer.output : null
  const price = charge(offer.offer.price, capability.billing, capability.demand(input), judged)
  if (judged.matched) return { status: "succeeded", provider, charge: price, billed: true, output, raw }
  if (!capability.billing.bills_no_match) return null
  // A billed miss with an answer, such as "unknown", is an answer; without one it is a no-match that is paid for.
  return { status: output === null ? "no_match" : "succeeded", provider, charge: price, billed: true, output, raw }
}

const finalStatus = (attempts: ReadonlyArray<Attempt>): RunStatus => {
  if (attempts.some((one) => one.outcome === "no_match")) return "no_match"
  return attempts.length > 0 && attempts.every((one) => one.outcome === "provider_timeout") ? "timed_out" : "failed"
}

const resultOf = (delivered: Delivered, sandbox: boolean): string | null => {
  if (delivered.output === null || typeof delivered.output !== "object") return null
  const text = JSON.stringify(sandbox ? { ...delivered.output, sandbox: true } : delivered.output)
  return delivered.raw === null ? text : `${text.slice(0, -1)},"raw":${delivered.raw}}`
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
      const providers = yield* Providers
      const leases = yield* Leases
      const mail = yield* MailStore
      const lanes = yield* Lanes

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
        const lane = yield* patiently(mail.post({ command_id: null, org_id, run_id, tag: "Settle", payload, result }))
        yield* crashPoint("mail.after")
        yield* lanes.nudge(lane)
      })

      const settleFailure = (run: LeasedRun, plan: Plan, input: unknown, attempts: ReadonlyArray<Attempt>) => {
        const status = finalStatus(attempts)
        const capability = catalog.find(run.capability ?? "")?.capability
        return post(
          run,
          {
            lease_token: run.lease_token,
            status,
            charge: Money.zero,
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
        delivered: Delivered
      ) => {
        const { status, charge, billed, provider } = delivered
        const capability = catalog.find(run.capability ?? "")?.capability
        const error = status === "succeeded" ? null : explainFailure(status, attempts, plan)
        const hints = status === "succeeded" ? [] : hintsOf({ status, plan, attempts, capability, input })
        const report = { lease_token: run.lease_token, status, charge, billed, provider, attempts, hints, error }
        return post(run, report, status === "succeeded" ? resultOf(delivered, catalog.sandbox) : null)
      }

      const ask = (
        run: LeasedRun,
        plan: Plan,
        capability: Capability,
        offer: CatalogOffer,
        input: unknown,
        attempt: number
      ) =>
        Effect.gen(function* () {
          const began = yield* Clock.currentTimeMillis
          const { run_id } = run
          const call = { run_id, offer, capability: capability.slug, input, attempt, include_raw: plan.include_raw }
          return yield* providers.call(call).pipe(
            // A bug in an adapter costs its provider this attempt, and the run nothing.
            Effect.catchCause((cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.failCause(cause)
                : Effect.gen(function* () {
                    yield* Effect.logError(`${offer.provider.slug}: adapter failed: ${Cause.pretty(cause)}`)
                    const duration_ms = (yield* Clock.currentTimeMillis) - began
                    return {
                      answer: failure("provider_error", "the adapter could not read the answer"),
                      duration_ms,
                      raw: null
                    }
                  })
            )
          )
        })

      const execute = Effect.fnUntraced(function* (run: LeasedRun) {
        const { plan } = run
        const input: unknown = JSON.parse(run.input)
        const capability = catalog.find(run.capability ?? "")?.capability
        const made = run.attempts.filter((one) => !isOpenAttempt(one))
        // The turn that leased the run recorded its first attempt already; a claim from the queue did not.
        let recorded = run.attempts.length > made.length
        let next = made.filter((one) => one.outcome !== lost).length
        while (made.length < plan.attempts_max) {
          const provider = plan.providers[next]
          const offer = provider === undefined ? undefined : catalog.offer(run.capability ?? "", provider)
          if (provider === undefined) break
          next += 1
          if (offer === undefined || capability === undefined) {
            made.push({
              provider,
              outcome: "provider_error",
              duration_ms: 0,
              detail: "this offer is no longer in the catalog"
            })
            continue
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
          const said = yield* ask(run, plan, capability, offer, input, made.length + 1)
          yield* crashPoint("provider.after")
          made.push(attemptOf(provider, said))
          const delivered = deliveryOf(capability, offer, input, said)
          if (delivered !== null) return yield* settleDelivery(run, plan, input, made, delivered)
        }
        yield* settleFailure(run, plan, input, made)
      })

      return RunActor.of({
        execute: (run) =>
          execute(run).pipe(
            // Left `running`: when this worker's lease ends, recovery decides what may be tried again.
            Effect.catchCause((cause) => Effect.logError(`${run.run_id}: execution stopped: ${oneLine(cause)}`))
          ),
        giveUp: (run, attempts) => settleFailure(run, run.plan, JSON.parse(run.input), attempts)
      })
    })
  )
}
