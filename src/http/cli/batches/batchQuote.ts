/**
 * What `rungate batch` shows before it asks: quotes of some rows, and the most that the whole file may cost. Loaded on demand, because it
 * imports the API contract.
 */
import { Effect, Result, Schema } from "effect"
import * as Money from "../../../schema/money/Money.ts"
import { cellValue, guessedColumns, inputFieldsOf, sampleOf } from "../../client/Columns.ts"
import { CatalogApi } from "../../api/Catalog.ts"
import { Wallet } from "../../../schema/nouns/Wallet.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { ask } from "../answers/operation.ts"
import { sentenceFor } from "../answers/problems.ts"
import { quoteOf } from "../runs/QuoteView.ts"
import { consent } from "../terminal/consent.ts"
import { exits } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { harmless } from "../terminal/text.ts"
import type { Sheet } from "../../client/JoinedCsv.ts"

export interface Plan extends Sheet {
  readonly capability: string
  readonly map: string | null
  readonly maxTotal: Money.MicroUsd
  readonly labels: ReadonlyArray<readonly [string, string]>
  readonly again: boolean
}

const Inspected = Schema.Struct({ input_schema: Schema.Json })

const pairsIn = (map: string): ReadonlyArray<readonly [string, string]> =>
  map.split(",").map((pair) => {
    const [field = "", ...column] = pair.split("=")
    return [field.trim(), column.join("=").trim()]
  })

/** Inputs of some rows. Null for a map or a header that the service refuses: its message says why. */
const sampledInputs = Effect.fnUntraced(function* ({ capability, map, header, rows }: Plan) {
  const inspected = yield* ask(CatalogApi.endpoints.inspect, { payload: { capability } }, Inspected)
  const fields = inputFieldsOf(inspected.input_schema)
  const pairs = map === null ? Object.entries(guessedColumns([...fields.keys()], header)) : pairsIn(map)
  if (pairs.length === 0 || !pairs.every(([field, column]) => fields.has(field) && header.includes(column))) return null
  return sampleOf(rows).map((row) =>
    Object.fromEntries(
      pairs.flatMap(([field, column]) => {
        const cell = row[header.indexOf(column)] ?? ""
        return cell === "" ? [] : [[field, cellValue(cell, fields.get(field) ?? null)]]
      })
    )
  )
})

/** The quote of a row, or why the service refuses the row. */
const rowQuote = Effect.fnUntraced(function* ({ capability, labels }: Plan, input: object) {
  const metadata = Object.fromEntries(labels)
  const quote = yield* Effect.result(quoteOf(JSON.stringify({ capability, input, metadata })))
  if (Result.isSuccess(quote)) return quote.success
  const { exit_code, message } = quote.failure
  return exit_code === exits.usage ? message : yield* quote.failure
})

const shown = (amount: Money.MicroUsd) => `$${Money.usd(amount)}`

/** Shows what the file may cost, and asks. Does nothing where the service refuses the file: nothing is run then. */
export const confirmBatch = Effect.fnUntraced(function* (plan: Plan) {
  const { capability, rows, maxTotal, again } = plan
  const screen = yield* Screen
  const inputs = yield* sampledInputs(plan)
  if (inputs === null) return
  const [answers, wallet] = yield* Effect.all(
    [
      Effect.all(
        inputs.map((input) => rowQuote(plan, input)),
        { concurrency: 3 }
      ),
      ask(WalletApi.endpoints.get, {}, Wallet)
    ],
    { concurrency: 2 }
  )
  const quotes = answers.flatMap((one) => (typeof one === "string" ? [] : [one]))
  const refused = answers.flatMap((one) => (typeof one === "string" ? [one] : []))
  const blocked = quotes.find((quote) => quote.refused !== null)?.refused ?? undefined
  const dearest = quotes.reduce((most, { hold }) => Money.max(most, hold), Money.zero)
  const all = Money.times(dearest, rows.length)
  const sampled = Money.times(Money.sum(quotes.map(({ expected }) => expected)), rows.length)
  const average = Money.share(sampled, 1n, BigInt(Math.max(1, quotes.length)))
  yield* screen.warn(
    [
      `${capability}, ${rows.length} rows${quotes.length === 0 ? "" : `: at most ${shown(all)}, expected ${shown(average)}, by quotes of ${quotes.length} of them`}`,
      ...(refused.length === 0
        ? []
        : [
            `  The service would refuse ${refused.length} of ${answers.length} rows that were tried: ${harmless(refused[0] ?? "")}`
          ]),
      ...(blocked === undefined ? [] : [`  A row would be blocked now: ${harmless(sentenceFor(blocked))}`]),
      ...(all > maxTotal ? ["  The limit is lower, and may stop some of the rows."] : []),
      `  Limit: --max-total ${shown(maxTotal)}. Wallet: $${wallet.available} available.`
    ].join("\n")
  )
  const before = again ? "" : " If it was sent before, this shows that batch and pays nothing."
  const question = `Run the file for at most ${shown(maxTotal)}?${before}`
  yield* consent(question, { yes: false }, "Cancelled. Nothing was run and nothing was charged.")
})
