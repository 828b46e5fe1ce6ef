/** `rungate admin losses` and `margins`: what runs cost, against what was charged. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { dollars, sum, usd } from "../../schema/money/Money.ts"
import { text } from "../cli/terminal/flags.ts"
import { Loss, LossTotal, Margin, ProviderMargin } from "../../schema/nouns/operator/Provider.ts"
import { ask, list, setOnly } from "./ask.ts"
import { json, limitOf } from "./flags.ts"
import { nounTable, print } from "./output.ts"

export const losses = Command.make(
  "losses",
  {
    org: text("org", "only runs of this organization"),
    since: text("since", "only runs since this date, such as 2026-11-21 (UTC)"),
    limit: limitOf("runs", 50),
    json
  },
  ({ org, since, ...shown }) =>
    list(
      "operatorProviders",
      shown,
      (providers, page) => providers.losses({ query: { ...page, ...setOnly({ org_id: org, from: since }) } }),
      {
        none: "No run cost more than it was charged.",
        noun: Loss,
        cells: {
          reason: (row) => (row.cost_basis === "partly_estimated" ? `${row.reason} (partly estimated)` : row.reason)
        },
        foot: ({ totals }) => {
          const runs = totals.reduce((all, one) => all + one.runs, 0)
          return [
            "",
            ...nounTable(LossTotal, totals),
            `${runs} ${runs === 1 ? "run" : "runs"} lost ${usd(sum(totals.map(({ loss }) => dollars(loss))))} USD.`
          ]
        },
        more: "More runs exist. Use --since, or raise --limit"
      }
    )
).pipe(
  Command.withDescription("List runs that cost more than they were charged, newest first, with totals per provider")
)

/** Longer than that, the sums say little about today's prices. */
const marginDaysMax = 366
const inDays = (days: number): string => (days === 1 ? "day" : `${days} days`)
const cells = {
  margin_percent: ({ margin_percent: percent }: typeof ProviderMargin.Encoded) =>
    percent === null ? null : `${percent} %`
}

export const margins = Command.make(
  "margins",
  {
    days: Flag.Int("days").pipe(
      Flag.withDescription(`days to look back, 1 to ${marginDaysMax}`),
      Flag.filter(
        (days) => days >= 1 && days <= marginDaysMax,
        (days) => `--days must be from 1 to ${marginDaysMax}, not ${days}`
      ),
      Flag.withDefault(30)
    ),
    json
  },
  Effect.fnUntraced(function* ({ days, json }) {
    const report = yield* ask("operatorProviders", (providers) => providers.margins({ query: { days } }))
    if (json) return yield* print(report)
    const { items, providers, total, ended } = report
    if (items.length === 0)
      return yield* Console.log(`No run of the last ${inDays(days)} was charged or cost anything.`)
    const lines = [
      ...nounTable(Margin, items, cells),
      "",
      ...nounTable(ProviderMargin, providers, cells),
      `${total.runs} runs of the last ${inDays(days)}: charged ${total.charged} USD, cost ${total.cost} USD, margin ${total.margin} USD.`,
      ...(ended.length === 0
        ? []
        : [`All ended runs: ${ended.map(({ status, runs }) => `${runs} ${status}`).join(", ")}.`])
    ]
    yield* Console.log(lines.join("\n"))
    yield* Console.error(
      "Where a provider reports no cost, the cost is the charge without the markup. A cost that is unknown counts as 0."
    )
  })
).pipe(
  Command.withDescription("Show what was charged and what it cost, by provider and offer or endpoint; losses first")
)
