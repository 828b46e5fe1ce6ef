/** The texts of e-mails about alerts. They name amounts and the service's address, and no text of a caller. */
import { Schema } from "effect"
import type { Written } from "../accounts/AccountMail.ts"
import { dollars } from "../money/Money.ts"

export const alertKinds = ["wallet.low", "budget.reached", "topup.failed", "run.approval_required"] as const
export type AlertKind = (typeof alertKinds)[number]

const Low = Schema.Struct({ balance: Schema.String, available: Schema.String, low_balance: Schema.String })
const Reached = Schema.Struct({
  percent: Schema.Int,
  limit: Schema.String,
  spent: Schema.String,
  manage: Schema.String,
  resets_at: Schema.NullOr(Schema.String),
  /** The API key whose budget it is. Absent for the daily limit. */
  key_id: Schema.optionalKey(Schema.String),
  /** The name of the label, for the budget of one of its values. */
  label: Schema.optionalKey(Schema.String)
})
const Failed = Schema.Struct({ amount: Schema.String, reason: Schema.NullOr(Schema.String) })
/** `link` is the member's own. It is put in when the e-mail is sent. */
const Waits = Schema.Struct({ run_id: Schema.String, rule: Schema.String, link: Schema.String })
const waits = Schema.decodeUnknownSync(Waits)
const low = Schema.decodeUnknownSync(Low)
const reached = Schema.decodeUnknownSync(Reached)
const failed = Schema.decodeUnknownSync(Failed)

const lines = (...parts: ReadonlyArray<string>) => `${parts.join("\n\n")}\n`

/** `data` is that of the event. */
export const alertMail = (address: string, kind: AlertKind, data: unknown): Written => {
  switch (kind) {
    case "wallet.low": {
      const { balance, available, low_balance } = low(data)
      return {
        subject: `Your balance is below $${low_balance}`,
        text: lines(
          `Your balance at ${address} is $${balance}, and $${available} of it is available. You asked to be told below $${low_balance}.`,
          "Runs are refused when the available amount is used up. Top up with POST /v1/wallet/topups/checkout or rungate topup.",
          "You will be told again when the balance has been above the threshold in between. Change the threshold with rungate spend-guard set --low-balance."
        )
      }
    }
    case "budget.reached": {
      const { percent, limit, spent, manage, resets_at, key_id, label } = reached(data)
      const owner = key_id !== undefined ? `the API key ${key_id}` : `a value of the label ${label}`
      const isBudget = key_id !== undefined || label !== undefined
      const whole = isBudget ? `$${limit}, the budget of ${owner},` : `a limit of $${limit}`
      // A refusal uses a limit up before all of it is spent.
      const isRefusal = percent >= 100 && dollars(spent) < dollars(limit)
      const used = isRefusal ? ", and the rest was too small for a run" : `, which is ${percent} % or more`
      const end = percent >= 100 ? "Further runs are refused" : "Runs are refused when it is used up"
      return {
        subject: `${percent} % of ${isBudget ? `the budget of ${key_id === undefined ? owner : "an API key"}` : "a spending limit"} is used`,
        text: lines(
          `At ${address}, $${spent} of ${whole} is spent${used}.`,
          resets_at === null ? `${end}.` : `${end}, until the limit resets at ${resets_at}.`,
          `Read or change the limit at ${manage}.`
        )
      }
    }
    case "run.approval_required": {
      const { run_id, rule, link } = waits(data)
      return {
        subject: "A run waits for your approval",
        text: lines(
          `At ${address}, the run ${run_id} waits for the yes of a member, because it matches the rule "${rule}". To see what it would do and cost, and to approve or deny it, open this link:`,
          link,
          "The link is yours alone and works once. Opening it changes nothing. Without an answer the run ends and is charged nothing."
        )
      }
    }
    case "topup.failed": {
      const { amount, reason } = failed(data)
      return {
        subject: `A top-up of $${amount} failed`,
        text: lines(
          `At ${address}, a top-up of $${amount} failed${reason === null ? "." : `: ${reason}`}`,
          "Nothing was credited. Pay with POST /v1/wallet/topups/checkout or rungate topup, which also saves the card for automatic top-ups."
        )
      }
    }
  }
}
