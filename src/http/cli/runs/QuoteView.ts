/**
 * The quote of a run at a terminal: asks the service for it, shows it, and asks for confirmation. Loaded on demand, because it imports the
 * API contract.
 *
 * The confirmed amount is binding: without --max-cost, the amount that was shown is sent as max_cost.
 */
import { Effect, Schema, Struct } from "effect"
import { QuotesApi } from "../../api/Quotes.ts"
import { SpendGuard, Wallet } from "../../../schema/nouns/Wallet.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { nounTable, type Paper } from "../answers/draw.ts"
import { ask, send } from "../answers/operation.ts"
import { columnsOf } from "../../../schema/Columns.ts"
import { QuotedOffer, Quote as QuoteNoun } from "../../../schema/nouns/Quote.ts"
import * as Money from "../../../schema/money/Money.ts"
import { quoteNotes } from "../../client/Words.ts"
import { Client } from "../answers/Client.ts"
import { sentenceFor } from "../answers/problems.ts"
import { decoded, type Lines, succeeded } from "../answers/show.ts"
import { consent } from "../terminal/consent.ts"
import { exitOfError, fail, failedWith } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { harmless } from "../terminal/text.ts"
import type { Caps } from "./bodies.ts"

/** An answer with amounts that can be compared. A service of an older version answers no `from`. */
const { fields } = QuoteNoun.mapFields(Struct.map(Schema.toEncoded))
const Readable = Schema.Struct({ ...fields, hold: Money.Usd, expected: Money.Usd, from: Schema.optionalKey(Money.Usd) })

/** Null for an answer that this version can't read. `from` is null if the service does not say. */
export const readQuote = (text: string) => {
  const answer = decoded(Readable, text)
  if (answer === null) return null
  const { hold, expected, from = null, offers, routing_reason, would, error } = answer
  const blocked = { code: "budget_exceeded", message: "A limit would refuse the run now." }
  // Why the wallet would refuse the run now.
  const refused = would === "run" ? null : (error ?? blocked)
  const usd = { hold: Money.usd(hold), expected: Money.usd(expected), from: Money.usd(from ?? hold) }
  return { text, hold, expected, from, offers, routing_reason, refused, notes: quoteNotes({ ...answer, ...usd }) }
}
type Quote = NonNullable<ReturnType<typeof readQuote>>

/** Asks for a quote with the body of a run. */
export const sendQuote = (text: string) => send(QuotesApi.endpoints.quote, {}, { text })

/** Asks for the quote of the run with this body. A request that a run refuses fails as the run would. */
export const quoteOf = Effect.fnUntraced(function* (body: string) {
  const { url } = yield* Client
  const { text } = yield* Effect.flatMap(sendQuote(body), succeeded)
  const quote = readQuote(text)
  if (quote !== null) return quote
  return yield* failedWith(`This version of rungate can't read the quote of ${url}. Install the service's version.`)
})

const shown = (amount: Money.MicroUsd) => `$${Money.usd(amount)}`

const expectedLine = ({ expected, hold }: Quote): string =>
  hold === Money.zero ? "This run is free." : `Expected charge: ${shown(expected)}. A run that fails is free.`

/** The quote for a person: amounts, why, the providers in the order of the calls, and what would block the run. */
export const quoteLines = (title: string, quote: Quote, screen: Paper["screen"]): Lines => [
  `${harmless(title)}: holds at most ${shown(quote.hold)}${quote.from === null ? "" : `, costs from ${shown(quote.from)}`}`,
  harmless(quote.routing_reason),
  expectedLine(quote),
  ...quote.notes.map(harmless),
  "",
  ...nounTable(
    QuotedOffer,
    quote.offers,
    { screen, now: 0 },
    {
      excluded_because: ({ excluded_because: why }) =>
        why === null ? "yes" : `no: ${columnsOf(QuotedOffer).words["excluded_because"]?.[why]}`
    }
  ),
  ...(quote.refused === null ? [] : ["", `The run would be refused now: ${harmless(sentenceFor(quote.refused))}`])
]

const nothingRun = "Cancelled. Nothing was run and nothing was charged."

/** Shows the quote and asks. Returns the most that the run may cost: the cap, or the amount shown. */
export const confirm = Effect.fnUntraced(function* (title: string, body: string, { max_cost, max_total }: Caps) {
  const screen = yield* Screen
  const [quote, wallet, guard] = yield* Effect.all(
    [quoteOf(body), ask(WalletApi.endpoints.get, {}, Wallet), ask(WalletApi.endpoints.guard, {}, SpendGuard)],
    { concurrency: 3 }
  )
  const { hold, from, refused, routing_reason } = quote
  if (refused !== null) return yield* fail(exitOfError(refused.code), sentenceFor(refused))
  // A free run needs no confirmation.
  if (hold === Money.zero) return max_cost ?? hold
  const limits = [
    max_cost === null ? "" : `--max-cost ${shown(max_cost)}`,
    max_total === null ? "" : `--max-total ${shown(max_total)}`,
    guard.per_run_limit === null ? "" : `spend guard $${guard.per_run_limit} per run`,
    guard.daily_limit === null ? "" : `spend guard $${guard.daily_limit} per day, $${guard.spent_today} spent today`
  ].filter((one) => one !== "")
  // Shown with --quiet too, because the question refers to it.
  yield* screen.warn(
    [
      `${title}: at most ${shown(hold)}${from !== null && from < hold ? `, from ${shown(from)}` : ""}`,
      `  ${harmless(routing_reason)}`,
      `  ${expectedLine(quote)}`,
      ...quote.notes.map((note) => `  ${harmless(note)}`),
      `  ${limits.length === 0 ? "No --max-cost set." : `Limits: ${limits.join("; ")}.`} Wallet: $${wallet.available} available.`
    ].join("\n")
  )
  const question = max_cost === null ? `Run it for at most ${shown(hold)}?` : "Run it?"
  yield* consent(question, { yes: false }, nothingRun)
  return max_cost ?? hold
})
