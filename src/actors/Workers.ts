/**
 * The background work of a worker process: turns of lanes, claims of queued runs, lease renewal, and recovery of lost runs.
 *
 * Every step may run twice, late, or be killed at any point. Postgres stores the pending work and rejects stale writes.
 */
import { Clock, Effect, Layer } from "effect"
import { logFailure } from "../layers/postgres/Batch.ts"
import { crashPoint } from "../layers/platform/CrashPoint.ts"
import { Health } from "../layers/executor/Health.ts"
import { ProviderShares } from "../layers/executor/ProviderShares.ts"
import { GuardStore } from "../layers/guards/GuardStore.ts"
import { type LeasedRun, Leases, type LostRun } from "../layers/runs/Leases.ts"
import { MailStore } from "../layers/ledger/MailStore.ts"
import type { RunLoss } from "../layers/ledger/Turn.ts"
import { laneQueue, Queues, runsQueue } from "../layers/queues/Queues.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { underway } from "../layers/platform/Underway.ts"
import { DueWork, repeatedly } from "../layers/postgres/DueWork.ts"
import { PaymentStore } from "../layers/payments/PaymentStore.ts"
import { countRun } from "../layers/observability/Meters.ts"
import { makeTendPartitions } from "../layers/postgres/partitions/Partitions.ts"
import { Signals } from "../layers/queues/Signals.ts"
import { createdMillisOf } from "../schema/Ids.ts"
import { usd } from "../schema/money/Money.ts"
import { PaymentWorker } from "./payments/PaymentWorker.ts"
import { closeLost, notRecorded } from "./runs/Delivery.ts"
import { RunSlots } from "./runs/RunSlots.ts"
import { fairClaims } from "./runs/FairClaim.ts"
import { HistoryWorker } from "./HistoryWorker.ts"
import { DirectCommands } from "./mailbox/DirectCommands.ts"
import { Lanes } from "./mailbox/Lanes.ts"
import { laneWorkers } from "./mailbox/LaneWorkers.ts"
import { LookSeconds, makeLookUps } from "./runs/OutcomeLookups.ts"
import { EventSequencer } from "./events/EventSequencer.ts"
import { makeAccrueShares } from "./payments/ReferralActor.ts"
import { Waiters } from "./mailbox/Waiters.ts"
import { RunActor } from "./runs/RunActor.ts"
import type { TurnAnswer } from "./wallet/DecideTurn.ts"
import { WalletActor } from "./wallet/WalletActor.ts"

/** A process holds a lane at most this long while another one wants it, so that under load every process gets turns. */
const holdMillis = 250
/** The same while nobody else wants it. Below the time after which the queue takes the job of a lane for one that has lost its worker. */
const aloneMillis = 1_000
/** How long a turn waits for the runs that it started while another process wants the lane. */
const awaitCommandsMillis = 4
/**
 * The same while nobody else wants the lane. A client that makes one run after the other, also in wallets of several lanes, then finds
 * it held here. A process that dies in this time keeps the lane from others until its job is released.
 */
const keepMillis = 250
const claimMax = 100
const takeOverMax = 100
/** A job whose workers died this often is not resumed again: the job may be what kills them. */
const resumesMax = 5
/** After this many dead-lettered settlements of a run no further one is tried: it would fail too. */
const deadLettersMax = 3
/** Commands older than this have lost their wake-up: the stalled job is released. After twice as long the sweeper takes the turn itself. */
const stuckSeconds = 4
const retainEvery = "1 hour"
/** Months exist long before they begin, so a call that found its tables busy has many more tries. */
const partitionsEvery = "10 minutes"
const checkQueuesEvery = "15 seconds"
const forgetEvery = "5 minutes"

/** Failed attempts are an ordinary cost. A price below the provider's cost needs the operator's attention. */
const warned = ({ run_id, provider, reason, cost, charge }: RunLoss) =>
  reason === "failed_attempts"
    ? Effect.void
    : Effect.logWarning(
        `${run_id}: ${provider} reported a cost of $${usd(cost)}, and the run was charged $${usd(charge)} (${reason}); see rungate admin losses`
      )

/** Logs what the operator should know of a turn. */
const logged = Effect.fnUntraced(function* ({ losses, mismatches }: Pick<TurnAnswer, "losses" | "mismatches">) {
  for (const loss of losses) yield* warned(loss)
  for (const mismatch of mismatches)
    yield* Effect.logError(`${mismatch}: nothing was credited; see rungate audit and the payment processor`)
})

/** Null for an id that this service has not made. Clocks of two machines may differ by a little. */
const secondsSince = (run_id: string, ended: Date): number | null => {
  const created = createdMillisOf(run_id)
  return created === null ? null : Math.max(0, ended.getTime() - created) / 1_000
}

export const Workers = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* Settings
    const queues = yield* Queues
    const signals = yield* Signals
    const leases = yield* Leases
    const mail = yield* MailStore
    const [health, guards] = [yield* Health, yield* GuardStore]
    const [slots, shares] = [yield* RunSlots, yield* ProviderShares]
    const wallet = yield* WalletActor
    const runActor = yield* RunActor
    const payments = yield* PaymentWorker
    const history = yield* HistoryWorker
    const lookUps = yield* makeLookUps
    const [lanes, direct, { whenDue }] = [yield* Lanes, yield* DirectCommands, yield* DueWork]
    const [accrueShares, tendPartitions] = [yield* makeAccrueShares, yield* makeTendPartitions]
    const [waiters, events] = [yield* Waiters, yield* EventSequencer]
    const fork = Effect.runForkWith(yield* Effect.context<never>())

    const start = (run: LeasedRun) => slots.start(run.run_id, runActor.execute(run))

    /** Takes turns of one lane until no commands come any more, or its time is up. */
    const turnLane = (lane: number) =>
      Effect.gen(function* () {
        const state = lanes.state(lane)
        if (state.turning) {
          state.dirty = true
          return
        }
        state.turning = true
        state.wanted = false
        direct.open(lane, () => state.stopWaiting?.())
        const taken = yield* Clock.currentTimeMillis
        const until = () => taken + (state.wanted ? holdMillis : aloneMillis)
        let again = true
        let broken = true
        // A wake-up says that commands were stored, so the turn after it reads the mailbox.
        let stored = true
        yield* Effect.gen(function* () {
          while (again && (yield* Clock.currentTimeMillis) < until()) {
            const mayRecall = !stored && !state.dirty
            state.dirty = false
            const answer = yield* wallet.turn(lane, mayRecall)
            stored = answer.more
            yield* Effect.forEach(answer.started, start, { discard: true })
            if (answer.queued.length > 0) yield* claimSoon
            if (answer.charges) processPayments()
            yield* logged(answer)
            for (const org_id of answer.orgs) events.touch(org_id, null)
            for (const ending of answer.ended) {
              waiters.keepEnd(ending, answer.at, answer.available.get(ending.org_id) ?? null)
              countRun(ending.capability, ending.status, secondsSince(ending.run_id, answer.at))
            }
            if (answer.signals.length > 0) {
              yield* crashPoint("settle.after")
              yield* signals.publish(answer.signals)
            }
            // Runs of a fast provider settle within milliseconds. Waiting for them saves a round trip through the queue.
            // A client that got its answer within milliseconds sends its next run as soon.
            const expecting = answer.started.length > 0 || answer.direct
            const isQuiet = () => !answer.more && !state.dirty && !direct.waiting(lane)
            if (expecting && isQuiet())
              yield* lanes.awaitCommands(lane, state.wanted ? awaitCommandsMillis : keepMillis)
            again = !isQuiet()
          }
          broken = false
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              state.turning = false
              direct.pause(lane, again && !broken)
            })
          )
        )
        if (again) yield* lanes.wake(lane)
      })

    /** The process whose turn decided on a charge makes it at once. Looks are for charges whose process died. */
    const processPayments = yield* whenDue("payments", PaymentStore.due, payments.processDue)

    const claims = fairClaims(leases, slots)
    let claiming = false
    let maybeQueued = false
    /** A slot became free or a run was queued during a claim round. */
    let changed = false
    /** Fills this process's slots with queued runs. One claim at a time, because two would compete for the same slots. */
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
          // The rest belongs to organizations and providers whose share is used up, or another process claims it.
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
    /** Claims here and wakes another process, which may have free slots. */
    const claimSoon = Effect.suspend(() => {
      fork(claimNow)
      return queues.wake(runsQueue)
    })
    slots.onRoom(() => {
      if (maybeQueued || slots.mayWait()) fork(claimNow)
    })

    /** Recovers a run of a dead worker: requeues it if it may be retried, and otherwise settles it as failed. */
    const recover = (run: LostRun) =>
      Effect.gen(function* () {
        if (run.dead_letters >= deadLettersMax) {
          yield* Effect.logError(`${run.run_id}: ${run.dead_letters} settlements are dead-lettered; see rungate audit`)
          return
        }
        // The provider was called already. A retry would pay for a second call only because the first answer was not recorded.
        if (run.dead_letters > 0) {
          yield* Effect.logError(`${run.run_id}: its settlement is dead-lettered; the run ends as failed`)
          return yield* runActor.giveUp(run, closeLost(run.attempts, run.side_effect, notRecorded))
        }
        if (run.job !== null && run.job.resumed < resumesMax) {
          yield* Effect.logWarning(`${run.run_id}: its worker died; another worker resumes its job at the provider`)
          yield* leases.requeue(run, JSON.stringify(run.attempts), { ...run.job, resumed: run.job.resumed + 1 })
          return yield* claimSoon
        }
        const attempts = closeLost(run.attempts, run.side_effect)
        const exhausted = attempts.length >= run.plan.attempts_max
        yield* Effect.logWarning(
          `${run.run_id}: its worker died; ${run.side_effect || exhausted ? "the run ends as failed" : "the run is retried"}`
        )
        if (run.side_effect || exhausted) return yield* runActor.giveUp(run, attempts)
        yield* leases.requeue(run, JSON.stringify(attempts), null)
        yield* claimSoon
      })

    /** Logs a step's failure, so that the steps after it still run. */
    const isolated = (name: string, step: Effect.Effect<unknown>) =>
      Effect.catchCause(Effect.asVoid(step), logFailure(`${name} failed; the next pass retries`))

    const sweepLane = (lane: number, age_seconds: number) => {
      if (age_seconds > 2 * stuckSeconds) return turnLane(lane)
      return age_seconds > stuckSeconds ? queues.releaseStalledJob(laneQueue(lane)) : lanes.wake(lane)
    }
    const sweepLanes = Effect.flatMap(mail.backlog, (backlog) =>
      Effect.forEach(
        backlog,
        ({ lane, age_seconds }) =>
          isolated(`sweep of lane ${lane}`, Effect.andThen(workers.serve(lane), sweepLane(lane, age_seconds))),
        { discard: true }
      )
    )
    const recoverLost = Effect.gen(function* () {
      const lost = yield* leases.takeOver(slots.workerId(), slots.running(), takeOverMax)
      yield* Effect.forEach(lost, (run) => isolated(`recovery of ${run.run_id}`, recover(run)), { discard: true })
    })
    const claimQueued = Effect.gen(function* () {
      if (yield* leases.anyQueued) yield* claimNow
      else slots.listed([], true)
    })

    const renew = Effect.gen(function* () {
      const alive = yield* leases.renew(slots.workerId(), settings.leaseSeconds)
      if (alive > 0) return yield* shares.count(alive)
      yield* Effect.logWarning("this process renewed its lease too late; other workers may have taken over its runs")
      yield* slots.restart
    })

    yield* repeatedly("lease", `${Math.ceil((settings.leaseSeconds * 1000) / 3)} millis`, renew)
    const workers = yield* laneWorkers(turnLane)
    yield* queues.work(runsQueue, claimNow)
    yield* whenDue("lane sweep", MailStore.due, sweepLanes)
    yield* whenDue("recovery of lost runs", Leases.lostDue, recoverLost)
    yield* whenDue("claim of queued runs", () => (slots.mayWait() ? "true" : Leases.queuedDue()), claimQueued)
    yield* whenDue("number of lanes", workers.behind, workers.follow)
    yield* whenDue("history index", history.indexDue, history.index)
    yield* repeatedly("queue upkeep", checkQueuesEvery, queues.processDue)
    yield* repeatedly("deletion of old replies and workers", forgetEvery, mail.forget)
    yield* repeatedly("deletion of old health measurements", forgetEvery, health.forget)
    yield* repeatedly("deletion of old tries", forgetEvery, guards.forget)
    yield* repeatedly("recount of open runs", forgetEvery, leases.recount)
    yield* repeatedly("reconciler", `${settings.reconcileSeconds} seconds`, payments.reconcile)
    yield* repeatedly("retention", retainEvery, history.retain)
    yield* repeatedly("partitions", partitionsEvery, tendPartitions)
    yield* repeatedly("referrals", `${settings.referralSeconds} seconds`, accrueShares)
    yield* repeatedly("look-ups of unknown outcomes", `${(yield* LookSeconds) * 1_000} millis`, lookUps())
    // Registered last, so it runs first: runs end while the lanes still commit their settlements. Then no turn waits for more.
    yield* Effect.addFinalizer(() =>
      slots.drain.pipe(
        Effect.flatMap((left) =>
          left === 0 ? Effect.void : Effect.logWarning(`${left} runs were handed to other workers`)
        ),
        Effect.catchCause(logFailure("Handing runs over failed; other workers take them when their leases end")),
        underway("draining runs"),
        Effect.andThen(lanes.close)
      )
    )
  })
)
