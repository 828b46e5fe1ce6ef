/**
 * Handler of `rungate admin margins`: what was charged and what it cost, by provider and by offer or raw endpoint. What loses money is first.
 */
import { Console, Effect } from "effect"
import { onDatabase, print, table } from "./output.ts"
import { Margins } from "../../layers/ledger/Margins.ts"
import { usd } from "../../schema/money/Money.ts"
import {
  type MarginReport,
  marginReport,
  marginReportView,
  type MarginSum,
  marginView
} from "../views/operator/MarginView.ts"

export interface MarginFlags {
  readonly days: number
  readonly json: boolean
}

const cells = (sum: MarginSum): ReadonlyArray<string> => {
  const { runs, charged, cost, margin, margin_percent } = marginView(sum)
  return [String(runs), charged, cost, margin, margin_percent === null ? "-" : `${margin_percent} %`]
}
const inDays = (days: number): string => (days === 1 ? "day" : `${days} days`)
const figures = ["runs", "charged", "cost", "margin", "of charge"]

const lines = (days: number, { rows, providers, all }: MarginReport): ReadonlyArray<string> => {
  if (rows.length === 0) return [`No run of the last ${inDays(days)} was charged or cost anything.`]
  return [
    ...table(
      ["provider", "offer or endpoint", ...figures],
      rows.map((row) => [row.provider ?? "", row.capability ?? row.endpoint ?? "", ...cells(row)])
    ),
    "",
    ...table(
      ["provider", ...figures],
      providers.map((one) => [one.provider ?? "", ...cells(one)])
    ),
    `${all.runs} runs of the last ${inDays(days)}: charged ${usd(all.charged)} USD, cost ${usd(all.cost)} USD, margin ${marginView(all).margin} USD.`
  ]
}

export const margins = ({ days, json }: MarginFlags) =>
  Effect.gen(function* () {
    const margins = yield* Margins
    const report = marginReport(yield* margins.list(days))
    const ended = yield* margins.ended(days)
    if (json) return yield* print(marginReportView(days, report, ended))
    yield* Console.log(lines(days, report).join("\n"))
    if (ended.length > 0)
      yield* Console.log(`All ended runs: ${ended.map(({ status, runs }) => `${runs} ${status}`).join(", ")}.`)
    yield* Console.error("Where a provider reports no cost, the cost is the charge without the markup.")
    const { unknown } = report.all
    if (unknown > 0n) yield* Console.error(`The cost of ${unknown} charged runs is unknown and counts as 0.`)
  }).pipe(onDatabase)
