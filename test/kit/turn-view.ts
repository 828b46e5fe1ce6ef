/**
 * Turns without a database: builds what a turn reads, decides it, and returns what it would write.
 *
 * Every default is what most tests need: one organization with $10.00, no guards, no budgets, and a free slot for every run.
 */
import { noFree } from "../../src/layers/guards/FreeTurn.ts"
import { encodeAutoTopup, encodeCredit, encodePay, encodeSettle } from "../../src/actors/mailbox/Commands.ts"
import type { AutoTopup as AutoTopupCommand, Pay } from "../../src/actors/mailbox/Commands.ts"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import { noContacts } from "../../src/layers/guards/ContactTurn.ts"
import { noOptOuts } from "../../src/layers/guards/OptOutTurn.ts"
import { noRepeats } from "../../src/layers/guards/RepeatTurn.ts"
import { noReuse } from "../../src/layers/guards/ReuseTurn.ts"
import { noBudgets } from "../../src/layers/ledger/BudgetTurn.ts"
import { noPayments } from "../../src/layers/ledger/PaymentTurn.ts"
import type { TurnCommand, TurnRun, TurnView, TurnWallet } from "../../src/layers/ledger/Turn.ts"
import { dollars, sum, zero } from "../../src/schema/money/Money.ts"
import type { Plan } from "../../src/schema/runs/Plan.ts"
import type { SettleReport } from "../../src/schema/runs/SettleReport.ts"
import type { Claimant } from "../../src/schema/runs/Slots.ts"
import { allowanceMail } from "../../src/schema/wallet/AllowanceCommand.ts"
import type { AutoTopup } from "../../src/schema/wallet/AutoTopup.ts"
import type { Wallet } from "../../src/schema/wallet/Wallet.ts"
import { planOfOne } from "./new-runs.ts"

export const org_id = "org_a"
export const day = "2026-11-25"
/** Noon of that day. */
export const now_micros = BigInt(Date.parse(`${day}T12:00:00Z`)) * 1000n

export const walletWith = (balance: string, changed: Partial<Wallet> = {}): Wallet => ({
  ...{ org_id, balance: dollars(balance), reserved: zero, allowances_held: zero, entry_seq: 0n },
  ...{ per_run_limit: null, daily_limit: null, spent_day: day, spent: zero },
  ...changed
})

/** A run that asks to be admitted and holds $1.00. `plan` is what differs from a plan with one provider. */
export const newRun = (
  run_id: string,
  { plan = {}, ...changed }: Partial<Omit<TurnRun, "plan">> & { readonly plan?: Partial<Plan> } = {}
): TurnRun => ({
  ...{ org_id, run_id, status: "created", hold: dollars("1.00"), lease_token: null },
  ...{ capability: "email.find", endpoint: null, method: null, input: "{}" },
  ...{ budget_id: null, key_id: null, input_hash: `hash of ${run_id}` },
  plan: () => ({ ...planOfOne, ...plan }),
  ...changed
})

/** A run that was admitted in an earlier turn. As there, its plan was not read. */
const admitted = (run_id: string, changed: Partial<TurnRun>): TurnRun => ({
  ...newRun(run_id),
  plan: () => {
    throw new Error(`The plan of ${run_id} was not read.`)
  },
  ...changed
})
export const queuedRun = (run_id: string, changed: Partial<TurnRun> = {}): TurnRun =>
  admitted(run_id, { status: "queued", ...changed })
export const runningRun = (run_id: string, changed: Partial<TurnRun> = {}): TurnRun =>
  admitted(run_id, { status: "running", lease_token: `lease of ${run_id}`, ...changed })

/** The wallet as a turn reads it. */
export const readWallet = (wallet: Wallet, changed: Partial<TurnWallet> = {}): TurnWallet => ({
  ...{ wallet, lane: 0, version: 1n, head: null, open_runs: 0n, free_used: 0n },
  ...changed
})

const commandOf = (tag: string, run_id: string | null, changed: Partial<TurnCommand>): TurnCommand => ({
  ...{ id: 1n, command_id: null, org_id, run_id, tag, payload: null, report: null, result: null },
  ...changed
})

export const reserve = (run_id: string, changed: Partial<TurnCommand> = {}) => commandOf("Reserve", run_id, changed)
export const cancel = (run_id: string, changed: Partial<TurnCommand> = {}) => commandOf("Cancel", run_id, changed)

/** What the worker that holds the lease of `runningRun` reports: a success that costs $0.25. */
export const reportOf = (run_id: string, changed: Partial<SettleReport> = {}): SettleReport => ({
  ...{ lease_token: `lease of ${run_id}`, status: "succeeded", charge: dollars("0.25"), billed: false },
  ...{ provider: "hunter", attempts: [], hints: [], error: null },
  ...changed
})
export const settle = (run_id: string, report: Partial<SettleReport> = {}, changed: Partial<TurnCommand> = {}) =>
  commandOf("Settle", run_id, { payload: JSON.parse(encodeSettle(reportOf(run_id, report))), ...changed })

export const credit = (amount: string, changed: Partial<TurnCommand> = {}) => {
  const payload = encodeCredit({ type: "bonus", amount: dollars(amount), reference: "ref", note: "test" })
  return commandOf("Credit", null, { payload: JSON.parse(payload), ...changed })
}
export const pay = (payment_id: string, event_id: string, fact: Pay["fact"], changed: Partial<TurnCommand> = {}) =>
  commandOf("Pay", null, { payload: JSON.parse(encodePay({ payment_id, event_id, fact })), ...changed })
export const autoTopup = (command: AutoTopupCommand, changed: Partial<TurnCommand> = {}) =>
  commandOf("AutoTopup", null, { payload: JSON.parse(encodeAutoTopup(command)), ...changed })
export const allowance = (
  act: "open" | "end",
  budget_id: string,
  held_in: string | null = null,
  changed: Partial<TurnCommand> = {}
) => {
  const { tag, run_id, payload } = allowanceMail(org_id, { act, budget_id, held_in })
  return commandOf(tag, run_id, { payload: JSON.parse(payload), ...changed })
}

/** An automatic top-up of $20.00 below $5.00, with no charge so far. */
export const autoOf = (changed: Partial<AutoTopup> = {}): AutoTopup => ({
  ...{ enabled: true, threshold: dollars("5.00"), amount: dollars("20.00"), state: "idle", failures: 0 },
  ...{ last_error: null, retry_micros: null, day, day_total: zero },
  ...changed
})

export interface Given extends Partial<Omit<TurnView, "commands" | "runs" | "wallets">> {
  readonly runs?: ReadonlyArray<TurnRun>
  /** $10.00, of which the open runs hold their part. */
  readonly wallets?: ReadonlyArray<Wallet>
  /** Free slots of this process. */
  readonly slots?: number
}

/** What a turn reads. */
export const turnView = (commands: ReadonlyArray<TurnCommand>, given: Omit<Given, "slots"> = {}): TurnView => {
  const { runs = [], ...read } = given
  const open = runs.filter(({ status }) => status === "queued" || status === "running")
  const { wallets = [walletWith("10.00", { reserved: sum(open.map(({ hold }) => hold)) })], ...others } = read
  return {
    commands,
    wallets: new Map(wallets.map((one) => [one.org_id, readWallet(one)])),
    runs: new Map(runs.map((one) => [one.run_id, one])),
    ...{ autos: new Map(), payments: noPayments, budgets: noBudgets, repeats: noRepeats, contacts: noContacts },
    ...{
      reuse: noReuse,
      approvals: new Map(),
      opt_outs: noOptOuts,
      free: noFree,
      free_limit: 0n,
      repeat_guard: 3,
      credited: new Map(),
      day,
      now_micros
    },
    auto_topup_daily_max: dollars("50.00"),
    ...others
  }
}

/** Decides a turn. Ids are `txn_1`, `pay_1` and `lease_1`, and count up. `claimants` are the runs that asked for a slot, in order. */
export const turnOf = (commands: ReadonlyArray<TurnCommand>, given: Given = {}) => {
  const { slots = Number.POSITIVE_INFINITY, ...read } = given
  const view = turnView(commands, read)
  const claimants: Array<Claimant & { readonly run_id: string }> = []
  const tryTake = (run_id: string, claimant: Claimant) => claimants.push({ run_id, ...claimant }) <= slots
  const counted = { txn: 0, pay: 0, lease: 0 }
  const next = (prefix: keyof typeof counted) => () => `${prefix}_${(counted[prefix] += 1)}`
  const names = { txn_id: next("txn"), payment_id: next("pay"), token: next("lease") }
  const { effects, answer } = decideTurn(view, { workerId: "worker_a", tryTake }, names)
  const replies = new Map<string, unknown>(effects.replies.map((one) => [one.command_id, JSON.parse(one.reply)]))
  return { effects, answer, claimants, replyTo: (command_id: string) => replies.get(command_id) }
}

/** Amounts of a wallet's entries, for short comparisons: `reserve -1.00`. */
export const booked = ({ entries }: ReturnType<typeof turnOf>["effects"]): ReadonlyArray<string> =>
  entries.map(
    ({ type, amount }) =>
      `${type} ${amount < 0n ? "-" : ""}${(Number(amount < 0n ? -amount : amount) / 1e6).toFixed(2)}`
  )
