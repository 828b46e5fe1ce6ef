/** What runs charged and cost, summed by provider and by offer or raw endpoint, with what loses money first. */
import { Schema } from "effect"
import type { MarginRow } from "../../../layers/ledger/Margins.ts"
import { type EndedRuns, Margins } from "../../../schema/nouns/operator/Provider.ts"

export interface MarginSum {
  readonly runs: bigint
  readonly charged: bigint
  readonly cost: bigint
  /** Charged runs whose cost is unknown. It counts as 0. */
  readonly unknown: bigint
}

const nothing: MarginSum = { runs: 0n, charged: 0n, cost: 0n, unknown: 0n }
const plus = (a: MarginSum, b: MarginSum): MarginSum => ({
  runs: a.runs + b.runs,
  charged: a.charged + b.charged,
  cost: a.cost + b.cost,
  unknown: a.unknown + b.unknown
})

const marginOf = ({ charged, cost }: MarginSum): bigint => charged - cost

/** In percent of the charge, with one decimal. Null if nothing was charged. */
const percentOf = (sum: MarginSum): string | null => {
  if (sum.charged === 0n) return null
  const tenths = (marginOf(sum) * 1_000n) / sum.charged
  const digits = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? "-" : ""}${digits / 10n}.${digits % 10n}`
}

/** The largest loss first, then the largest charge. */
const worstFirst = (a: MarginSum, b: MarginSum): number => {
  const [one, other] = [marginOf(a), marginOf(b)]
  if (one < 0n || other < 0n) return one < other ? -1 : one > other ? 1 : 0
  return a.charged > b.charged ? -1 : a.charged < b.charged ? 1 : 0
}

export interface MarginReport {
  readonly rows: ReadonlyArray<MarginRow>
  readonly providers: ReadonlyArray<MarginSum & { readonly provider: string | null }>
  readonly all: MarginSum
}

export const marginReport = (rows: ReadonlyArray<MarginRow>): MarginReport => ({
  rows: rows.toSorted(worstFirst),
  providers: [...Map.groupBy(rows, (row) => row.provider)]
    .map(([provider, own]) => ({ provider, ...own.reduce(plus, nothing) }))
    .sort(worstFirst),
  all: rows.reduce(plus, nothing)
})

const withMargin = (sum: MarginSum) => ({ ...sum, margin: marginOf(sum), margin_percent: percentOf(sum) })

const marginsJson = Schema.encodeSync(Margins)
export const marginReportView = (
  days: number,
  { rows, providers, all }: MarginReport,
  ended: ReadonlyArray<EndedRuns>
) =>
  marginsJson({
    days,
    ended,
    items: rows.map((row) => ({ ...row, ...withMargin(row) })),
    providers: providers.map((one) => ({ ...one, ...withMargin(one) })),
    total: withMargin(all)
  })
