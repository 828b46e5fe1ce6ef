/** `rungate admin losses` and `margins`: what runs cost, against what was charged. */
import { Effect } from "effect"
import { dollars, sum, usd } from "../../schema/money/Money.ts"
import { Loss, Losses, LossTotal, Margin, Margins, ProviderMargin } from "../../schema/nouns/operator/Provider.ts"
import { daysDefault, daysMax, OperatorProvidersApi } from "../api/operator/Providers.ts"
import { aside, drawn, listed, nounTable } from "../cli/answers/draw.ts"
import { row } from "../cli/answers/row.ts"
import { wire } from "../cli/answers/show.ts"
import { text } from "../cli/terminal/flags.ts"

const { endpoints } = OperatorProvidersApi

export const losses = row(endpoints.losses, {
  about: "List runs that cost more than they were charged, newest first, with totals per provider",
  items: "runs",
  fields: {
    org_id: text("org", "only runs of this organization"),
    from: text("since", "only runs since this date, such as 2026-11-21 (UTC)")
  },
  show: listed(
    Loss,
    "No run cost more than it was charged.",
    { reason: (row) => (row.cost_basis === "partly_estimated" ? `${row.reason} (partly estimated)` : row.reason) },
    {
      foot: (text, shown) => {
        const { totals = [] } = wire(Losses, text) ?? {}
        const runs = totals.reduce((all, one) => all + one.runs, 0)
        const lost = usd(sum(totals.map(({ loss }) => dollars(loss))))
        return ["", ...nounTable(LossTotal, totals, shown), `${runs} ${runs === 1 ? "run" : "runs"} lost ${lost} USD.`]
      }
    }
  )
})

const inDays = (days: number): string => (days === 1 ? "day" : `${days} days`)
const cells = {
  margin_percent: ({ margin_percent: percent }: typeof ProviderMargin.Encoded) =>
    percent === null ? null : `${percent} %`
}

const report = drawn(Margins, ({ days, items, providers, total, ended }, shown) =>
  items.length === 0
    ? [`No run of the last ${inDays(days)} was charged or cost anything.`]
    : [
        ...nounTable(Margin, items, shown, cells),
        "",
        ...nounTable(ProviderMargin, providers, shown, cells),
        `${total.runs} runs of the last ${inDays(days)}: charged ${total.charged} USD, cost ${total.cost} USD, margin ${total.margin} USD.`,
        ...(ended.length === 0
          ? []
          : [`All ended runs: ${ended.map(({ status, runs }) => `${runs} ${status}`).join(", ")}.`])
      ]
)

export const margins = row(endpoints.margins, {
  about: "Show what was charged and what it cost, by provider and offer or endpoint; losses first",
  fields: { days: `days to look back, 1 to ${daysMax}; default: ${daysDefault}` },
  show: (answer, shown, flags) =>
    Effect.andThen(
      report(answer, shown, flags),
      aside(
        shown,
        "Where a provider reports no cost, the cost is the charge without the markup. A cost that is unknown counts as 0."
      )
    )
})
