/** The texts of e-mails about alerts. They name amounts and the service's address, and no text of a caller. */
import { Schema } from "effect"
import type { Written } from "../accounts/AccountMail.ts"

export const alertKinds = ["wallet.low", "budget.reached", "topup.failed"] as const
export type AlertKind = (typeof alertKinds)[number]

const Low = Schema.Struct({ balance: Schema.String, available: Schema.String, low_balance: Schema.String })
const Reached = Schema.Struct({
  percent: Schema.Int,
  limit: Schema.String,
  spent: Schema.String,
  manage: Schema.String,
  resets_at: Schema.NullOr(Schema.String)
})
const Failed = Schema.Struct({ amount: Schema.String, reason: Schema.NullOr(Schema.String) })
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
      const { percent, limit, spent, manage, resets_at } = reached(data)
      const end = percent >= 100 ? "Further runs are refused" : "Runs are refused when it is used up"
      return {
        subject: `${percent} % of a spending limit is used`,
        text: lines(
          `At ${address}, $${spent} of a limit of $${limit} is spent, which is ${percent} % or more.`,
          resets_at === null ? `${end}.` : `${end}, until the limit resets at ${resets_at}.`,
          `Read or change the limit at ${manage}.`
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
