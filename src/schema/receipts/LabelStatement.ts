/**
 * A statement of the runs with one label's value that ended in a period: what they held, were charged and got back, and a digest of their ledger
 * entries. With their receipts, its holder proves that no run is missing, added or changed. Pure.
 */
import { Schema } from "effect"
import * as Money from "../money/Money.ts"
import { amountText, timeText } from "../nouns/Noun.ts"
import { ChainEntry } from "./ChainEntry.ts"
import type { Receipt } from "./Receipt.ts"
import { type Check, checksOf, failed, isHashed, ok, type Sha256, sumOf } from "./Verification.ts"

const text = Schema.String

export const statementSums = ["held", "charged", "released", "refunded"] as const
/** What is said of ledger entries together. */
export const sums = { held: amountText, charged: amountText, released: amountText, refunded: amountText }

export const StatementFacts = Schema.Struct({
  label: text,
  value: text,
  period: text.annotate({ description: "a month or a day of the time zone" }),
  time_zone: text,
  from: timeText,
  to: timeText,
  as_of: Schema.Int.annotate({ description: "the number of the newest ledger entry that was counted" }),
  runs: Schema.Int,
  ...sums,
  entries: Schema.Int,
  digest: text.annotate({ description: "SHA-256 of the hashes of the entries, oldest first" })
})
export type StatementFacts = typeof StatementFacts.Type

export const LabelStatement = Schema.Struct({
  iss: text,
  iat: Schema.Int,
  org_id: text,
  currency: Schema.Literal("USD"),
  ...StatementFacts.fields,
  /** The entries of the warranty's refunds. A receipt has none. */
  refunds: Schema.Array(ChainEntry)
})
export type LabelStatement = typeof LabelStatement.Type

/** What a run's or a statement's entries sum up to, each as an amount above zero. */
export const sumsOf = (entries: ReadonlyArray<ChainEntry>) => ({
  held: Money.usd(-sumOf(entries, "reserve")),
  charged: Money.usd(-sumOf(entries, "settle")),
  released: Money.usd(sumOf(entries, "release")),
  refunded: Money.usd(sumOf(entries, "refund"))
})

export const statementChecks = (
  statement: LabelStatement,
  receipts: ReadonlyArray<Receipt>,
  sha256: Sha256
): ReadonlyArray<Check> => {
  const { org_id, refunds } = statement
  const wrong = receipts.flatMap((receipt) =>
    receipt.org_id === org_id
      ? checksOf(receipt, sha256).flatMap(({ result, text }) =>
          result === "failed" ? [failed(`${receipt.run_id}: ${text}`)] : []
        )
      : [failed(`The receipt of ${receipt.run_id} is another organization's.`)]
  )
  const changed = refunds.find((entry) => isHashed(org_id, entry, sha256) === false)
  const entries = [...receipts.flatMap(({ ledger }) => ledger), ...refunds].sort((a, b) => a.seq - b.seq)
  const own = sumsOf(entries)
  const same =
    receipts.length === statement.runs &&
    entries.length === statement.entries &&
    sha256(entries.map(({ hash }) => hash).join(""), "") === statement.digest
  const adds = statementSums.every((name) => own[name] === statement[name])
  return [
    ...wrong,
    ...(changed === undefined
      ? []
      : [failed(`The hash of the refund, ledger entry ${changed.seq}, is not computed from the entry.`)]),
    ...(wrong.length > 0 ? [] : [ok(`${receipts.length} receipts are signed, and each agrees with itself.`)]),
    same
      ? ok(`The statement covers exactly these receipts: ${entries.length} ledger entries have its digest.`)
      : failed(
          `The statement covers ${statement.runs} runs with ${statement.entries} ledger entries, and the receipts are others.`
        ),
    adds
      ? ok(
          `The amounts add up: held $${own.held}, charged $${own.charged}, released $${own.released}, refunded $${own.refunded}.`
        )
      : failed(
          `The amounts do not add up: the receipts say that $${own.charged} was charged, and the statement $${statement.charged}.`
        )
  ]
}
