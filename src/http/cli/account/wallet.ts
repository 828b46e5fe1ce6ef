/** `rungate wallet`: balance, ledger, top-ups and audit. */
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { entryTypes } from "../../../schema/wallet/Wallet.ts"
import { Client } from "../answers/Client.ts"
import { autoTopup } from "./autoTopup.ts"
import { fail } from "../terminal/exits.ts"
import { pageFlags, readList } from "../answers/pages.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"
import { decoded, failureOf, json, jsonl, lines, type Lines, show, showList } from "../answers/show.ts"
import { heads } from "../receipts/heads.ts"
import { topup } from "./topup.ts"
import { boolean, text } from "../terminal/flags.ts"

const views = Effect.promise(() => import("./WalletView.ts"))
type Views = Effect.Success<typeof views>

/** Formats a response with a function of WalletView. */
export const drawnBy =
  (draw: (views: Views) => (text: string, screen: ScreenShape) => Lines | null) => (text: string) =>
    Effect.gen(function* () {
      const screen = yield* Screen
      return draw(yield* views)(text, screen)
    })

const transactions = Command.make(
  "transactions",
  {
    ...pageFlags("entries"),
    type: Flag.Literals("type", entryTypes).pipe(
      Flag.withDescription("only entries of this type"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    run: text("run", "only entries of this run, by its id"),
    from: text("from", "only entries from this date or time on, such as 2026-11-01"),
    to: text("to", "only entries before this time; a date includes its day"),
    csv: boolean("csv", "print CSV with a header line"),
    json,
    jsonl
  },
  Effect.fnUntraced(function* ({ csv, json, jsonl, type, run, from, to, ...given }) {
    const screen = yield* Screen
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ type, run_id: run, from, to }))
      if (value !== null) query.set(name, value)
    if ([csv, json, jsonl].filter(Boolean).length > 1) {
      return yield* fail("usage", "Give only one of --csv, --json and --jsonl.")
    }
    const answer = yield* readList(`/v1/wallet/transactions?${query}`, given)
    if (!csv) {
      return yield* showList(
        answer,
        { json, jsonl },
        drawnBy((views) => views.transactionLines)
      )
    }
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const text = (yield* views).transactionCsv(answer.text)
    return text === null ? yield* lines(null, answer.text) : yield* screen.out(text)
  })
).pipe(Command.withDescription("List ledger entries, newest first"), Command.withAlias("ledger"))

const Verdict = Schema.Struct({ adds_up: Schema.Boolean })

const audit = Command.make(
  "audit",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    const answer = yield* send("GET", "/v1/wallet/audit")
    yield* show(
      answer,
      flags,
      drawnBy((views) => views.auditLines)
    )
    if (decoded(Verdict, answer.text)?.adds_up !== true)
      return yield* fail("failed", "The books do not add up. Report this to the operator of the service.")
  })
).pipe(Command.withDescription("Recompute the wallet from the ledger; exit code 1 when the books do not add up"))

export const wallet = Command.make(
  "wallet",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    yield* show(
      yield* send("GET", "/v1/wallet"),
      flags,
      drawnBy((views) => views.walletLines)
    )
  })
).pipe(
  Command.withDescription("Show the balance, list ledger entries, add funds, audit"),
  Command.withSubcommands([transactions, topup, autoTopup, audit, heads])
)
