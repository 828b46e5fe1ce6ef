/**
 * Handler of `rungate admin margins`: what was charged and what it cost, by provider and by offer or raw endpoint. What loses money is first.
 */
import { Console, Effect } from "effect"
import { onDatabase, print, table } from "./output.ts"
import { type MarginRow, Margins } from "../../layers/ledger/Margins.ts"
import { usd } from "../../schema/money/Money.ts"

export interface MarginFlags {
  readonly days: number
  readonly json: boolean
}

interface Sum {
  readonly runs: bigint
  readonly charged: bigint
  readonly cost: bigint
  readonly unknown: bigint
}

const nothing: Sum = { runs: 0n, charged: 0n, cost: 0n, unknown: 0n }
const plus = (a: Sum, b: Sum): Sum => ({
  runs: a.runs + b.runs,
  charged: a.charged + b.charged,
  cost: a.cost + b.cost,
  unknown: a.unknown + b.unknown
})

const marginOf = ({ charged, cost }: Sum): bigint => charged - cost

/** In percent of the charge, with one decimal. Null if nothing was charged. */
const percentOf = (sum: Sum): string | null => {
  if (sum.charged === 0n) return null
  const tenths = (marginOf(sum) * 1_000n) / sum.charged
  const digits = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? "-" : ""}${digits / 10n}.${digits % 10n}`
}

/** The largest loss first, then the largest charge. */
const worstFirst = (a: Sum, b: Sum): number => {
  const [one, other] = [marginOf(a), marginOf(b)]
  if (one < 0n || other < 0n) return one < other ? -1 : one > other ? 1 : 0
  return a.charged > b.charged ? -1 : a.charged < b.charged ? 1 : 0
}

const viewOf = (sum: Sum) => ({
  runs: Number(sum.runs),
  charged: usd(sum.charged),
  cost: usd(sum.cost),
  margin: usd(marginOf(sum)),
  margin_percent: percentOf(sum)
})

const totalsOf = (rows: ReadonlyArray<MarginRow>): ReadonlyArray<Sum & { readonly provider: string | null }> =>
  [...Map.groupBy(rows, (row) => row.provider)]
    .map(([provider, own]) => ({ provider, ...own.reduce(plus, nothing) }))
    .sort(worstFirst)

const cells = (sum: Sum): ReadonlyArray<string> => {
  const { runs, charged, cost, margin, margin_percent } = viewOf(sum)
  return [String(runs), charged, cost, margin, margin_percent === null ? "-" : `${margin_percent} %`]
}
const inDays = (days: number): string => (days === 1 ? "day" : `${days} days`)
const figures = ["runs", "charged", "cost", "margin", "of charge"]

const lines = (days: number, rows: ReadonlyArray<MarginRow>): ReadonlyArray<string> => {
  if (rows.length === 0) return [`No run of the last ${inDays(days)} was charged or cost anything.`]
  const all = rows.reduce(plus, nothing)
  return [
    ...table(
      ["provider", "offer or endpoint", ...figures],
      rows.map((row) => [row.provider ?? "", row.capability ?? row.endpoint ?? "", ...cells(row)])
    ),
    "",
    ...table(
      ["provider", ...figures],
      totalsOf(rows).map((one) => [one.provider ?? "", ...cells(one)])
    ),
    `${all.runs} runs of the last ${inDays(days)}: charged ${usd(all.charged)} USD, cost ${usd(all.cost)} USD, margin ${usd(marginOf(all))} USD.`
  ]
}

export const margins = ({ days, json }: MarginFlags) =>
  Effect.gen(function* () {
    const rows = [...(yield* (yield* Margins).list(days))].sort(worstFirst)
    const all = rows.reduce(plus, nothing)
    if (json) {
      return yield* print({
        days,
        items: rows.map((row) => ({
          provider: row.provider,
          capability: row.capability,
          endpoint: row.endpoint,
          ...viewOf(row)
        })),
        providers: totalsOf(rows).map((one) => ({ provider: one.provider, ...viewOf(one) })),
        total: viewOf(all)
      })
    }
    yield* Console.log(lines(days, rows).join("\n"))
    yield* Console.error("Where a provider reports no cost, the cost is the charge without the markup.")
    if (all.unknown > 0n) yield* Console.error(`The cost of ${all.unknown} charged runs is unknown and counts as 0.`)
  }).pipe(onDatabase)
