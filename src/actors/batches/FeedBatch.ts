/**
 * Feeds one batch under its lease: starts its rows as runs, a few at a time, and records how they end.
 *
 * It may be stopped at any point. Each row runs under an Idempotency-Key of its own, so the process that goes on joins the runs that exist.
 * The wallet's turn keeps `max_total`. Here it is kept too, so that a row waits for open rows instead of being refused.
 */
import { Clock, type Duration, Effect, Exit, Queue, Schema } from "effect"
import type { Accounts } from "../../layers/accounts/Accounts.ts"
import type { BatchFeeds, EndedRow, Feed, OpenRow } from "../../layers/batches/BatchFeeds.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import type { RunStore } from "../../layers/runs/RunStore.ts"
import type { KeyAccess } from "../../schema/accounts/KeyAccess.ts"
import { openRowsMax, refusedRowEnd, rowEndOf, rowKey } from "../../schema/batches/Batch.ts"
import { decodeRowRequest } from "../../schema/batches/RowRequest.ts"
import { type Problem, problem } from "../../schema/Errors.ts"
import { usd, MicroUsd } from "../../schema/money/Money.ts"
import { Metadata } from "../../schema/runs/Metadata.ts"
import { isStorageFull } from "../../schema/wallet/FreeStorage.ts"
import { topUp } from "../../schema/Steps.ts"
import { type Admission } from "../runs/Admission.ts"
import type { RunCaller, PlanRequest } from "../runs/RunRequests.ts"
import { revoked } from "../runs/KeyScopes.ts"
import { mayPass } from "../runs/Unavailable.ts"
import { isFinalRow, type RunRow } from "../../schema/nouns/Run.ts"

/** How long one wait for a run lasts. Another one follows. */
const waitMillis = 60_000
/** Also how soon a cancel is noticed. At least three renewals fit into a lease, so some may fail. */
const renewMillisMax = 1_000
/** Renewals after which a batch whose open rows all wait for approvals gives its place to another batch. */
const waitingRenewals = 30
/** How long a row waits that the organization's limit of open runs refused. */
const pause = "1 second"
/** How often a row is started again that failed inside the service, or whose providers are failing. */
const triesMax = 60
/** Between two tries of a row whose providers are failing. All tries outlast a provider's outage of ten minutes. */
const outagePause = "10 seconds"
/** The control of a run that the batch's budget refused. */
const spent = "batch_max_total"

const decodeMetadata = Schema.decodeUnknownSync(Schema.fromJsonString(Metadata))

export interface Feeding {
  readonly feeds: BatchFeeds["Service"]
  readonly admission: Admission["Service"]
  readonly accounts: Accounts["Service"]
  readonly runs: RunStore["Service"]
  readonly settings: { readonly orgConcurrency: number; readonly orgQueue: number; readonly leaseSeconds: number }
  /** Whether this process feeds as many batches as it may, so that one has to make room for another. */
  readonly isFull: () => boolean
  /** Cancels a run that has not started. Does nothing to another one. */
  readonly cancel: (org_id: string, run_id: string) => Effect.Effect<void>
}

type RowOutcome =
  | { readonly _tag: "Final"; readonly row: number; readonly run: RunRow }
  | { readonly _tag: "Refused"; readonly row: number; readonly refusal: Problem }
  | { readonly _tag: "Cancelled"; readonly row: number }
  /** The row was not admitted now, and is started again. */
  | { readonly _tag: "Again"; readonly row: OpenRow }

/** What is recorded of a row. Null for one that is started again. */
const endedRow = (outcome: RowOutcome, cancelling: boolean): EndedRow | null => {
  if (outcome._tag === "Again") return null
  const none = { row: outcome.row, run_id: null, charged: null, error: null }
  if (outcome._tag === "Cancelled") return { ...none, status: "cancelled" }
  if (outcome._tag === "Refused") {
    const { error } = outcome.refusal
    return { ...none, status: refusedRowEnd(error.code), error: JSON.stringify(error) }
  }
  const { run_id, charged, status, control, error_code } = outcome.run
  // A cancelled batch has nothing to spend.
  const stopped = cancelling && control === spent
  return { ...none, status: stopped ? "cancelled" : rowEndOf(status, error_code), run_id, charged }
}

const overTotal = (batch_id: string, hold: MicroUsd, max_total: bigint, charged: bigint) =>
  problem(
    "budget_exceeded",
    `This row holds up to $${usd(hold)}, and of the batch's max_total of $${usd(MicroUsd(max_total))} $${usd(MicroUsd(charged))} is spent. It was not run. Run the blocked rows again with a higher max_total: POST /v1/batches/${batch_id}/retry`,
    [{ path: "max_total", message: "is used up" }]
  )

/** For the rows after the first one that the wallet could not pay. */
const walletEmpty = (batch_id: string, row: number) =>
  problem(
    "insufficient_balance",
    `The wallet could not pay row ${row}, so the batch ended, and this row was not run. Top up with ${topUp.http}, then run the blocked rows again: POST /v1/batches/${batch_id}/retry`
  )

const retryLater = (batch_id: string) => `Run the blocked rows again then: POST /v1/batches/${batch_id}/retry`

const withRetry = (batch_id: string, { error: { code, message, details } }: Problem) =>
  problem(code, `${message} ${retryLater(batch_id)}`, details)

/** Why no further row starts after this one. Null if others may. */
const stops = (batch_id: string, one: RowOutcome, holds: ReadonlyMap<number, bigint>): Problem | null => {
  if (one._tag === "Final" && one.run.error_code === "insufficient_balance") return walletEmpty(batch_id, one.row)
  const isPriced = one._tag === "Refused" && (holds.get(one.row) ?? 0n) > 0n
  return isPriced && isStorageFull(one.refusal) ? one.refusal : null
}

const failedInside = problem(
  "internal_error",
  "The row could not be started because of an error in the service. Nothing was charged. Retry the blocked rows of the batch."
)

const planRequestOf = (feed: Feed, access: KeyAccess | null, { row, request, retries }: OpenRow): PlanRequest => {
  const { metadata, ...rest } = decodeRowRequest(request)
  const key = rowKey(feed.batch_id, row, retries)
  const caller: RunCaller = {
    org_id: feed.org_id,
    key_id: feed.key_id,
    user_id: feed.started_by,
    access,
    request_id: feed.request_id,
    idempotency_key: key,
    fingerprint: key,
    wait_millis: waitMillis,
    metadata: metadata ?? (feed.metadata === null ? null : decodeMetadata(feed.metadata)),
    batch: { budget_id: feed.budget_id, parent_id: feed.parent_id }
  }
  if (rest._tag === "Capability") return { _tag: "Capability", request: { ...caller, ...rest } }
  return { _tag: "Endpoint", request: { ...caller, ...rest, input_text: JSON.stringify(rest.input) } }
}

/** The runs of a batch that wait for an approval: they have not started, and may not for days. */
const unapprovedRuns = (cancel: (run_id: string) => Effect.Effect<void>) => {
  const waits = new Set<string>()
  const cancelled = new Set<string>()
  let renewals = 0
  return {
    see: (run: RunRow) => {
      if (isFinalRow(run) || run.approval === null) waits.delete(run.run_id)
      else waits.add(run.run_id)
    },
    /** At each renewal: whether the batch has so many open rows, and these have waited for some time. */
    areAll: (open: number): boolean => {
      renewals = open > 0 && waits.size === open ? renewals + 1 : 0
      return renewals >= waitingRenewals
    },
    /** Cancels each once, or at the next renewal if the command could not be stored. */
    cancel: Effect.suspend(() => {
      const stopped = [...waits].filter((run_id) => !cancelled.has(run_id))
      for (const run_id of stopped) cancelled.add(run_id)
      const again = (run_id: string) => Effect.sync(() => cancelled.delete(run_id))
      const one = (run_id: string) => Effect.catchCause(cancel(run_id), () => again(run_id))
      return Effect.forEach(stopped, one, { concurrency: 10, discard: true })
    })
  }
}

/** Feeds until all rows have ended, the lease is lost, or another batch needs the place. */
export const feedBatch = ({ feeds, admission, accounts, runs, settings, isFull, cancel }: Feeding, claimed: Feed) =>
  Effect.gen(function* () {
    let feed = claimed
    let { charged, status, siblings, funds } = claimed
    /** Set when a row ends that the wallet could not pay, or that is not stored without money. Then no further row starts. */
    let unpaid: Problem | null = null
    /** Set when a free row ends that the day's limit of free storage refused. Then no further free row starts. */
    let freeFull: Problem | null = null
    let [over, waiting] = [false, 0]
    /** Rows that have a run now or will have one, with what they hold. */
    const open = new Map<number, bigint>()
    let pending: Array<OpenRow> = []
    /** Rows that are started again, with the number of their tries and the reason of the last one. */
    const stuck = new Map<number, { readonly tries: number; readonly because: Problem }>()
    const outcomes = yield* Queue.unbounded<RowOutcome>()
    const unapproved = unapprovedRuns((run_id) => cancel(claimed.org_id, run_id))

    /** Waits before the row is started again. */
    const again = (row: OpenRow, because: Problem, after: Duration.Input) =>
      Effect.sleep(after).pipe(
        Effect.map((): RowOutcome => {
          stuck.set(row.row, { tries: 1 + (stuck.get(row.row)?.tries ?? 0), because })
          return { _tag: "Again", row }
        })
      )

    const untilFinal = (run: RunRow): Effect.Effect<RunRow> =>
      Effect.suspend(() => {
        unapproved.see(run)
        if (isFinalRow(run)) return Effect.succeed(run)
        return Effect.flatMap(admission.watch(run.org_id, run.run_id, waitMillis), (next) =>
          next !== null && isFinalRow(next) ? untilFinal(next) : Effect.delay(untilFinal(next ?? run), pause)
        )
      })

    /** Runs a row to its end. The run continues even if this is interrupted. */
    const runRow = (row: OpenRow, request: PlanRequest) =>
      admission.submit(request).pipe(
        Effect.flatMap(({ run }) => untilFinal(run)),
        Effect.map((run): RowOutcome => ({ _tag: "Final", row: row.row, run })),
        Effect.catch((refusal) => {
          if (mayPass(refusal)) return again(row, refusal, outagePause)
          const isStorage = isStorageFull(refusal)
          const reason = isStorage ? withRetry(feed.batch_id, refusal) : refusal
          return (!isStorage && refusal.error.code === "rate_limited") || refusal.error.code === "service_unavailable"
            ? Effect.delay(Effect.succeed<RowOutcome>({ _tag: "Again", row }), pause)
            : Effect.succeed<RowOutcome>({ _tag: "Refused", row: row.row, refusal: reason })
        })
      )

    const start = (row: OpenRow, hold: bigint, work: Effect.Effect<RowOutcome>) => {
      open.set(row.row, hold)
      return work.pipe(
        Effect.exit,
        Effect.flatMap((exit) =>
          // The row is started again, and joins its run if there is one.
          Exit.isSuccess(exit)
            ? Effect.succeed(exit.value)
            : logFailure(`Row ${row.row} of ${feed.batch_id} failed; starting it again`)(exit.cause).pipe(
                Effect.andThen(again(row, failedInside, pause))
              )
        ),
        Effect.flatMap((outcome) => Queue.offer(outcomes, outcome)),
        Effect.forkScoped
      )
    }

    /** The key's rules now. `gone` if it was revoked or has expired. */
    const currentAccess = Effect.gen(function* () {
      if (feed.key_id === null) return { access: null, gone: false }
      const access = yield* accounts.access(feed.org_id, feed.key_id)
      return { access, gone: access === null }
    })

    /** Waits for the row's run, if it has one already. */
    const joinsRun = Effect.fnUntraced(function* (row: OpenRow, { request }: PlanRequest) {
      // Without the key: the run exists even if the key was revoked since.
      const run_id = yield* runs.begun({ ...request, key_id: null })
      const run = run_id === null ? null : yield* runs.find(feed.org_id, run_id)
      if (run === null) return false
      const final = Effect.map(untilFinal(run), (ended): RowOutcome => ({ _tag: "Final", row: row.row, run: ended }))
      yield* start(row, run.quoted, final)
      return true
    })

    /** A row that another process had started: its run may exist. */
    const resume = Effect.fnUntraced(function* (row: OpenRow) {
      if (!(yield* joinsRun(row, planRequestOf(feed, null, row)))) pending.push(row)
    })

    const held = () => [...open.values()].reduce((sum, hold) => sum + hold, 0n)

    const refuse = Effect.fnUntraced(function* (row: OpenRow, request: PlanRequest, refusal: Problem) {
      if (yield* joinsRun(row, request)) return true
      open.set(row.row, 0n)
      yield* Queue.offer(outcomes, { _tag: "Refused", row: row.row, refusal })
      return true
    })

    /** Starts a row. False if it has to wait for open rows. */
    const tryStart = Effect.fnUntraced(function* (row: OpenRow) {
      const { access, gone } = yield* currentAccess
      const parent_id = access?.budget_id ?? null
      if (!gone && parent_id !== feed.parent_id) {
        const budget_id = yield* feeds.rebudget(feed, parent_id)
        if (budget_id === null) return false
        feed = { ...feed, budget_id, parent_id }
      }
      const request = planRequestOf(feed, access, row)
      if (gone) return yield* refuse(row, request, revoked)
      const { tries, because } = stuck.get(row.row) ?? { tries: 0, because: failedInside }
      if (tries >= triesMax) return yield* refuse(row, request, because)
      const planned = yield* Effect.result(admission.plan(request))
      if (planned._tag === "Failure") {
        const { failure } = planned
        if (!mayPass(failure)) return yield* refuse(row, request, failure)
        yield* start(row, 0n, again(row, failure, outagePause))
        return true
      }
      const hold = planned.success.run.hold
      const { max_total } = feed
      if (hold === 0n && freeFull !== null) return yield* refuse(row, request, freeFull)
      // Open rows may leave money for this one. If none holds any, the wallet's turn decides.
      if (hold > 0n && held() > 0n && held() + hold > funds) return false
      if (max_total !== null && charged + held() + hold > max_total) {
        if (open.size > 0) return false
        return yield* refuse(row, request, overTotal(feed.batch_id, MicroUsd(hold), max_total, charged))
      }
      yield* start(row, hold, runRow(row, request))
      return true
    })

    const record = Effect.fnUntraced(function* (done: ReadonlyArray<RowOutcome>) {
      // The batch may have been cancelled meanwhile.
      if (done.some((one) => one._tag === "Final" && one.run.control === spent)) yield* renewal
      const stop = done.flatMap((one) => stops(feed.batch_id, one, open) ?? [])[0]
      if (stop !== undefined && unpaid === null) {
        unpaid = stop
        // Before that row's end is recorded, so that a process that takes over finds the same end.
        yield* feeds.blockRest(feed, JSON.stringify(unpaid.error))
      }
      for (const one of done)
        if (one._tag === "Refused" && isStorageFull(one.refusal)) freeFull = one.refusal
        else if (one._tag === "Final" && one.run.error_code === "rate_limited")
          freeFull = problem("rate_limited", `${one.run.error_message ?? ""}. ${retryLater(feed.batch_id)}`)
      const ended = done.flatMap((one) => endedRow(one, status === "cancelling") ?? [])
      if (ended.length > 0) {
        yield* crashPoint("batch.row_ended")
        yield* feeds.ended(feed, ended)
        yield* crashPoint("batch.row_recorded")
      }
      for (const one of ended) {
        charged += one.charged ?? 0n
        funds -= one.charged ?? 0n
        open.delete(one.row)
        stuck.delete(one.row)
      }
      for (const one of done) {
        if (one._tag !== "Again") continue
        open.delete(one.row.row)
        pending.unshift(one.row)
      }
    })

    const renewal = Effect.gen(function* () {
      const renewed = yield* feeds.renew(feed)
      if (renewed === null) over = true
      else ({ status, siblings, waiting, funds } = renewed)
      // Whoever feeds it next joins the runs that wait.
      if (unapproved.areAll(open.size) && waiting > 0 && isFull()) over = true
      if (status === "cancelling") yield* Effect.forkScoped(unapproved.cancel)
    }).pipe(Effect.catchCause(logFailure(`Renewing the lease of ${feed.batch_id} failed; the next renewal retries`)))

    /** Starts as many rows as may be open. */
    const fill = Effect.gen(function* () {
      const refusal = unpaid
      if (status === "cancelling" || refusal !== null) {
        const rows = pending
        pending = []
        // A row that is started again may have a run.
        for (const row of rows)
          if (!(yield* joinsRun(row, planRequestOf(feed, null, row))))
            yield* Queue.offer(
              outcomes,
              status === "cancelling" || refusal === null
                ? { _tag: "Cancelled", row: row.row }
                : { _tag: "Refused", row: row.row, refusal }
            )
        return
      }
      const most = openRowsMax(settings, siblings)
      while (open.size < most) {
        const [first] = pending
        if (first === undefined) {
          if (waiting > 0 && isFull()) return
          pending = [...(yield* feeds.next(feed, most - open.size))]
          if (pending.length === 0) return
          yield* crashPoint("batch.rows_taken")
        } else {
          if (!(yield* tryStart(first))) return
          pending.shift()
        }
      }
    })

    yield* crashPoint("batch.claimed")
    for (const row of yield* feeds.begun(feed)) yield* resume(row)
    let renewedAt = yield* Clock.currentTimeMillis
    for (;;) {
      yield* fill
      if (open.size === 0 && pending.length === 0 && (yield* Queue.size(outcomes)) === 0) {
        yield* crashPoint("batch.before_finish")
        yield* feeds.finish(feed)
        yield* crashPoint("batch.after_finish")
        return
      }
      const done = yield* Queue.takeAll(outcomes).pipe(Effect.timeoutOption(pause))
      if (done._tag === "Some") yield* record(done.value)
      const now = yield* Clock.currentTimeMillis
      if (now - renewedAt >= Math.min(renewMillisMax, (settings.leaseSeconds * 1_000) / 3)) {
        renewedAt = now
        yield* renewal
      }
      if (over) return
    }
  }).pipe(Effect.scoped, Effect.ensuring(feeds.release(claimed)))
