/** Shared by `run` and `call`: shows the quote, asks, sends the run once, and prints result and receipt. */
import { Clock, Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { runIn } from "../../api/shapes/KnownRun.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { ask } from "../answers/operation.ts"
import { conclude, deliver, leftBy } from "./execution.ts"
import { bad } from "../terminal/exits.ts"
import { Journal } from "../state/Journal.ts"
import { capFlags } from "./bodies.ts"
import { confirm, quoteLines, quoteOf } from "./QuoteView.ts"
import { needsHold, receipt, runLines } from "./RunView.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, formatOf, json, lines, printed } from "../answers/show.ts"
import { between, boolean, metadata, type FlagsOf } from "../terminal/flags.ts"

/** No run takes longer. A larger value is probably in milliseconds. */
const waitSecondsMost = 24 * 3600

export const waitFlag = between(
  "wait",
  0,
  waitSecondsMost,
  "seconds to wait for the result; after that exit code 8, and the run continues"
)

export const runFlags = {
  ...capFlags,
  wait: waitFlag.pipe(Flag.withDefault(30)),
  async: boolean("async", "print the run id as soon as the run is accepted, without waiting (exit code 0)"),
  yes: boolean("yes", "skip the quote and the confirmation").pipe(Flag.withAlias("y")),
  dry_run: boolean("dry-run", "show the quote without running"),
  metadata: metadata("a label as name=value, such as campaign=spring; may be repeated"),
  again: boolean("again", "start a new run even if the same command was interrupted a moment ago"),
  json
}

export interface Request {
  readonly title: string
  /** The body of POST /v1/run as JSON text, under this cap. */
  readonly bodyWith: (max_cost: Money.MicroUsd | null) => string
  /** Without a cap, a terminal with --no-input is refused. */
  readonly capNeeded: boolean
}

const Reserves = Schema.Struct({ items: Schema.Array(Schema.Struct({ amount: Schema.String })) })

/** The amount that the ledger reserved for a run; null when it can't be read. */
const holdOf = Effect.fnUntraced(function* (run_id: string) {
  const query = { run_id, type: "reserve" } as const
  const entries = yield* Effect.option(ask(WalletApi.endpoints.transactions, { query }, Reserves))
  return Option.getOrNull(entries)?.items[0]?.amount.replace("-", "") ?? null
})

const Billed = Schema.Struct({ billing: Schema.Struct({ charged: Schema.NullOr(Money.Usd) }) })
const isPaid = (text: string): boolean => (decoded(Billed, text)?.billing.charged ?? Money.zero) > Money.zero

/** The same command may be a mistake: the confirmation follows, and this tells why to read it. */
const warnOfRepetition = Effect.fnUntraced(function* (typed: string) {
  const screen = yield* Screen
  const journal = yield* Journal
  const at = yield* journal.paidAt(typed)
  if (at === null) return
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - at) / 1000)
  yield* screen.warn(
    `You paid for the same run ${seconds} s ago. Running it again charges again. Past results are free: rungate runs list`,
    "yellow"
  )
})

/** One run, after a confirmation at a terminal. */
export const confirmAndRun = Effect.fnUntraced(function* (request: Request, given: FlagsOf<typeof runFlags>) {
  const screen = yield* Screen
  const journal = yield* Journal
  const { title, bodyWith } = request
  const format = formatOf(screen, given)
  if (given.dry_run) {
    const body = bodyWith(given.max_cost)
    const quote = yield* quoteOf(body)
    if (format === "json") return yield* screen.out(`{"dry_run":true,"quote":${quote.text},"request":${body}}\n`)
    return yield* screen.out(`${[...quoteLines(title, quote, screen), "", "Nothing was run."].join("\n")}\n`)
  }
  const isCapped = given.max_cost !== null || given.max_total !== null
  if (screen.person && !screen.askable && request.capNeeded && !isCapped && !given.yes) {
    return yield* bad("A raw call needs --max-cost or --yes when there is no terminal to confirm at.")
  }
  // The journal identifies a command by what the user typed, without the cap that the confirmation added.
  const typed = bodyWith(given.max_cost)
  const left = yield* leftBy(typed, given.again)
  if (left === null && screen.askable && !given.yes) yield* warnOfRepetition(typed)
  const cap = left === null && screen.askable && !given.yes ? yield* confirm(title, typed, given) : given.max_cost
  const entry = left ?? (yield* journal.open({ title, typed, body: bodyWith(cap) }))
  const answer = yield* deliver(entry, left !== null, { seconds: given.wait, async: given.async })
  if (isPaid(answer.text)) yield* journal.paid(typed)
  yield* showRun(answer.text, format === "json", given.async)
  const accepted = given.async && runIn(answer.text) !== null && answer.status === 202
  // Its id was printed, so the same command starts another run.
  yield* accepted ? journal.close(entry) : conclude(answer)
})

/** Prints the result of a run and its receipt. */
export const showRun = Effect.fnUntraced(function* (text: string, asJson: boolean, accepted: boolean) {
  const screen = yield* Screen
  if (asJson) return yield* screen.out(printed(text))
  const run = runIn(text)
  if (run === null) return
  if (accepted) {
    yield* screen.out(`${run.run_id}\n`)
    return yield* screen.say(`Accepted. Wait for it with: rungate runs wait ${run.run_id}`)
  }
  yield* lines(runLines(text, screen, true), text)
  const held = screen.quiet ? null : needsHold(text)
  const line = receipt(text, held === null ? null : yield* holdOf(held))
  if (line !== null) yield* screen.say(line, "dim")
})
