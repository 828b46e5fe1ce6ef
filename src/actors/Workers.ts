/**
 * A worker process: takes turns of lanes, claims queued runs, renews its lease, and sweeps up after the dead.
 *
 * Everything here may be doubled, delayed or killed at any point: what is to be done stands in Postgres and is fenced there.
 */
import { Clock, Effect, Layer, Schedule } from "effect"
import { oneLine } from "../layers/postgres/Batch.ts"
import { crashPoint } from "../layers/platform/CrashPoint.ts"
import { Health } from "../layers/executor/Health.ts"
import { type LeasedRun, Leases, type LostRun } from "../layers/runs/Leases.ts"
import { MailStore } from "../layers/ledger/MailStore.ts"
import type { RunLoss } from "../layers/ledger/TurnRecords.ts"
import { laneCount, laneQueue, Queues, runsQueue } from "../layers/queues/Queues.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { Signals } from "../layers/queues/Signals.ts"
import { usd } from "../schema/money/Money.ts"
import { PaymentWorker } from "./payments/PaymentWorker.ts"
import { closeLost, notRecorded } from "./runs/Delivery.ts"
import { RunSlots } from "./runs/RunSlots.ts"
import { fairClaims } from "./runs/FairClaim.ts"
import { HistoryWorker } from "./HistoryWorker.ts"
import { Lanes } from "./mailbox/Lanes.ts"
import { LookSeconds, OutcomeLookups } from "./runs/OutcomeLookups.ts"
import { ReferralActor } from "./payments/ReferralActor.ts"
import { Waiters } from "./mailbox/Waiters.ts"
import { RunActor } from "./runs/RunActor.ts"
import { WalletActor } from "./wallet/WalletActor.ts"

/** A process holds a lane at most this long before others may have it: under load no process is left without turns. */
const holdMillis = 250
/** How long a turn waits for the runs it started. Others' mail may wait as long, so it is short. */
const lingerMillis = 4
const claimMax = 100
const sweepEvery = "1 second"
const takeOverMax = 100
/** A job whose worker dies this often is given up: maybe the job is what kills them. */
const resumesMax = 5
/** Reports of a run's end that are tried: another one would be dead-lettered like those before it. */
const deadLettersMax = 3
/** After so many seconds a wake-up is taken for lost, and after twice as many for impossible: then the turn is taken without one. */
const stuckSeconds = 4
/** A charge is made at once by the process whose turn decided on it; this is for those whose process died. */
const processPaymentsEvery = "2 seconds"
const indexEvery = "1 second"
const retainEvery = "1 hour"
const processDueEverySweeps = 15
const forgetEverySweeps = 300

/** Attempts that nothing is charged for are an ordinary cost; a price that does not cover its provider is for somebody to look at. */
const warned = ({ run_id, provider, reason, cost, charge }: RunLoss) =>
  reason === "failed_attempts"
    ? Effect.void
    : Effect.logWarning(
        `${run_id}: ${provider} reported a cost of $${usd(cost)}, and the run was charged $${usd(charge)} (${reason}); see rungate admin losses`
      )

export const Workers = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* Settings
    const queues = yield* Queues
    const signals = yield* Signals
    const leases = yield* Leases
    const mail = yield* MailStore
    const health = yield* Health
    const slots = yield* RunSlots
    const wallet = yield* WalletActor
    const runActor = yield* RunActor
    const payments = yield* PaymentWorker
    const history = yield* HistoryWorker
    const lookups = yield* OutcomeLookups
    const lookSeconds = yield* LookSeconds
    const lanes = yield* Lanes
    const referrals = yield* ReferralActor
    const waiters = yield* Waiters
    const fork = Effect.runForkWith(yield* Effect.context<never>())

    const start = (run: LeasedRun) => slots.start(run.run_id, runActor.execute(run))

    /** Turns of one lane until its mail is gone or its time is up. */
    const turnLane = (lane: number) =>
      Effect.gen(function* () {
        const state = lanes.state(lane)
        if (state.turning) {
          state.dirty = true
          return
        }
        state.turning = true
        const until = (yield* Clock.currentTimeMillis) + holdMillis
        let again = true
        yield* Effect.gen(function* () {
          while (again && (yield* Clock.currentTimeMillis) < until) {
            state.dirty = false
            const answer = yield* wallet.turn(lane)
            yield* Effect.forEach(answer.started, start, { discard: true })
            if (answer.queued.length > 0) {
              slots.queued(answer.queued)
              yield* claimSoon
            }
            if (answer.charges) fork(processDuePayments)
            for (const loss of answer.losses) yield* warned(loss)
            for (const mismatch of answer.mismatches)
              yield* Effect.logError(`${mismatch}: nothing was credited; see rungate audit and the payment processor`)
            for (const ending of answer.ended) waiters.keepEnd(ending, answer.committed_at)
            if (answer.signals.length > 0) {
              yield* crashPoint("settle.after")
              yield* signals.publish(answer.signals)
            }
            // Runs of a fast provider settle at once: staying saves the lane's way back through the queue.
            if (answer.started.length > 0 && !answer.more && !state.dirty)
              yield* lanes.awaitCommands(lane, lingerMillis)
            again = answer.more || state.dirty
          }
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              state.turning = false
            })
          )
        )
        if (again) yield* lanes.wake(lane)
      })

    let processing = false
    let processAgain = false
    /** One at a time in a process; who comes meanwhile has it look once more. */
    const processDuePayments: Effect.Effect<void> = Effect.suspend(() => {
      processAgain = true
      if (processing) return Effect.void
      processing = true
      return Effect.gen(function* () {
        while (processAgain) {
          processAgain = false
          yield* payments.processDue
        }
      }).pipe(
        Effect.catchCause((cause) => Effect.logWarning(`payments: ${oneLine(cause)}`)),
        Effect.ensuring(
          Effect.sync(() => {
            processing = false
          })
        )
      )
    })

    const claims = fairClaims(leases, slots)
    let claiming = false
    let maybeQueued = false
    /** Something changed while a round was under way: a slot became free, or a run was queued. */
    let changed = false
    /** Fills this process's slots with queued runs. One claim at a time: the second would ask for the same slots. */
    const claim = Effect.gen(function* () {
      changed = true
      if (claiming) return
      claiming = true
      yield* Effect.gen(function* () {
        while (maybeQueued && slots.room() > 0) {
          changed = false
          const { runs, queued } = yield* claims.round(claimMax)
          maybeQueued = queued || changed
          yield* Effect.forEach(runs, start, { discard: true })
          // What is left belongs to organizations and providers whose share is used up, or to another process.
          if (runs.length === 0 && !changed) break
        }
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            claiming = false
          })
        )
      )
    })
    const claimNow = Effect.suspend(() => {
      maybeQueued = true
      return claim
    })
    /** Has another process look too: its shares may have room. */
    const claimSoon = Effect.suspend(() => {
      fork(claimNow)
      return queues.wake(runsQueue)
    })
    slots.onRoom(() => {
      if (maybeQueued || slots.mayWait()) fork(claimNow)
    })

    /** A dead worker's run: what may be tried again goes back into the queue, the rest ends here. */
    const recover = (run: LostRun) =>
      Effect.gen(function* () {
        if (run.dead_letters >= deadLettersMax) {
          yield* Effect.logError(
            `${run.run_id}: ${run.dead_letters} reports of its end are dead-lettered; see rungate audit`
          )
          return
        }
        // Its provider was asked: nobody pays for a second call because the first one's answer was not recorded.
        if (run.dead_letters > 0) {
          yield* Effect.logError(`${run.run_id}: the report of its end is dead-lettered; it ends as failed`)
          return yield* runActor.giveUp(run, closeLost(run.attempts, run.side_effect, notRecorded))
        }
        if (run.job !== null && run.job.resumed < resumesMax) {
          yield* Effect.logWarning(`${run.run_id}: its worker died; its job at the provider goes on`)
          yield* leases.requeue(run, JSON.stringify(run.attempts), { ...run.job, resumed: run.job.resumed + 1 })
          return yield* claimSoon
        }
        const attempts = closeLost(run.attempts, run.side_effect)
        const exhausted = attempts.length >= run.plan.attempts_max
        yield* Effect.logWarning(
          `${run.run_id}: its worker died; ${run.side_effect || exhausted ? "it ends here" : "it is tried again"}`
        )
        if (run.side_effect || exhausted) return yield* runActor.giveUp(run, attempts)
        yield* leases.requeue(run, JSON.stringify(attempts), null)
        yield* claimSoon
      })

    /** A step that fails must not keep the others from being made. */
    const apart = (name: string, step: Effect.Effect<unknown>) =>
      Effect.catchCause(Effect.asVoid(step), (cause) => Effect.logWarning(`${name}: ${oneLine(cause)}`))

    const sweepLane = (lane: number, age_seconds: number) => {
      if (age_seconds > 2 * stuckSeconds) return turnLane(lane)
      return age_seconds > stuckSeconds ? queues.releaseStalledJob(laneQueue(lane)) : lanes.wake(lane)
    }
    const sweepLanes = Effect.flatMap(mail.backlog, (backlog) =>
      Effect.forEach(
        backlog.filter(({ lane }) => lane < laneCount),
        ({ lane, age_seconds }) => apart(`sweep of lane ${lane}`, sweepLane(lane, age_seconds)),
        { discard: true }
      )
    )
    const recoverLost = Effect.gen(function* () {
      const lost = yield* leases.takeOver(slots.workerId(), slots.running(), takeOverMax)
      yield* Effect.forEach(lost, (run) => apart(`recovery of ${run.run_id}`, recover(run)), { discard: true })
    })
    const claimQueued = Effect.gen(function* () {
      if (yield* leases.anyQueued) yield* claimNow
      else slots.listed([], true)
    })

    let sweeps = 0
    const sweep = Effect.gen(function* () {
      sweeps += 1
      yield* apart("sweep of the lanes", sweepLanes)
      yield* apart("recovery", recoverLost)
      yield* apart("claims", claimQueued)
      if (sweeps % processDueEverySweeps === 0) yield* apart("queues", queues.processDue)
      if (sweeps % forgetEverySweeps === 0) {
        yield* apart("old replies and workers", mail.forget)
        yield* apart("old measurements", health.forget)
        yield* apart("counts of open runs", leases.recount)
      }
    })

    const renew = Effect.gen(function* () {
      if (yield* leases.renew(slots.workerId(), settings.leaseSeconds)) return
      yield* Effect.logWarning("this process was away longer than its lease; others have taken over its runs")
      yield* slots.restart
    })

    const everyWhile = (effect: Effect.Effect<unknown>, every: Schedule.Schedule<unknown>, name: string) =>
      effect.pipe(
        Effect.catchCause((cause) => Effect.logWarning(`${name}: ${oneLine(cause)}`)),
        Effect.repeat(every),
        Effect.forkScoped
      )

    yield* everyWhile(renew, Schedule.spaced(`${Math.ceil((settings.leaseSeconds * 1000) / 3)} millis`), "lease")
    for (let lane = 0; lane < laneCount; lane++) yield* queues.work(laneQueue(lane), turnLane(lane))
    yield* queues.work(runsQueue, claimNow)
    yield* everyWhile(sweep, Schedule.spaced(sweepEvery), "sweeper")
    yield* everyWhile(processDuePayments, Schedule.spaced(processPaymentsEvery), "cashier")
    const reconcileEvery = Schedule.spaced(`${settings.reconcileSeconds} seconds`)
    yield* everyWhile(Effect.asVoid(payments.reconcile), reconcileEvery, "reconciler")
    yield* everyWhile(history.index, Schedule.spaced(indexEvery), "history index")
    yield* everyWhile(history.retain, Schedule.spaced(retainEvery), "retention")
    yield* everyWhile(referrals.accrue, Schedule.spaced(`${settings.referralSeconds} seconds`), "referrals")
    yield* everyWhile(lookups.look, Schedule.spaced(`${lookSeconds * 1_000} millis`), "look-ups of unknown outcomes")
    // Registered last, so it runs first: executions end while the lanes still take their settlements.
    yield* Effect.addFinalizer(() =>
      slots.drain.pipe(
        Effect.flatMap((left) =>
          left === 0 ? Effect.void : Effect.logWarning(`${left} runs were handed to other workers`)
        ),
        Effect.catchCause((cause) => Effect.logWarning(`draining: ${oneLine(cause)}`))
      )
    )
  })
)
