/**
 * Commands as they lie in the mailbox: JSON in both directions, money as decimal strings.
 *
 * A command that can't be read is a bug of ours; it fails its turn and is set aside instead of being guessed at.
 */
import { Schema } from "effect"
import type { Mail } from "../layers/TurnStore.ts"
import { Usd } from "../schema/Money.ts"
import { Attempt, RunError, RunStatus } from "../schema/Run.ts"
import type { Command } from "../schema/Wallet.ts"

/** What a worker reports of a run it executed. */
export const SettleReport = Schema.Struct({
  lease_token: Schema.String,
  status: RunStatus,
  charge: Usd,
  /** What the providers took, as far as they were called: also when nothing was delivered. Mail of before it was kept has none. */
  provider_cost: Schema.optionalKey(Schema.NullOr(Usd)),
  /** A no-match that the capability bills. */
  billed: Schema.Boolean,
  provider: Schema.NullOr(Schema.String),
  attempts: Schema.Array(Attempt),
  hints: Schema.Array(Schema.String),
  error: Schema.NullOr(RunError)
})
export type SettleReport = typeof SettleReport.Type

export const Credit = Schema.Struct({
  type: Schema.Literals(["topup", "bonus", "refund"]),
  amount: Usd,
  reference: Schema.String,
  note: Schema.String
})

export const SetGuard = Schema.Struct({
  per_run_limit: Schema.optionalKey(Schema.NullOr(Usd)),
  daily_limit: Schema.optionalKey(Schema.NullOr(Usd))
})

const decodeSettle = Schema.decodeUnknownSync(SettleReport)
const decodeCredit = Schema.decodeUnknownSync(Credit)
const decodeGuard = Schema.decodeUnknownSync(SetGuard)

export const encodeSettle = Schema.encodeSync(Schema.fromJsonString(SettleReport))
export const encodeCredit = Schema.encodeSync(Schema.fromJsonString(Credit))
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
    default:
      throw new Error(`unknown command ${mail.tag}`)
  }
}

/** The reply of a command, as the process that waits reads it. */
export const Reply = Schema.Struct({
  verdict: Schema.String,
  status: Schema.optionalKey(Schema.NullOr(Schema.String)),
  transaction_id: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type Reply = typeof Reply.Type
export const decodeReply = Schema.decodeUnknownSync(Reply)
