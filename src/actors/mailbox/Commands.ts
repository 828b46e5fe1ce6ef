/**
 * Codecs for commands to wallets, as the mailbox table stores them, and for their replies: JSON, with money as decimal strings.
 *
 * A command that can't be decoded is a bug in Rungate. It fails its turn and is dead-lettered after a few retries.
 */
import { Schema } from "effect"
import type { Mail } from "../../layers/ledger/TurnStore.ts"
import { Doubt } from "../../schema/catalog/Doubt.ts"
import { SignedUsd, Usd } from "../../schema/money/Money.ts"
import { PaymentFact } from "../../schema/wallet/PaymentFact.ts"
import { Attempt, RunError, RunStatus } from "../../schema/runs/Run.ts"
import type { Command } from "../../schema/wallet/Wallet.ts"

/** A worker's report on a run that it executed. */
export const SettleReport = Schema.Struct({
  lease_token: Schema.String,
  status: RunStatus,
  charge: Usd,
  /** Cost of all provider calls, also when none delivered. Absent in commands stored by older versions. */
  provider_cost: Schema.optionalKey(Schema.NullOr(Usd)),
  /** Cost that each provider reported. Absent when none reported one. */
  costs: Schema.optionalKey(
    Schema.Array(Schema.Struct({ provider: Schema.String, cost: Usd, delivering: Schema.Boolean }))
  ),
  /** Why the outcome of the last attempt is unknown, and the state of the job that it started. Absent when the outcome is known. */
  unknown: Schema.optionalKey(
    Schema.Struct({
      why: Doubt,
      provider_state: Schema.Json,
      /** The call carried the run id, so the provider can be asked about it. Absent in reports of older workers. */
      look: Schema.optionalKey(Schema.Boolean)
    })
  ),
  /** Whether the capability bills this no-match. */
  billed: Schema.Boolean,
  provider: Schema.NullOr(Schema.String),
  attempts: Schema.Array(Attempt),
  /** A sandbox run whose input names a scenario. Its attempts say nothing about a provider, so health does not count them. */
  rehearsed: Schema.optionalKey(Schema.Literal(true)),
  hints: Schema.Array(Schema.String),
  error: Schema.NullOr(RunError)
})
export type SettleReport = typeof SettleReport.Type

export const Credit = Schema.Struct({
  type: Schema.Literals(["bonus", "refund"]),
  /** Only a refund may be negative. */
  amount: SignedUsd,
  reference: Schema.String,
  note: Schema.String
})

export const SetGuard = Schema.Struct({
  per_run_limit: Schema.optionalKey(Schema.NullOr(Usd)),
  daily_limit: Schema.optionalKey(Schema.NullOr(Usd)),
  /** Whether the caller may raise or remove a limit. Commands of older versions lack this field, and may. */
  may_loosen: Schema.optionalKey(Schema.Boolean)
})

/** A fact about a payment. Each `event_id` is applied once, however often it is stored. */
export const Pay = Schema.Struct({ payment_id: Schema.String, event_id: Schema.String, fact: PaymentFact })
export type Pay = typeof Pay.Type

/** `Set` changes the automatic top-up. `Wake` checks whether its waiting time after a failed charge is over. */
export const AutoTopup = Schema.Union([
  Schema.TaggedStruct("Set", { enabled: Schema.Boolean, threshold: Usd, amount: Usd }),
  Schema.TaggedStruct("Wake", {})
])
export type AutoTopup = typeof AutoTopup.Type

const decodeSettle = Schema.decodeUnknownSync(SettleReport)
const decodeCredit = Schema.decodeUnknownSync(Credit)
const decodeGuard = Schema.decodeUnknownSync(SetGuard)
export const decodePay = Schema.decodeUnknownSync(Pay)
export const decodeAutoTopup = Schema.decodeUnknownSync(AutoTopup)

export const encodeSettle = Schema.encodeSync(Schema.fromJsonString(SettleReport))
export const encodeCredit = Schema.encodeSync(Schema.fromJsonString(Credit))
export const encodePay = Schema.encodeSync(Schema.fromJsonString(Pay))
export const encodeAutoTopup = Schema.encodeSync(Schema.fromJsonString(AutoTopup))
export const encodeGuard = Schema.encodeSync(Schema.fromJsonString(SetGuard))

export const decodeCommand = (
  mail: Mail
): { readonly command: Command | null; readonly report: SettleReport | null } => {
  switch (mail.tag) {
    case "Reserve":
    case "Cancel":
      return { command: { _tag: mail.tag }, report: null }
    case "Settle": {
      const report = decodeSettle(mail.payload)
      const { lease_token, status, charge } = report
      return { command: { _tag: "Settle", lease_token, status, charge }, report }
    }
    case "Credit":
      return { command: { _tag: "Credit", ...decodeCredit(mail.payload) }, report: null }
    case "SetGuard":
      return { command: { _tag: "SetGuard", ...decodeGuard(mail.payload) }, report: null }
    // These need more than a wallet and a run; DecidePayments.ts decides them.
    case "Pay":
    case "AutoTopup":
      return { command: null, report: null }
    default:
      throw new Error(`unknown command ${mail.tag}`)
  }
}

/** The reply to a command, as the waiting process reads it. */
export const Reply = Schema.Struct({
  verdict: Schema.String,
  status: Schema.optionalKey(Schema.NullOr(Schema.String)),
  transaction_id: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type Reply = typeof Reply.Type
export const decodeReply = Schema.decodeUnknownSync(Reply)
