/**
 * Codecs for commands to wallets, as the mailbox table stores them, and for their replies: JSON, with money as decimal strings.
 *
 * A command that can't be decoded is a bug in Rungate. It fails its turn and is dead-lettered after a few retries.
 */
import { Schema } from "effect"
import { allowanceCommand } from "../../schema/wallet/AllowanceCommand.ts"
import type { TurnCommand } from "../../layers/ledger/Turn.ts"
import { Actor } from "../../schema/accounts/Actor.ts"
import { SignedUsd, Usd } from "../../schema/money/Money.ts"
import { PaymentFact } from "../../schema/wallet/PaymentFact.ts"
import { SettleReport } from "../../schema/runs/SettleReport.ts"
import { type Command, creditTypes } from "../../schema/wallet/Wallet.ts"

/** Who sent the command. The database reads it for the audit log (`audit_command`), and turns ignore it. */
const ofActor = { actor: Schema.optionalKey(Actor) }

export const Credit = Schema.Struct({
  type: Schema.Literals(creditTypes),
  /** Only a refund may be negative. */
  amount: SignedUsd,
  reference: Schema.String,
  note: Schema.String,
  ...ofActor
})

/** A fact about a payment. Each `event_id` is applied once, however often it is stored. */
export const Pay = Schema.Struct({ payment_id: Schema.String, event_id: Schema.String, fact: PaymentFact })
export type Pay = typeof Pay.Type

/** `Set` changes the automatic top-up. `Wake` checks whether its waiting time after a failed charge is over. */
export const AutoTopup = Schema.Union([
  Schema.TaggedStruct("Set", { enabled: Schema.Boolean, threshold: Usd, amount: Usd, ...ofActor }),
  Schema.TaggedStruct("Wake", {})
])
export type AutoTopup = typeof AutoTopup.Type

const decodeSettle = Schema.decodeUnknownSync(SettleReport)
const decodeCredit = Schema.decodeUnknownSync(Credit)
export const decodePay = Schema.decodeUnknownSync(Pay)
export const decodeAutoTopup = Schema.decodeUnknownSync(AutoTopup)

export const encodeSettle = Schema.encodeSync(Schema.fromJsonString(SettleReport))
export const encodeCredit = Schema.encodeSync(Schema.fromJsonString(Credit))
export const encodePay = Schema.encodeSync(Schema.fromJsonString(Pay))
export const encodeAutoTopup = Schema.encodeSync(Schema.fromJsonString(AutoTopup))

export const decodeCommand = (
  mail: TurnCommand
): { readonly command: Command | null; readonly report: SettleReport | null } => {
  switch (mail.tag) {
    case "Reserve":
      return { command: { _tag: mail.tag }, report: null }
    case "Cancel":
      if (allowanceCommand(mail) !== null) return { command: null, report: null }
      return { command: { _tag: mail.tag }, report: null }
    case "Settle": {
      const report = mail.report ?? decodeSettle(mail.payload)
      const { lease_token, status, charge } = report
      return { command: { _tag: "Settle", lease_token, status, charge }, report }
    }
    case "Credit":
      return { command: { _tag: "Credit", ...decodeCredit(mail.payload) }, report: null }
    // These need more than a wallet and a run; DecidePayments.ts and TurnApprovals.ts decide them.
    case "Pay":
    case "AutoTopup":
    case "Approval":
      return { command: null, report: null }
    default:
      throw new Error(`unknown command ${mail.tag}`)
  }
}

/** The reply to a command, as the waiting process reads it. */
export const Reply = Schema.Struct({
  verdict: Schema.String,
  status: Schema.optionalKey(Schema.NullOr(Schema.String)),
  transaction_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** Why an allowance was refused. */
  message: Schema.optionalKey(Schema.String)
})
export type Reply = typeof Reply.Type
export const decodeReply = Schema.decodeUnknownSync(Reply)
