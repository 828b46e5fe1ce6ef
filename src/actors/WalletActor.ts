/**
 * The wallet actor: one turn takes a lane's mail, decides every command in order and commits all of it at once.
 *
 * Pure deciding in between two statements: nothing slow happens inside a turn, above all no provider call. A run that is
 * admitted while this process has room is leased to it in the same commit; otherwise it waits in the queue.
 */
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { oneLine } from "../layers/Batch.ts"
import { newId } from "../layers/Ids.ts"
import type { LeasedRun } from "../layers/Leases.ts"
import { type Mail, type Opening, type RunChange, TurnStore, type TurnEffects, type TurnRun, type TurnView } from "../layers/TurnStore.ts"
import { decodePlan } from "../schema/Plan.ts"
import { isFinal } from "../schema/Run.ts"
import { decide, type Entry, type Verdict, type Wallet } from "../schema/Wallet.ts"
import { decodeCommand, type SettleReport } from "./Commands.ts"
import { Executions } from "./Executions.ts"

export interface TurnAnswer {
  /** Commands applied. */
  readonly taken: number
  /** The lane may hold more. */
  readonly more: boolean
  /** Runs leased to this process by the turn: it must start them. */
  readonly started: ReadonlyArray<LeasedRun>
  /** Whether some runs were left in the queue for whoever has room. */
  readonly queued: boolean
  /** Runs that became final and commands that were answered. */
  readonly signals: ReadonlyArray<string>
}

const nothing: TurnAnswer = { taken: 0, more: false, started: [], queued: false, signals: [] }

/** Commands in one group commit: enough for every client of a busy process, few enough to stay in the milliseconds. */
const turnMax = 500
/** A command that fails alone this often is set aside. */
const parkAfter = 5

interface Room {
  readonly workerId: string
  readonly tryTake: () => boolean
}

/** Folds the mail over wallets and runs. Pure but for ids and for taking room. */
export const fold = (view: TurnView, room: Room, newId: () => string, newToken: () => string) => {
  const wallets = new Map<string, Wallet>()
  const statuses = new Map<string, TurnRun>()
  const changes = new Map<string, RunChange>()
  const openings = new Map<string, Opening>()
  const closed: Array<string> = []
  const entries: Array<Entry & { org_id: string; txn_id: string }> = []
  const replies: Array<{ command_id: string; reply: string }> = []
  const started: Array<LeasedRun> = []
  const signals: Array<string> = []
  let queued = false

  const change = (run: TurnRun, next: Omit<RunChange, "org_id" | "run_id" | "from">) => {
    const from = changes.get(run.run_id)?.from ?? view.runs.get(run.run_id)?.status ?? run.status
    changes.set(run.run_id, { ...next, org_id: run.org_id, run_id: run.run_id, from })
    statuses.set(run.run_id, { ...run, status: next.status })
    if (!isFinal(next.status)) return
    signals.push(run.run_id)
    if (!openings.delete(run.run_id)) closed.push(run.run_id)
  }
  const plain = { charged: null, provider: null, attempts: null, hints: null, error_code: null, error_message: null, result_of: null }

  const open = (run: TurnRun) => {
    const plan = decodePlan(run.plan)
    const first = { provider: plan.providers[0] ?? "", outcome: "started", duration_ms: 0, detail: null }
    const mine = room.tryTake()
    const lease_token = mine ? newToken() : null
    const attempts = mine ? [first] : []
    openings.set(run.run_id, {
      run_id: run.run_id,
      org_id: run.org_id,
      hold: run.hold,
      state: mine ? "running" : "queued",
      side_effect: plan.side_effect,
      worker_id: mine ? room.workerId : null,
      lease_token,
      attempts: JSON.stringify(attempts)
    })
    change(run, { ...plain, status: mine ? "running" : "queued", started: mine, finished: false })
    if (lease_token === null) queued = true
    else started.push({ ...run, plan, lease_token, attempts })
  }

  const refuse = (run: TurnRun, code: string, message: string) =>
    change(run, {
      ...plain,
      status: code === "insufficient_balance" ? "failed" : "blocked",
      error_code: code,
      error_message: message,
      started: false,
      finished: true
    })

  const settle = (mail: Mail, run: TurnRun, report: SettleReport, charge: bigint) => {
    const delivered = report.status === "succeeded" || (report.status === "no_match" && report.billed)
    change(run, {
      status: report.status,
      charged: delivered ? charge : null,
      provider: report.provider,
      attempts: JSON.stringify(report.attempts),
      hints: JSON.stringify(report.hints),
      error_code: report.error?.code ?? null,
      error_message: report.error?.message ?? null,
      result_of: mail.id,
      started: false,
      finished: true
    })
  }

  const carryOut = (mail: Mail, run: TurnRun | null, report: SettleReport | null, verdict: Verdict) => {
    if (run === null) return
    if (verdict._tag === "Admitted") open(run)
    else if (verdict._tag === "Refused") refuse(run, verdict.code, verdict.message)
    else if (verdict._tag === "Settled" && report !== null) settle(mail, run, report, verdict.charge)
    else if (verdict._tag === "Cancelled") {
      change(run, {
        ...plain,
        status: "cancelled",
        error_code: "cancelled",
        error_message: "the run was cancelled before it started",
        started: false,
        finished: true
      })
    }
  }

  for (const mail of view.mail) {
    const wallet = wallets.get(mail.org_id) ?? view.wallets.get(mail.org_id)
    const { command, report } = decodeCommand(mail)
    if (wallet === undefined || command === null) continue
    const run = mail.run_id === null ? null : (statuses.get(mail.run_id) ?? view.runs.get(mail.run_id) ?? null)
    const replayed = mail.command_id === null || command._tag !== "Credit" ? undefined : view.credited.get(mail.command_id)
    const lease_token = run === null ? null : (openings.get(run.run_id)?.lease_token ?? run.lease_token)
    const decision =
      replayed === undefined
        ? decide(wallet, run === null ? null : { ...run, lease_token }, command, view.day)
        : { wallet, entries: [], verdict: { _tag: "Credited" as const, seq: wallet.entry_seq } }
    if (decision.wallet !== wallet || wallets.has(mail.org_id)) wallets.set(mail.org_id, decision.wallet)
    const posted = decision.entries.map((entry) => ({ ...entry, org_id: mail.org_id, txn_id: newId() }))
    entries.push(...posted)
    carryOut(mail, run, report, decision.verdict)
    if (mail.command_id === null) continue
    const txn_id = replayed ?? posted[0]?.txn_id ?? null
    replies.push({ command_id: mail.command_id, reply: JSON.stringify(replyOf(decision.verdict, txn_id)) })
    signals.push(mail.command_id)
  }

  const effects: TurnEffects = {
    wallets: [...wallets.values()],
    entries,
    runs: [...changes.values()],
    opened: [...openings.values()],
    closed,
    replies
  }
  // A run that was opened and ended within one turn is not started.
  const living = started.filter((run) => openings.has(run.run_id))
  return { effects, answer: { taken: view.mail.length, more: view.mail.length >= turnMax, started: living, queued, signals } }
}

const replyOf = (verdict: Verdict, txn_id: string | null) =>
  verdict._tag === "Stale" ? { verdict: "Stale", status: verdict.status } : { verdict: verdict._tag, transaction_id: txn_id }

export class WalletActor extends Context.Service<
  WalletActor,
  { readonly turn: (lane: number) => Effect.Effect<TurnAnswer> }
>()("rungate/actors/WalletActor") {
  static readonly layer = Layer.effect(
    WalletActor,
    Effect.gen(function* () {
      const store = yield* TurnStore
      const executions = yield* Executions

      const attempt = (lane: number, max: number) =>
        Effect.suspend(() => {
          let taken = 0
          const room = {
            workerId: executions.workerId(),
            tryTake: () => {
              if (!executions.tryTake()) return false
              taken += 1
              return true
            }
          }
          return store
            .turn(lane, max, (view) =>
              fold(
                view,
                room,
                () => newId("txn"),
                () => crypto.randomUUID()
              )
            )
            .pipe(
              // Room taken for runs whose turn was rolled back.
              Effect.onExit((exit) =>
                Effect.sync(() => executions.giveBack(Exit.isSuccess(exit) ? taken - (exit.value?.started.length ?? 0) : taken))
              ),
              Effect.map((answer) => answer ?? nothing)
            )
        })

      /** One command at a time, so that the one that can't be applied is found and set aside after a few tries. */
      const cautiously = (lane: number, cause: Cause.Cause<never>) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`lane ${lane}: a turn failed and is tried command by command: ${oneLine(cause)}`)
          const exit = yield* Effect.exit(attempt(lane, 1))
          if (Exit.isSuccess(exit)) return { ...exit.value, more: exit.value.taken > 0 }
          const fate = yield* store.strike(lane, parkAfter, oneLine(exit.cause))
          yield* Effect.logError(`lane ${lane}: a command failed alone and was ${fate}: ${Cause.pretty(exit.cause)}`)
          return { ...nothing, more: true }
        })

      const turn = Effect.fnUntraced(function* (lane: number) {
        const exit = yield* Effect.exit(attempt(lane, turnMax))
        if (Exit.isSuccess(exit)) return exit.value
        if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
        return yield* cautiously(lane, exit.cause)
      })

      return WalletActor.of({ turn })
    })
  )
}
