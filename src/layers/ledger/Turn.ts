/**
 * What a turn reads, decides and writes.
 *
 * Stored commands, direct commands and remembered wallets all become one `TurnInput`. TurnRead.ts reads it, WalletMemory.ts recalls it, and
 * TurnWrite.ts writes the effects.
 */
import type { AutoTopup } from "../../schema/wallet/AutoTopup.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import type { BudgetControl, Wallet, WalletRun } from "../../schema/wallet/Wallet.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { Plan } from "../../schema/runs/Plan.ts"
import type { RunStatus } from "../../schema/runs/Run.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import type { Doubt } from "../../schema/catalog/Doubt.ts"
import type { Loss } from "../../schema/wallet/Loss.ts"
import type { ApprovalEffects, ApprovalView } from "../guards/ApprovalTurn.ts"
import type { ContactEffects, ContactView } from "../guards/ContactTurn.ts"
import type { OptedOut, OptOutView } from "../guards/OptOutTurn.ts"
import type { FreeEffects, FreeView } from "../guards/FreeTurn.ts"
import type { RepeatEffects, RepeatView } from "../guards/RepeatTurn.ts"
import type { ReuseEffects, ReuseEnd, ReuseView } from "../guards/ReuseTurn.ts"
import type { BudgetAlertWrite, BudgetView } from "./BudgetTurn.ts"
import type { Unlinked } from "./LedgerChain.ts"
import type { PaymentEffects, PaymentView } from "./PaymentTurn.ts"

/** A command that a turn applies: one of the mailbox, or a direct one. */
export interface TurnCommand {
  /** Null for a direct command, which is in no mailbox. */
  readonly id: bigint | null
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: string
  readonly payload: unknown
  /** The payload of a direct command that settles a run. */
  readonly report: SettleReport | null
  /** For a direct command: JSON text of the run's result. That of a stored command stays in the database. */
  readonly result: string | null
}

/** A run that a command of the turn names, in any status. */
export interface TurnRun extends WalletRun {
  readonly org_id: string
  /** Plan and input are read only for runs that start in this turn. */
  readonly plan: () => Plan
  readonly input: string
  readonly capability: string | null
  /** Bytes of input, plan and labels. Only for runs that the turn may refuse or cancel. */
  readonly request_bytes?: () => number
  /** A raw run's endpoint path and method; null for a capability run. */
  readonly endpoint: string | null
  readonly method: string | null
  /** The budget of its API key, fixed at admission. */
  readonly budget_id: string | null
  /** Null for a session. */
  readonly key_id: string | null
  /** Digest of target and input. Null for a run of a release that stored none. */
  readonly input_hash: string | null
  /** JSON text of its labels. Only for runs that may be admitted. */
  readonly metadata?: string | null
  /** The budgets of labels that an open run counts in. */
  readonly label_budgets?: ReadonlyArray<string> | null
  /** Whether its plan asks for reuse. Direct commands never do. */
  readonly reuses?: boolean
  /** Whether its plan has an own account of the organization. */
  readonly owns?: boolean
  /** Whether other runs may wait for its result. */
  readonly buys?: boolean
  /** Whether it waits for an approval. */
  readonly waits?: boolean
}

/** A wallet as it was before the turn, with what the write needs to prove that it still is. */
export interface TurnWallet {
  readonly wallet: Wallet
  readonly lane: number
  readonly version: bigint
  /** Hash of its newest ledger entry. Null if it has none. */
  readonly head: Uint8Array | null
  readonly open_runs: bigint
  /** Bytes that the organization has stored today at no charge. */
  readonly free_used: bigint
  /** The day of the wallet's time zone, by PostgreSQL. Absent: the turn's. */
  readonly own_day?: string
  /** Its organization moves to another cell: it takes no new runs, or nothing of it changes here any more. */
  readonly moving?: "draining" | "fenced"
}

/** The day on which a wallet of the turn counts. */
export const walletDay = ({ wallets, day }: Pick<TurnInput, "wallets" | "day">, org_id: string): string =>
  wallets.get(org_id)?.own_day ?? day

/** The commands of a turn, with the wallets and runs that they name. */
export interface TurnInput {
  readonly commands: ReadonlyArray<TurnCommand>
  /** Keyed by organization, as `autos`. */
  readonly wallets: ReadonlyMap<string, TurnWallet>
  readonly runs: ReadonlyMap<string, TurnRun>
  /** Automatic top-up settings. */
  readonly autos: ReadonlyMap<string, AutoTopup>
  /** What the repeat guard knows of the inputs of the runs that may be admitted. */
  readonly repeats: RepeatView
  /** Credit commands whose reference the ledger already has: command id to transaction id. */
  readonly credited: ReadonlyMap<string, string>
  /** The database's UTC day. */
  readonly day: string
  /** The database's time in microseconds since 1970: of this turn's entries, and of the runs that it admits or ends. */
  readonly now_micros: bigint
}

/** The input of a turn before its direct commands are sorted. */
export interface TurnRead extends TurnInput {
  /** Organization and Idempotency-Key of the direct commands whose key is in use. */
  readonly heldKeys: ReadonlySet<string>
  /** The live API keys that direct commands came with, as `liveKeyOf` writes them. */
  readonly liveKeys: ReadonlySet<string>
}

/** The input of a turn's decision. */
export interface TurnView extends TurnInput {
  /** Rows that the payment commands need. */
  readonly payments: PaymentView
  /** The budgets of API keys that the runs count against. */
  readonly budgets: BudgetView
  /** Whom the runs that may be admitted would contact, and who was contacted. */
  readonly contacts: ContactView
  /** Which of these people are on an opt-out list. */
  readonly opt_outs: OptOutView
  /** Earlier results, and runs that wait for one. */
  readonly reuse: ReuseView
  /** Of the runs about which members decide. */
  readonly approvals: ApprovalView
  /** What the free runs of organizations store, for those with a free run that may be admitted. */
  readonly free: FreeView
  /** Bytes that the free runs of an organization may store in a day. 0: any number. */
  readonly free_limit: bigint
  /** Tries of an input after which it is refused. 0: no guard. */
  readonly repeat_guard: number
  /** The most that automatic top-ups may charge a wallet in one day. */
  readonly auto_topup_daily_max: MicroUsd
}

/** A run that the turn ended, with what its row becomes. `capability` is null for a raw run. */
export interface EndedRun {
  readonly org_id: string
  readonly run_id: string
  readonly capability: string | null
  /** The lease under which the run ended; null when it never started. */
  readonly lease_token: string | null
  readonly status: RunStatus
  readonly charged: bigint | null
  /** What its providers charged us, in microdollars; null when unknown or when none was called. */
  readonly provider_cost: bigint | null
  readonly provider: string | null
  readonly attempts: string | null
  readonly hints: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  /** The control that blocked the run, where `error_code` does not say it. */
  readonly control: BudgetControl | null
  /** Id of the command whose `result` becomes the run's. The result is copied inside the database. */
  readonly result_of: bigint | null
  /** JSON text of the result when a direct command ended the run. */
  readonly result: string | null
  /** Bytes of the result, where somebody counts them. */
  readonly stored_bytes?: number
  /** Set for a run that ended without a purchase, with another run's result. */
  readonly reuse?: ReuseEnd
}

/** A run whose hold the turn reserved. It is `queued`, or already leased to this process and `running`, or waits for an approval. */
export interface AdmittedRun {
  readonly run_id: string
  readonly org_id: string
  readonly hold: bigint
  /** What it may store at no charge. Null if its result has a price. */
  readonly free_bytes: bigint | null
  readonly state: "queued" | "running" | "waiting"
  /** The provider that the run calls first. */
  readonly provider: string
  readonly side_effect: boolean
  readonly worker_id: string | null
  readonly lease_token: string | null
  readonly attempts: string
  /** The budgets of labels that it counts in. */
  readonly label_budgets?: ReadonlyArray<string>
}

/** A run that cost more than it charged. */
export interface RunLoss extends Loss {
  readonly run_id: string
  readonly org_id: string
}

/** A run whose last call has an unknown outcome: the provider may have carried it out or not. */
export interface UnknownOutcome {
  readonly run_id: string
  readonly org_id: string
  readonly provider: string
  readonly why: Doubt
  /** JSON text of the job that the call had started; null when it started none. */
  readonly provider_state: string | null
  /** Whether the provider offers a look-up of the outcome. */
  readonly look: boolean
}

/** What a turn records for operators. */
export interface TurnRecords {
  readonly losses: ReadonlyArray<RunLoss>
  readonly unknowns: ReadonlyArray<UnknownOutcome>
}

export interface TurnEffects {
  readonly wallets: ReadonlyArray<Wallet>
  readonly entries: ReadonlyArray<Unlinked>
  readonly ended: ReadonlyArray<EndedRun>
  readonly opened: ReadonlyArray<AdmittedRun>
  /** Runs whose hold and lease end, with the lease that was read. A run that has another lease by then is not closed. */
  readonly closed: ReadonlyArray<{
    readonly org_id: string
    readonly run_id: string
    readonly lease_token: string | null
  }>
  readonly replies: ReadonlyArray<{ readonly command_id: string; readonly reply: string }>
  readonly attempts: ReadonlyArray<AttemptCount>
  readonly records: TurnRecords
  readonly payments: PaymentEffects
  /** Budgets of API keys that the turn changed. */
  readonly budgets: ReadonlyArray<KeyBudget>
  /** What these budgets crossed. */
  readonly budget_alerts: ReadonlyArray<BudgetAlertWrite>
  readonly repeats: RepeatEffects
  readonly contacts: ContactEffects
  readonly opted_out: ReadonlyArray<OptedOut>
  readonly reuse: ReuseEffects
  readonly free: FreeEffects
  readonly approvals: ApprovalEffects
}

/** Attempts of the ended runs, counted by provider health bucket; see schema/runs/Health.ts. */
export interface AttemptCount {
  readonly subject: string
  readonly ok: boolean
  readonly latency_bucket: number
  readonly count: number
}
