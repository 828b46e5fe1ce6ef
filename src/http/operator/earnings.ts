/** `rungate admin losses` and `margins`: what runs cost, against what was charged. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { dollars, sum, usd } from "../../schema/money/Money.ts"
import { text } from "../cli/terminal/flags.ts"
import { ask, list, setOnly } from "./ask.ts"
import { json, limitOf } from "./flags.ts"
import { print, table, when } from "./output.ts"

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
        columns: {
          at: (row) => when(row.at),
          run: (row) => row.run_id,
          organization: (row) => row.org_id,
          of: (row) => row.capability ?? row.endpoint,
          provider: (row) => row.provider,
          charge: (row) => row.charge,
          cost: (row) => row.cost,
          loss: (row) => row.loss,
          reason: (row) => (row.cost_basis === "partly_estimated" ? `${row.reason} (partly estimated)` : row.reason)
        },
        foot: ({ totals }) => {
          const runs = totals.reduce((all, one) => all + one.runs, 0)
          return [
            "",
            ...table(totals, {
              provider: (one) => one.provider,
              reason: (one) => one.reason,
              runs: (one) => one.runs,
              loss: (one) => one.loss
            }),
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

interface Sums {
  readonly runs: number
  readonly charged: string
  readonly cost: string
  readonly margin: string
  readonly margin_percent: string | null
}
const figures = {
  runs: (one: Sums) => one.runs,
  charged: (one: Sums) => one.charged,
  cost: (one: Sums) => one.cost,
  margin: (one: Sums) => one.margin,
  "of charge": (one: Sums) => (one.margin_percent === null ? null : `${one.margin_percent} %`)
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
      ...table(items, {
        provider: (row) => row.provider,
        "offer or endpoint": (row) => row.capability ?? row.endpoint,
        ...figures
      }),
      "",
      ...table(providers, { provider: (one) => one.provider, ...figures }),
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
