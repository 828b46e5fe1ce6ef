/**
 * The rules of the wallet actor: `decide(state, command)` in microdollars, pure and total.
 *
 * The database enforces each rule a second time: no negative balance, one reserve, settle and release per run, ledger entries
 * numbered without gaps, and final runs that never change.
 */
import { zero } from "../money/Money.ts"
import type { ApprovalRules } from "../guards/Approval.ts"
import type { ContactRefusal } from "../guards/ContactGuard.ts"
import type { OptOutRefusal } from "../guards/OptOut.ts"
import type { RepeatRefusal } from "../guards/RepeatGuard.ts"
import * as Money from "../money/Money.ts"
import type { RunStatus } from "../runs/Run.ts"
import { isFinal, isStoppable } from "../runs/Run.ts"
import { raiseBudget, raiseLabelBudget, spendGuard, topUp } from "../Steps.ts"
import { freeExceeded, type FreeUse } from "./FreeStorage.ts"
import { countedIn, exceededBy, isOfBatch, type KeyBudget, withHold, withoutHold } from "./KeyBudget.ts"
import { resetText, withZone, zoneOf, type Zones } from "../money/SpendDay.ts"
import { allowanceOf, drawn, refilled } from "./Purse.ts"

export type MicroUsd = Money.MicroUsd

/** What the operator and the referral program book. */
export const creditTypes = ["bonus", "refund"] as const
export type CreditType = (typeof creditTypes)[number]
export const entryTypes = ["reserve", "settle", "release", "topup", ...creditTypes] as const
export type EntryType = (typeof entryTypes)[number]
/** What people call them. */
export const entryWords: Readonly<Record<EntryType, string>> = {
  topup: "top-up",
  bonus: "bonus",
  refund: "refund",
  settle: "charge",
  reserve: "hold",
  release: "release"
}

export interface Wallet {
  readonly org_id: string
  readonly balance: MicroUsd
  readonly reserved: MicroUsd
  /** The part of `reserved` that allowances hold. The rest is held by runs. */
  readonly allowances_held: MicroUsd
  /** Number of the newest ledger entry. */
  readonly entry_seq: bigint
  readonly per_run_limit: MicroUsd | null
  readonly daily_limit: MicroUsd | null
  /** The day, `2026-11-21`, that `spent` counts. */
  readonly spent_day: string
  readonly spent: MicroUsd
  /** Its books do not add up, so it takes no new runs until the operator resumes it. Absent: it is not suspended. */
  readonly suspended?: boolean
  /** Absent: it counts in UTC. */
  readonly time_zones?: Zones
  /** The labels that have a budget. Absent: none has. */
  readonly budget_labels?: ReadonlyArray<string>
  /** The rules that say which runs need an approval. Absent: there are none. */
  readonly approval_rules?: ApprovalRules
}

export const available = (wallet: Wallet): MicroUsd => Money.minus(wallet.balance, wallet.reserved)
/** A day before that of the newest charge is a clock that goes back. */
export const spentOn = (wallet: Wallet, day: string): MicroUsd => (day <= wallet.spent_day ? wallet.spent : zero)

/** The part of a run that wallet decisions depend on. */
export interface WalletRun {
  readonly run_id: string
  readonly status: RunStatus
  readonly hold: MicroUsd
  /** Proof of the right to settle. Only the worker that executes the run has it. Null before. */
  readonly lease_token: string | null
  /** `routing.max_total` of the request: the hold may not be above it. Absent without one. */
  readonly hold_max?: MicroUsd
  /** For a run that may be charged nothing: what decides whether its result may be stored. Absent without a limit. */
  readonly free?: FreeUse
  /** Why a guard refuses to admit it. Absent if none does. */
  readonly guarded?: GuardRefusal
}

export interface Entry {
  readonly seq: bigint
  readonly type: EntryType
  readonly amount: MicroUsd
  readonly balance_after: MicroUsd
  readonly reserved_after: MicroUsd
  readonly run_id: string | null
  readonly reference: string
  readonly note: string | null
}

export type Command =
  | { readonly _tag: "Reserve" }
  | { readonly _tag: "Settle"; readonly lease_token: string; readonly status: RunStatus; readonly charge: MicroUsd }
  | { readonly _tag: "Cancel" }
  | {
      readonly _tag: "Credit"
      /** Top-ups are credited by their payments; see Payment.ts. */
      readonly type: CreditType
      readonly amount: MicroUsd
      readonly reference: string
      readonly note: string
    }

/** What a guard says about a run that it refuses. */
export type GuardRefusal = RepeatRefusal | ContactRefusal | OptOutRefusal

export type Refusal =
  | "insufficient_balance"
  | "wallet_suspended"
  | "cost_limit_exceeded"
  | "budget_exceeded"
  | "rate_limited"
  | GuardRefusal["code"]

/** The control of a run that its key's budget or its batch's `max_total` refused, or that nobody approved. */
export type BudgetControl = "key_budget" | "batch_max_total" | "label_budget" | "approval_rule"

export type Verdict =
  | { readonly _tag: "Admitted" }
  | {
      readonly _tag: "Refused"
      readonly code: Refusal
      readonly message: string
      readonly control: BudgetControl | null
    }
  | { readonly _tag: "Settled"; readonly charge: MicroUsd }
  | { readonly _tag: "Cancelled" }
  /** The run's status no longer allows the command, so nothing changes. */
  | { readonly _tag: "Stale"; readonly status: RunStatus | null }
  | { readonly _tag: "Credited"; readonly seq: bigint }

export interface Decision {
  readonly wallet: Wallet
  readonly entries: ReadonlyArray<Entry>
  readonly verdict: Verdict
  /** The budget of the run's API key after the command. Null without one. */
  readonly budget: KeyBudget | null
}

const unchanged = (wallet: Wallet, verdict: Verdict, budget: KeyBudget | null = null): Decision => ({
  wallet,
  entries: [],
  verdict,
  budget
})

/** A ledger entry before it has its number and balances, which depend on the wallet. */
export interface Movement {
  readonly type: EntryType
  readonly amount: MicroUsd
  readonly run_id: string | null
  readonly reference: string
  readonly note: string | null
}

/** How each type of entry changes the balance and the reserved amount. */
export const effectOf = (type: EntryType, amount: MicroUsd): { balance: MicroUsd; reserved: MicroUsd } => {
  switch (type) {
    case "reserve":
    case "release":
      return { balance: zero, reserved: Money.negate(amount) }
    case "settle":
      return { balance: amount, reserved: amount }
    case "topup":
    case "bonus":
    case "refund":
      return { balance: amount, reserved: zero }
  }
}

/** Posts movements in order. */
export const post = (
  wallet: Wallet,
  movements: ReadonlyArray<Movement>
): { wallet: Wallet; entries: ReadonlyArray<Entry> } => {
  let { balance, reserved, allowances_held, entry_seq } = wallet
  const entries = movements.map((movement): Entry => {
    const effect = effectOf(movement.type, movement.amount)
    balance = Money.plus(balance, effect.balance)
    reserved = Money.plus(reserved, effect.reserved)
    if (movement.run_id === null) allowances_held = Money.plus(allowances_held, effect.reserved)
    entry_seq += 1n
    return { ...movement, seq: entry_seq, balance_after: balance, reserved_after: reserved }
  })
  return { wallet: { ...wallet, balance, reserved, allowances_held, entry_seq }, entries }
}

interface Unfit {
  readonly message: string
  readonly control: BudgetControl
}

/** Why a hold does not fit into the budgets and the allowance that it counts in. Null if it does. */
const unfitFor = (budget: KeyBudget, amount: MicroUsd, day: string, zones: Zones | undefined): Unfit | null => {
  const allowance = allowanceOf(budget)
  if (allowance !== null && allowance.purse.state !== "open")
    return { message: "the allowance of this API key has ended; ask for another one", control: "key_budget" }
  const exceeded = exceededBy(budget, amount, day)
  if (exceeded === null) return null
  const holds = `this run holds up to $${Money.usd(amount)}; with $${Money.usd(countedIn(exceeded, day))} spent or held it would exceed`
  const limit = `$${Money.usd(exceeded.limit)}`
  if (isOfBatch(exceeded))
    return {
      message: `${holds} what its batch may spend, ${limit}; retry the blocked rows of the batch with a higher max_total`,
      control: "batch_max_total"
    }
  if (exceeded.purse !== undefined)
    return {
      message: `${holds} the allowance of this API key, ${limit} in total; ask for another one, or lower routing.max_cost`,
      control: "key_budget"
    }
  const { period, label, zone } = exceeded
  const [owner, raise] =
    label === undefined
      ? ["this API key", raiseBudget.http]
      : [`the label ${label.name} with the value "${label.value}"`, raiseLabelBudget.http]
  return {
    message: `${holds} the budget of ${owner}, ${limit} ${period === "total" ? "in total" : `per ${period}`}; ${resetText(period, zone?.zones ?? zones)}; a person can raise it with ${raise}`,
    control: label === undefined ? "key_budget" : "label_budget"
  }
}

const reserve = (wallet: Wallet, run: WalletRun, day: string, budget: KeyBudget | null): Decision => {
  if (run.status !== "created") return unchanged(wallet, { _tag: "Stale", status: run.status }, budget)
  const refuse = (code: Refusal, message: string, control: BudgetControl | null = null) =>
    unchanged(wallet, { _tag: "Refused", code, message, control }, budget)
  if (wallet.suspended === true) {
    return refuse(
      "wallet_suspended",
      "a check found that this wallet's books do not add up, so it takes no new runs; nothing was held or charged, and runs that have begun go on. GET /v1/wallet/audit says what is wrong. The operator of the service resumes the wallet"
    )
  }
  if (run.guarded !== undefined) return refuse(run.guarded.code, run.guarded.message)
  const full = run.free === undefined ? null : freeExceeded(run.free)
  if (full !== null) return refuse("rate_limited", full)
  // A free run must work with an empty wallet.
  if (run.hold === 0n) return unchanged(wallet, { _tag: "Admitted" }, budget)
  const hold = Money.usd(run.hold)
  // Planning keeps to it already. The rule is here too, so that a mistake in planning holds no more than the caller allowed.
  if (run.hold_max !== undefined && run.hold > run.hold_max) {
    return refuse(
      "cost_limit_exceeded",
      `this run would hold $${hold}, above its routing.max_total of $${Money.usd(run.hold_max)}; raise routing.max_total`
    )
  }
  if (wallet.per_run_limit !== null && run.hold > wallet.per_run_limit) {
    return refuse(
      "cost_limit_exceeded",
      `this run holds up to $${hold}, above the per-run limit of $${Money.usd(wallet.per_run_limit)}; lower it with routing.max_cost, or raise the limit at ${spendGuard.http}`
    )
  }
  // What allowances hold is not counted: their runs are.
  const today = Money.plus(spentOn(wallet, day), Money.minus(wallet.reserved, wallet.allowances_held))
  if (wallet.daily_limit !== null && Money.plus(today, run.hold) > wallet.daily_limit) {
    return refuse(
      "budget_exceeded",
      `this run holds up to $${hold}; with $${Money.usd(today)} spent or held today it would exceed the daily limit of $${Money.usd(wallet.daily_limit)}; ${resetText("day", wallet.time_zones)}, or raise it at ${spendGuard.http}`
    )
  }
  const unfit = budget === null ? null : unfitFor(budget, run.hold, day, wallet.time_zones)
  if (unfit !== null) return refuse("budget_exceeded", unfit.message, unfit.control)
  const counted = budget === null ? null : withHold(budget, run.hold, day)
  const taken = drawn(counted, run.run_id)
  const free = Money.plus(available(wallet), taken.freed)
  if (run.hold > free) {
    return refuse(
      "insufficient_balance",
      `this run holds up to $${hold} and ${free < 0n ? `$${Money.usd(Money.negate(free))} is owed after a refund or a dispute` : `$${Money.usd(free)} is available`}; top up with ${topUp.http}`
    )
  }
  const posted = post(wallet, [
    ...taken.movements,
    { type: "reserve", amount: Money.negate(run.hold), run_id: run.run_id, reference: run.run_id, note: null }
  ])
  return { ...posted, verdict: { _tag: "Admitted" }, budget: taken.budget }
}

/** Ends a hold: the charge is taken from the balance, and the rest becomes available again. */
const resolve = (
  wallet: Wallet,
  run: Pick<WalletRun, "run_id" | "hold">,
  charge: MicroUsd,
  day: string,
  { note, budget }: { readonly note: string | null; readonly budget: KeyBudget | null }
) => {
  const rest = Money.minus(run.hold, charge)
  const about = { run_id: run.run_id, reference: run.run_id, note }
  const posted = post(wallet, [
    ...(charge > 0n ? [{ ...about, type: "settle" as const, amount: Money.negate(charge) }] : []),
    ...(rest > 0n ? [{ ...about, type: "release" as const, amount: rest }] : [])
  ])
  const spent = Money.plus(spentOn(wallet, day), charge)
  const counted = budget === null ? null : withoutHold(budget, run.hold, charge, day)
  const free = available(posted.wallet)
  // A suspended wallet holds no more than before.
  const kept = refilled(counted, run.run_id, wallet.suspended === true ? Money.min(rest, free) : free)
  const refill = post(posted.wallet, kept.movements)
  return {
    entries: [...posted.entries, ...refill.entries],
    wallet: { ...refill.wallet, spent_day: day > wallet.spent_day ? day : wallet.spent_day, spent },
    budget: kept.budget
  }
}

const settle = (
  wallet: Wallet,
  run: WalletRun,
  command: Extract<Command, { _tag: "Settle" }>,
  day: string,
  budget: KeyBudget | null
): Decision => {
  if (run.status !== "running" || run.lease_token !== command.lease_token || !isFinal(command.status)) {
    return unchanged(wallet, { _tag: "Stale", status: run.status }, budget)
  }
  // Whatever a worker reports, only a delivered result is charged, and never more than the hold.
  const delivered = command.status === "succeeded" || command.status === "no_match"
  const charge = delivered ? Money.max(zero, Money.min(command.charge, run.hold)) : zero
  return { ...resolve(wallet, run, charge, day, { note: null, budget }), verdict: { _tag: "Settled", charge } }
}

const cancel = (wallet: Wallet, run: WalletRun, day: string, budget: KeyBudget | null): Decision => {
  if (!isStoppable(run.status)) return unchanged(wallet, { _tag: "Stale", status: run.status }, budget)
  // A run in status `created` has no hold in the ledger yet.
  const held = run.status === "created" ? { ...run, hold: zero } : run
  return { ...resolve(wallet, held, zero, day, { note: "cancelled", budget }), verdict: { _tag: "Cancelled" } }
}

const credit = (wallet: Wallet, command: Extract<Command, { _tag: "Credit" }>): Decision => {
  const { type, amount, reference, note } = command
  const posted = post(wallet, [{ type, amount, run_id: null, reference, note }])
  return { ...posted, verdict: { _tag: "Credited", seq: posted.wallet.entry_seq }, budget: null }
}

/** Whether `next` allows runs that `limit` refuses. */
const loosens = (limit: MicroUsd | null, next: MicroUsd | null): boolean =>
  limit !== null && (next === null || next > limit)

/** What limits the runs of a wallet. */
export type WalletLimits = Pick<Wallet, "per_run_limit" | "daily_limit" | "time_zones">

export interface LimitsChange {
  readonly per_run_limit?: MicroUsd | null
  readonly daily_limit?: MicroUsd | null
  /** A name of PostgreSQL's list. */
  readonly time_zone?: string
  /** False for an API key, because limits protect against a leaked key. */
  readonly may_loosen?: boolean
}

/**
 * The limits after a change. `LooseningRefused`: the caller may only lower limits, and would raise or remove one. `ZoneKept`: the periods that the
 * last change of the time zone has kept are not over.
 */
export const changedLimits = (
  limits: WalletLimits,
  change: LimitsChange,
  day: string,
  now_micros: bigint
): WalletLimits | "LooseningRefused" | "ZoneKept" => {
  const { per_run_limit = limits.per_run_limit, daily_limit = limits.daily_limit, may_loosen = true } = change
  const { time_zone = zoneOf(limits.time_zones) } = change
  const zones = withZone(limits.time_zones ?? [], time_zone, day, now_micros)
  const loosened =
    loosens(limits.per_run_limit, per_run_limit) ||
    loosens(limits.daily_limit, daily_limit) ||
    time_zone !== zoneOf(limits.time_zones)
  if (!may_loosen && loosened) return "LooseningRefused"
  if (zones === null) return "ZoneKept"
  return { per_run_limit, daily_limit, ...(zones.length === 0 ? {} : { time_zones: zones }) }
}

/**
 * Applies one command. `day` is that of SpendDay.ts, in the wallet's time zone. `run` is null for
 * commands without a run, and if the run does not exist. `budget` is the budget that the run counts against.
 */
export const decide = (
  wallet: Wallet,
  run: WalletRun | null,
  command: Command,
  day: string,
  budget: KeyBudget | null = null
): Decision => {
  if (command._tag === "Credit") return credit(wallet, command)
  if (run === null) return unchanged(wallet, { _tag: "Stale", status: null }, budget)
  switch (command._tag) {
    case "Reserve":
      return reserve(wallet, run, day, budget)
    case "Settle":
      return settle(wallet, run, command, day, budget)
    case "Cancel":
      return cancel(wallet, run, day, budget)
  }
}
