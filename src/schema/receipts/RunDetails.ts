/** What a run asked for, why its providers were chosen, and what it moved in the ledger: a receipt's facts, also of a run that has not ended. */
import { Schema } from "effect"
import { OptOutMatch } from "../guards/OptOut.ts"
import * as Money from "../money/Money.ts"
import { RunStatus } from "../runs/Run.ts"
import { ChainEntry } from "./ChainEntry.ts"
import { ReceiptApproval, ReceiptBudget, ReceiptDecision } from "./Receipt.ts"
import { amountText, run_id, timeText } from "../nouns/Noun.ts"

const amountOrNull = (description: string) => Schema.NullOr(amountText).annotate({ description })

export const RunDetails = Schema.Struct({
  run_id,
  status: RunStatus,
  key_id: Schema.NullOr(Schema.String).annotate({ description: "the API key that asked; null for a session" }),
  request: Schema.NullOr(Schema.JsonObject).annotate({
    description: "the body of POST /v1/run that asks for the same again; null after the run was erased"
  }),
  decision: Schema.NullOr(ReceiptDecision.annotate({ identifier: "RunDecision" })).annotate({
    description:
      "every offer that was considered, with its price and the reason it was left out; null after the run was erased"
  }),
  opt_out: Schema.optionalKey(OptOutMatch),
  budgets: Schema.optionalKey(
    Schema.Array(ReceiptBudget).annotate({
      description: "the budgets that the run counts in: of its API key or batch, and of its labels"
    })
  ),
  billing: Schema.Struct({
    currency: Schema.Literal("USD"),
    quoted: amountText,
    held: amountOrNull("what the run held in the ledger; null if it held nothing"),
    charged: amountOrNull("null until the run ends, and for a run that delivered nothing"),
    released: amountOrNull("the part of the hold that was not charged; null until the run ends")
  }),
  approval: Schema.optionalKey(ReceiptApproval).annotate({
    description: "of a run that a rule made wait: what members said"
  }),
  ledger: Schema.Array(ChainEntry).annotate({
    description: "the run's ledger entries, oldest first, and the warranty's refund"
  }),
  created_at: timeText,
  finished_at: Schema.NullOr(timeText),
  erased_at: Schema.NullOr(timeText)
})
export type RunDetails = typeof RunDetails.Type

interface Amounts {
  readonly hold: bigint
  readonly charged: bigint | null
  readonly isFinal: boolean
}

/** What was held, and what of it was released. The entries of a charged run may have been dropped with their month. */
export const movedOf = (
  { hold, charged, isFinal }: Amounts,
  ledger: ReadonlyArray<ChainEntry>
): { readonly held: string | null; readonly released: string | null } => {
  const reserved = ledger.find(({ type }) => type === "reserve")
  const held =
    reserved !== undefined
      ? Money.negate(Money.MicroUsd(Money.signed(reserved.amount)))
      : (charged ?? 0n) > 0n
        ? Money.MicroUsd(hold)
        : null
  if (held === null) return { held: null, released: null }
  const rest = Money.minus(held, Money.MicroUsd(charged ?? 0n))
  return { held: Money.usd(held), released: isFinal ? Money.usd(rest) : null }
}
