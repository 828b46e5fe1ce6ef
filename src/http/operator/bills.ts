/** `rungate admin bills match`: a provider's bill against what runs have cost. */
import { Console, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { linesOf } from "../cli/batches/BatchProgress.ts"
import { choice, text } from "../cli/terminal/flags.ts"
import { harmless } from "../cli/terminal/text.ts"
import { ask } from "./ask.ts"
import { json } from "./flags.ts"
import { Usd } from "../../schema/money/Money.ts"
import { bad, print, table } from "./output.ts"

const amountIn = Schema.decodeUnknownOption(Usd)

const day = (name: string, description: string) =>
  Flag.Date(name).pipe(
    Flag.withDescription(description),
    Flag.map((date) => date.toISOString().slice(0, 10))
  )
const column = (name: string, initial: string) =>
  Flag.String(`${name}-column`).pipe(Flag.withDescription(`column of the ${name}`), Flag.withDefault(initial))

const match = Command.make(
  "match",
  {
    file: Flag.String("file").pipe(Flag.withAlias("f"), Flag.withDescription("the bill as a CSV with a header line")),
    provider: Flag.String("provider").pipe(Flag.withDescription("provider, such as hunter")),
    from: day("from", "first day of the bill, such as 2026-11-01 (UTC)"),
    to: day("to", "last day of the bill"),
    unit: choice("unit", ["credit", "USD"], "unit of the amounts; credit if left out"),
    date_column: column("date", "date"),
    amount_column: column("amount", "amount"),
    reference: text("reference-column", "column with the ids of runs, if the provider was given them"),
    json
  },
  Effect.fnUntraced(function* ({ file, provider, from, to, unit, date_column, amount_column, reference, json }) {
    const { header, rows } = yield* linesOf(file)
    const at = (name: string) => header.findIndex((one) => one.toLowerCase() === name.toLowerCase())
    const wanted = [date_column, amount_column, ...(reference === null ? [] : [reference])]
    const missing = wanted.find((name) => at(name) < 0)
    if (missing !== undefined)
      return yield* bad(`${file} has no column "${missing}". Its columns are ${header.join(", ")}.`)
    const lines = yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* (row, n) {
        const written = row[at(amount_column)] ?? ""
        const amount = amountIn(written.replace(/[$,\s]/g, ""))
        if (Option.isNone(amount))
          return yield* bad(`${file} has "${harmless(written)}" for an amount, in row ${n + 1}.`)
        const date = (row[at(date_column)] ?? "").slice(0, 10)
        return { date, amount: amount.value, ...(reference === null ? {} : { reference: row[at(reference)] ?? null }) }
      })
    )
    const payload = { provider, from, to, lines, ...(unit === null ? {} : { unit }) }
    const answer = yield* ask("operatorCredits", (credits) => credits.matchBill({ payload }))
    if (json) return yield* print(answer)
    const shown = table(answer.differences, {
      day: (one) => one.day,
      run: (one) => one.run_id,
      difference: (one) => one.kind.replaceAll("_", " "),
      billed: (one) => one.billed,
      recorded: (one) => one.recorded
    })
    yield* Console.log(
      [
        ...(answer.differences.length === 0 ? ["The bill is what was recorded."] : shown),
        `${lines.length} lines: billed ${answer.billed}, recorded ${answer.recorded} ${answer.unit}.`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Compare a provider's bill with what runs have cost, and list the differences"))

export const bills = Command.make("bills").pipe(
  Command.withDescription("Check the bills of providers"),
  Command.withSubcommands([match])
)
