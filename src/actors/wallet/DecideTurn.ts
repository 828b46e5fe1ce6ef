/**
 * Decides a turn: applies its commands in order to wallets and runs, each on the result of the one before.
 *
 * Pure except for new ids and slots, so tests can check every decision of a turn without a database.
 */
import type { LeasedRun } from "../../layers/runs/Leases.ts"
import type { RunLoss } from "../../layers/ledger/Turn.ts"
import type { AdmittedRun, EndedRun, TurnCommand, TurnEffects, TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { walletDay } from "../../layers/ledger/Turn.ts"
import type { Reusable } from "../../schema/guards/Reuse.ts"
import { storableJson, storableText } from "../../schema/json/StorableText.ts"
import { nextStep, startedAttempt } from "../../schema/accounts/OwnAccount.ts"
import type { RunStatus } from "../../schema/runs/Run.ts"
import { type Claimant, noShare } from "../../schema/runs/Slots.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import {
  available,
  type Command,
  type Decision,
  decide,
  type Entry,
  type MicroUsd,
  type Verdict,
  type Wallet
} from "../../schema/wallet/Wallet.ts"
import { decodeCommand } from "../mailbox/Commands.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import { allowanceCommand } from "../../schema/wallet/AllowanceCommand.ts"
import { decideAllowance } from "./DecideAllowance.ts"
import { decidePayments } from "./DecidePayments.ts"
import { unapproved } from "../../schema/guards/Approval.ts"
import { turnApprovals } from "./TurnApprovals.ts"
import { turnBudgets } from "./TurnBudgets.ts"
import { turnGuards } from "./TurnGuards.ts"
import { turnReports } from "./TurnReports.ts"
import { type Ending, sharedEnding, turnReuse } from "./TurnReuse.ts"

export interface TurnAnswer {
  /** Number of stored commands applied. */
  readonly taken: number
  /** Whether the lane may hold further commands. */
  readonly more: boolean
  /** Runs that the turn leased to this process, which must start them. */
  readonly started: ReadonlyArray<LeasedRun>
  /** The organization of each run that waits in the queue for a free slot. */
  readonly queued: ReadonlyArray<string>
  /** Runs that ended. */
  readonly ended: ReadonlyArray<EndedRun>
  /** Ended runs that cost more than they charged. */
  readonly losses: ReadonlyArray<RunLoss>
  /** Whether the turn decided on an automatic charge, which PaymentWorker must make. */
  readonly charges: boolean
  /** Events whose amount or currency does not match their payment. The operator should investigate them. */
  readonly mismatches: ReadonlyArray<string>
  /** Ids of runs that became final and of commands that were answered. */
  readonly signals: ReadonlyArray<string>
  /** Organizations whose wallets the turn wrote. */
  readonly orgs: ReadonlyArray<string>
  /** What the organizations of the ended runs may spend after the turn. */
  readonly available: ReadonlyMap<string, MicroUsd>
  /** The turn's time, by the database's clock. */
  readonly at: Date
  /** Whether the turn took direct commands of this process. */
  readonly direct: boolean
  /** Whether runs wait for the next turn to decide on them again. */
  readonly requeued: boolean
}

export interface Room {
  readonly workerId: string
  /** Takes a slot for a run. False when the run must wait in the queue. */
  readonly tryTake: (run_id: string, claimant: Claimant) => boolean
}

const plain = {
  charged: null,
  provider_cost: null,
  provider: null,
  attempts: null,
  hints: null,
  error_code: null,
  error_message: null,
  control: null,
  result_of: null,
  result: null
}

const alreadyCredited = (wallet: Wallet): Decision => ({
  wallet,
  entries: [],
  verdict: { _tag: "Credited", seq: wallet.entry_seq },
  budget: null
})

type Failure = Pick<EndedRun, "error_code" | "error_message"> & Partial<Pick<EndedRun, "control">>

const replyOf = (verdict: Verdict, txn_id: string | null) =>
  verdict._tag === "Stale"
    ? { verdict: "Stale", status: verdict.status }
    : { verdict: verdict._tag, transaction_id: txn_id }

/** What a lease says of the run itself. */
const leasedPart = ({ org_id, run_id, capability, endpoint, budget_id, key_id, input_hash, hold, input }: TurnRun) => ({
  ...{ org_id, run_id, capability, endpoint, hold, input },
  ...{ budget_id, key_id, input_hash }
})

const nothingToReuse: Failure = {
  error_code: "no_match",
  error_message:
    "no result of this input can be reused, and reuse.mode only buys none; a run with reuse.mode prefer buys one"
}

/** A run that takes the result of an earlier one. */
const reusedEnding = ({ run_id, provider, charged, result }: Reusable): Ending => ({
  ...plain,
  status: "succeeded",
  charged: 0n,
  provider,
  attempts: "[]",
  result: result ?? null,
  reuse: { reused_from: run_id, copies: result === undefined ? run_id : null, shares: null, saved: charged }
})

const mismatchesOf = ({ payments }: Pick<TurnEffects, "payments">): ReadonlyArray<string> =>
  payments.events.flatMap((event) =>
    event.outcome === "mismatch" ? [`${event.event_id} does not fit ${event.payment_id} of ${event.org_id}`] : []
  )

/** What the organizations of the ended runs may spend. */
const availableTo = (
  ended: ReadonlyArray<EndedRun>,
  walletOf: (org_id: string) => Wallet | undefined
): ReadonlyMap<string, MicroUsd> =>
  new Map(
    ended.flatMap(({ org_id }) => {
      const wallet = walletOf(org_id)
      return wallet === undefined ? [] : [[org_id, available(wallet)] as const]
    })
  )

/** Decides on the wallet's day. */
const decideOn = (view: TurnView, wallet: Wallet, run: TurnRun | null, command: Command, budget: KeyBudget | null) =>
  decide(wallet, run, command, walletDay(view, wallet.org_id), budget)

/** Creates new ids. */
export interface Names {
  readonly txn_id: () => string
  readonly payment_id: () => string
  readonly token: () => string
}

/** Its organization is being copied to another cell. A stored command waits. Who sent one directly asks again, there or here, as after the move. */
const isFenced = ({ wallets }: TurnView, { id, org_id }: TurnCommand) => {
  const wallet = wallets.get(org_id)
  return wallet === undefined ? id === null : wallet.moving === "fenced"
}

const noWallet = ({ org_id }: TurnCommand): never => {
  throw new Error(`A command names ${org_id}, which has no wallet.`)
}

export const decideTurn = (view: TurnView, room: Room, names: Names) => {
  const wallets = new Map<string, Wallet>()
  const runs = new Map<string, TurnRun>()
  const endings = new Map<string, EndedRun>()
  const openings = new Map<string, AdmittedRun>()
  const closed: Array<TurnEffects["closed"][number]> = []
  const entries: Array<TurnEffects["entries"][number]> = []
  const replies: Array<TurnEffects["replies"][number]> = []
  const started = new Map<string, LeasedRun>()
  const signals: Array<string> = []
  const [payments, approvals] = [decidePayments(view, names.payment_id), turnApprovals(view)]
  const queued: Array<string> = []
  const [budgets, guards, reuse, reports] = [turnBudgets(view), turnGuards(view), turnReuse(view), turnReports()]

  const open = (run: TurnRun) => {
    const rule = approvals.opened(run)
    const [free_bytes, label_budgets] = [guards.admitted(run, rule?.expires_after ?? null), budgets.labelsOf(run)]
    // Others do not wait for a run that may never start.
    if (rule === null) reuse.claim(run)
    const plan = run.plan()
    const step = nextStep(plan, []) ?? { provider: "", own: false }
    const { provider } = step
    const share = step.own ? noShare : provider
    const mine =
      rule === null && room.tryTake(run.run_id, { org_id: run.org_id, provider: share, free: run.hold === 0n })
    const lease_token = mine ? names.token() : null
    const attempts = mine ? [startedAttempt(step)] : []
    openings.set(run.run_id, {
      run_id: run.run_id,
      org_id: run.org_id,
      hold: run.hold,
      free_bytes,
      state: mine ? "running" : rule === null ? "queued" : "waiting",
      provider,
      side_effect: plan.side_effect,
      worker_id: mine ? room.workerId : null,
      lease_token,
      attempts: JSON.stringify(attempts),
      label_budgets
    })
    const status = mine ? "running" : "queued"
    runs.set(run.run_id, { ...run, status, lease_token, label_budgets, waits: rule !== null })
    // Its client need not wait longer to learn that somebody must be asked.
    if (rule !== null) signals.push(run.run_id)
    else if (lease_token === null) queued.push(run.org_id)
    else started.set(run.run_id, { ...leasedPart(run), label_budgets, plan, lease_token, attempts, job: null })
  }

  const end = (run: TurnRun, ending: Ending) => {
    const { org_id, run_id, capability, lease_token } = run
    endings.set(run_id, { ...ending, org_id, run_id, capability, lease_token })
    runs.set(run.run_id, { ...run, status: ending.status })
    guards.ended(run, ending)
    approvals.ended(run)
    signals.push(run.run_id)
    // A run opened in this turn was never written, and a run in status `created` has no hold or lease to close.
    if (!openings.delete(run.run_id) && run.status !== "created")
      closed.push({ org_id: run.org_id, run_id: run.run_id, lease_token: run.lease_token })
    started.delete(run.run_id)
    for (const { run: waiting, ends } of reuse.ended(run, ending)) {
      if (endings.has(waiting.run_id)) continue
      // The run that it waited for never ran, or its end is not for this one.
      if (ending.status === "cancelled" || !ends) reuse.again(waiting)
      else copy(waiting, ending.stored_bytes ?? 0, sharedEnding(run_id, ending))
    }
  }

  /** Ends a run with the copy of a result, if it may be stored. */
  const copy = (run: TurnRun, bytes: number, ending: Ending) => {
    const full = bytes === 0 ? null : guards.copied(run, bytes)
    if (full === null) end(run, ending)
    else fail(run, "blocked", { error_code: "rate_limited", error_message: full })
  }

  /** Decides a run that needs no purchase. False if it has to buy. */
  const reused = (run: TurnRun, wallet: Wallet): boolean => {
    const decision = reuse.decide(run)
    if (decision === null || decision._tag === "Buys") return false
    // Nothing moves, but the write fails when another turn changed the wallet meanwhile.
    wallets.set(run.org_id, wallet)
    if (decision._tag === "Joined") reuse.join(run, decision.buyer)
    else if (decision._tag === "Later") reuse.again(run)
    else if (decision._tag === "Missing") fail(run, "no_match", nothingToReuse)
    else copy(run, decision.from.bytes, reusedEnding(decision.from))
    return true
  }

  const fail = (run: TurnRun, status: RunStatus, why: Failure) => {
    guards.refused(run, why.error_code)
    end(run, { ...plain, ...why, status })
  }

  const settle = (mail: TurnCommand, run: TurnRun, report: SettleReport, charge: bigint) => {
    reports.settled(run, report, charge)
    const { stored_bytes } = report
    if (charge === 0n) guards.stored(run, stored_bytes)
    const delivered = report.status === "succeeded" || (report.status === "no_match" && report.billed)
    end(run, {
      status: report.status,
      charged: delivered ? charge : null,
      provider_cost: report.provider_cost ?? null,
      provider: report.provider,
      // The client's answer has these texts too, so they are made storable here.
      attempts: storableJson(JSON.stringify(report.attempts)),
      hints: storableJson(JSON.stringify(report.hints)),
      error_code: report.error?.code ?? null,
      error_message: report.error === null ? null : storableText(report.error.message),
      control: null,
      result_of: mail.id,
      result: mail.result,
      ...(stored_bytes === undefined ? {} : { stored_bytes })
    })
  }

  const applyToRun = (mail: TurnCommand, run: TurnRun, report: SettleReport | null, verdict: Verdict) => {
    if (verdict._tag === "Admitted") open(run)
    else if (verdict._tag === "Refused") {
      const { code: error_code, message: error_message, control } = verdict
      const status = error_code === "insufficient_balance" ? "failed" : "blocked"
      if (control === "key_budget" || control === "label_budget") budgets.refuse(run, control)
      fail(run, status, { error_code, error_message, control })
    } else if (verdict._tag === "Settled" && report !== null) settle(mail, run, report, verdict.charge)
    else if (verdict._tag === "Cancelled")
      fail(run, "cancelled", { error_code: "cancelled", error_message: "the run was cancelled before it started" })
  }

  const book = (org_id: string, newEntries: ReadonlyArray<Entry>) => {
    const posted = newEntries.map((entry) => ({ ...entry, org_id, txn_id: names.txn_id() }))
    entries.push(...posted)
    return posted
  }

  const answer = (mail: TurnCommand, reply: object) => {
    if (mail.command_id === null) return
    replies.push({ command_id: mail.command_id, reply: JSON.stringify(reply) })
    signals.push(mail.command_id)
  }

  const special = (mail: TurnCommand, wallet: Wallet, run: TurnRun | null) => {
    if (mail.tag === "Approval") {
      wallets.set(mail.org_id, wallet)
      if (run === null) return answer(mail, { verdict: "Refused", status: "decided" })
      const said = approvals.decide(mail, run)
      if (said._tag === "Refused") return answer(mail, { verdict: "Refused", status: said.why })
      const { state, rule_name } = said
      if (state === "approved") {
        runs.set(run.run_id, { ...run, waits: false })
        queued.push(run.org_id)
      } else {
        // It returns its hold as a cancelled run does.
        const counted = budgets.of(run)
        const decision = decideOn(view, wallet, run, { _tag: "Cancel" }, counted)
        wallets.set(mail.org_id, decision.wallet)
        budgets.set(decision.budget, counted)
        book(mail.org_id, decision.entries)
        fail(run, "cancelled", { ...unapproved(state, rule_name), control: "approval_rule" })
      }
      return answer(mail, { verdict: "Decided", status: state })
    }
    const allowance = allowanceCommand(mail)
    if (allowance !== null) {
      const decided = decideAllowance(
        wallet,
        allowance.act,
        budgets.allowance(allowance.budget_id),
        walletDay(view, mail.org_id)
      )
      wallets.set(mail.org_id, decided.wallet)
      for (const [after, before] of decided.budgets) budgets.set(after, before)
      const [first] = book(mail.org_id, decided.entries)
      return answer(mail, { ...decided.reply, transaction_id: first?.txn_id ?? null })
    }
    if (mail.tag === "AutoTopup") {
      payments.setAuto(mail)
      wallets.set(mail.org_id, wallet)
      return answer(mail, { verdict: "applied" })
    }
    const paid = payments.pay(mail, wallet)
    wallets.set(mail.org_id, paid.wallet)
    const posted = book(mail.org_id, paid.entries)
    answer(mail, { verdict: paid.outcome, transaction_id: posted[0]?.txn_id ?? null })
  }

  const walletOf = (org_id: string) => wallets.get(org_id) ?? view.wallets.get(org_id)?.wallet
  for (const mail of view.commands) {
    if (isFenced(view, mail)) continue
    const wallet = walletOf(mail.org_id) ?? noWallet(mail)
    const { command, report } = decodeCommand(mail)
    const before = runs.get(mail.run_id ?? "") ?? view.runs.get(mail.run_id ?? "") ?? null
    if (command === null) {
      special(mail, wallet, before)
      continue
    }
    if (mail.tag === "Reserve" && before !== null && wallet.suspended !== true && reused(before, wallet)) continue
    const run = mail.tag === "Reserve" ? guards.guarded(before) : before
    const replayed =
      mail.command_id === null || command._tag !== "Credit" ? undefined : view.credited.get(mail.command_id)
    const counted = budgets.of(run)
    const decision = replayed === undefined ? decideOn(view, wallet, run, command, counted) : alreadyCredited(wallet)
    // Written even if unchanged: the write fails when another turn changed the wallet meanwhile.
    wallets.set(mail.org_id, decision.wallet)
    budgets.set(decision.budget, counted)
    const [first] = book(mail.org_id, decision.entries)
    if (run !== null) applyToRun(mail, run, report, decision.verdict)
    answer(mail, replyOf(decision.verdict, replayed ?? first?.txn_id ?? null))
  }
  payments.charge(wallets)

  const effects: TurnEffects = {
    wallets: [...wallets.values()],
    entries,
    ended: [...endings.values()],
    opened: [...openings.values()],
    closed,
    replies,
    ...reports.effects(),
    payments: payments.effects(),
    ...{ ...budgets.effects(), ...guards.effects(), reuse: reuse.effects(), approvals: approvals.effects() }
  }
  const outcome: Omit<TurnAnswer, "more" | "direct" | "orgs" | "at"> = {
    taken: view.commands.filter((mail) => mail.id !== null && !isFenced(view, mail)).length,
    started: [...started.values()],
    queued,
    ...{ ended: effects.ended, losses: effects.records.losses, requeued: effects.reuse.again.length > 0 },
    ...{ available: availableTo(effects.ended, walletOf), charges: effects.payments.charges.length > 0 },
    mismatches: mismatchesOf(effects),
    signals
  }
  return { effects, answer: outcome }
}
