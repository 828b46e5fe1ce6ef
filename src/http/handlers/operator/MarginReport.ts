/** What runs charged and cost, summed by provider and by offer or raw endpoint, with what loses money first. */
import type { EndedRow, MarginRow } from "../../../layers/ledger/Margins.ts"
import { usd } from "../../../schema/money/Money.ts"

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

export const marginView = (sum: MarginSum) => ({
  runs: Number(sum.runs),
  charged: usd(sum.charged),
  cost: usd(sum.cost),
  margin: usd(marginOf(sum)),
  margin_percent: percentOf(sum)
})

export const marginReportView = (
  days: number,
  { rows, providers, all }: MarginReport,
  ended: ReadonlyArray<EndedRow>
) => ({
  days,
  ended: ended.map(({ status, runs }) => ({ status, runs: Number(runs) })),
  items: rows.map((row) => ({
    provider: row.provider,
    capability: row.capability,
    endpoint: row.endpoint,
    ...marginView(row)
  })),
  providers: providers.map((one) => ({ provider: one.provider, ...marginView(one) })),
  total: marginView(all)
})
