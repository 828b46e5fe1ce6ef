/**
 * Handler of `rungate admin losses`: lists runs that cost more than they were charged, and the totals per provider.
 */
import { Console, Effect } from "effect"
import { bad, firstOf, orgOf, onDatabase, print, table, when } from "./output.ts"
import { type LossRow, type LossTotal, Losses } from "../../layers/ledger/Losses.ts"
import { usd } from "../../schema/money/Money.ts"
import { lossRowView, lossTotalView } from "../views/operator/LossView.ts"

export interface LossFlags {
  readonly org: string | null
  readonly since: string | null
  readonly limit: number
  readonly json: boolean
}

/** A date, or a date with a time. Without a time zone it is UTC. */
const moment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?$/
const sinceOf = (text: string | null) => {
  if (text === null) return Effect.succeed(null)
  const zoned = /T.*(Z|[+-]\d{2}:\d{2})$/.test(text) || !text.includes("T") ? text : `${text}Z`
  const date = new Date(zoned)
  return moment.test(text) && !Number.isNaN(date.getTime())
    ? Effect.succeed(date)
    : bad(`Invalid --since "${text}". Give a date such as 2026-11-21 or 2026-11-21T08:00:00Z.`)
}

const lines = (rows: ReadonlyArray<LossRow>, totals: ReadonlyArray<LossTotal>): ReadonlyArray<string> => {
  if (totals.length === 0) return ["No run cost more than it was charged."]
  const sum = totals.reduce((all, one) => all + one.loss, 0n)
  const runs = totals.reduce((all, one) => all + one.runs, 0n)
  return [
    ...table(
      ["at", "run", "organization", "of", "provider", "charge", "cost", "loss", "reason"],
      rows.map((row) => [
        when(row.at),
        row.run_id,
        row.org_id,
        row.capability ?? row.endpoint ?? "",
        row.provider ?? "",
        usd(row.charge),
        usd(row.cost),
        usd(row.loss),
        row.measured === false ? `${row.reason} (partly estimated)` : row.reason
      ])
    ),
    "",
    ...table(
      ["provider", "reason", "runs", "loss"],
      totals.map((one) => [one.provider ?? "", one.reason, String(one.runs), usd(one.loss)])
    ),
    `${runs} ${runs === 1n ? "run" : "runs"} lost ${usd(sum)} USD.`
  ]
}

export const losses = ({ org, since, limit, json }: LossFlags) =>
  Effect.gen(function* () {
    const filter = { org_id: org, since: yield* sinceOf(since) }
    if (org !== null) yield* orgOf(org)
    const store = yield* Losses
    const { rows, more } = yield* firstOf(limit, (most) => store.list(filter, most))
    const totals = yield* store.totals(filter)
    if (json) return yield* print({ items: rows.map(lossRowView), totals: totals.map(lossTotalView), more })
    yield* Console.log(lines(rows, totals).join("\n"))
    if (more) yield* Console.error(`More runs exist. Use --since, or raise --limit (now ${limit}).`)
  }).pipe(onDatabase)
