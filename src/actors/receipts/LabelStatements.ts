/**
 * Statements of the runs with a label's value: each run with its ledger entries and its signed receipt, and a signed statement over all of them.
 * Nothing is written.
 */
import { Clock, Effect } from "effect"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { type LabelPeriod, makeLabelRuns } from "../../layers/receipts/LabelRuns.ts"
import { type ReceiptRow, ReceiptStore } from "../../layers/receipts/ReceiptStore.ts"
import { SigningKeys } from "../../layers/receipts/SigningKeys.ts"
import * as Money from "../../schema/money/Money.ts"
import type { ChainEntry } from "../../schema/receipts/ChainEntry.ts"
import type { LabelStatement, StatementFacts } from "../../schema/receipts/LabelStatement.ts"
import { receiptType, statementType } from "../../schema/receipts/PublicKeys.ts"
import { warrantyReference } from "../../schema/wallet/Warranty.ts"
import { receiptOf } from "./Receipts.ts"

export interface StatementRun {
  readonly row: ReceiptRow
  /** The run's own entries if it ended in the period, and the refund if that was booked in it. */
  readonly ledger: ReadonlyArray<ChainEntry>
  readonly isEnded: boolean
}

export const makeLabelStatements = Effect.gen(function* () {
  const [label, store, keys] = [yield* makeLabelRuns, yield* ReceiptStore, yield* SigningKeys]
  const iss = addressOf(yield* Settings)
  const now = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1_000))

  /** Runs after one, in the order of their ids. */
  const runs = Effect.fnUntraced(function* (period: LabelPeriod, after: string, limit: number) {
    const { org_id, from, to, as_of } = period
    const ids = yield* label.ids(period, after, limit)
    const [rows, entries, refunds] = yield* Effect.all([
      store.runs(org_id, ids),
      store.entries(org_id, ids),
      store.refunds(org_id, ids)
    ])
    const isIn = ({ seq, created_at }: ChainEntry) =>
      seq <= as_of && Date.parse(created_at) >= from.getTime() && Date.parse(created_at) < to.getTime()
    const entriesOf = Map.groupBy(entries, ({ run_id }) => run_id)
    const refundOf = Map.groupBy(refunds.filter(isIn), ({ reference }) => reference)
    return rows
      .map((row): StatementRun => {
        const own = entriesOf.get(row.run_id) ?? []
        const isEnded = own.some((entry) => entry.type !== "reserve" && isIn(entry))
        return {
          row,
          isEnded,
          ledger: [...(isEnded ? own : []), ...(refundOf.get(warrantyReference(row.run_id)) ?? [])]
        }
      })
      .sort((a, b) => (a.row.run_id < b.row.run_id ? -1 : 1))
  })

  /** The receipts of runs. Null for a run that was only refunded in the period. */
  const receipts = Effect.fnUntraced(function* (org_id: string, all: ReadonlyArray<StatementRun>) {
    const [sign, iat] = [yield* keys.signer, yield* now]
    return yield* Effect.forEach(all, ({ row, ledger, isEnded }) => {
      const own = ledger.filter(({ run_id }) => run_id !== null)
      return isEnded ? sign(receiptType, { iss, iat, ...receiptOf(org_id, row, own) }) : Effect.succeed(null)
    })
  })

  /** What all runs of the period come to, and that as a compact JWS. */
  const whole = Effect.fnUntraced(function* (period: LabelPeriod, said: Pick<StatementFacts, "period" | "time_zone">) {
    const { org_id, label: name, value, from, to, as_of } = period
    const { runs, entries, digest, ...sums } = yield* label.totals(period)
    const refunds = yield* store.refunds(org_id, yield* label.refunded(period))
    const facts: StatementFacts = {
      ...{ label: name, value, ...said, from: from.toISOString(), to: to.toISOString(), as_of: Number(as_of) },
      ...{ runs: Number(runs), entries: Number(entries), digest },
      held: Money.usd(sums.held),
      charged: Money.usd(sums.charged),
      released: Money.usd(sums.released),
      refunded: Money.usd(sums.refunded)
    }
    const [sign, iat] = [yield* keys.signer, yield* now]
    const statement: LabelStatement = { iss, iat, org_id, currency: "USD", ...facts, refunds }
    return { ...facts, signed: yield* sign(statementType, statement) }
  })

  return { runs, receipts, whole }
})
