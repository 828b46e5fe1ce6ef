/**
 * `rungate wallet topup <amount>`: opens a checkout. The wallet is credited after the payment processor confirms the payment.
 */
import { spawn } from "node:child_process"
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { Client } from "../answers/Client.ts"
import { TypedUsd } from "../terminal/TypedUsd.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, failureOf, formatOf, json, lines, pageOf, printed } from "../answers/show.ts"
import { boolean } from "../terminal/flags.ts"

const Opened = Schema.Struct({
  status: Schema.String,
  session_id: Schema.String,
  checkout_url: Schema.optionalKey(Schema.String)
})
const Entry = Schema.Struct({ id: Schema.String, reference: Schema.String })
const entriesPath = "/v1/wallet/transactions"
/** Polling interval while the user pays. */
const lookSeconds = 1

const entriesIn = (text: string) =>
  pageOf(text).items.flatMap((item) => {
    const entry = decoded(Entry, item)
    return entry === null ? [] : [entry]
  })

/** The newest entry's id; null in an empty ledger. */
const newest = Effect.gen(function* () {
  const { send } = yield* Client
  const answer = yield* send("GET", `${entriesPath}?limit=1`)
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  return entriesIn(answer.text)[0]?.id ?? null
})

/** Whether an entry newer than `seen` has this reference. */
const creditedSince = Effect.fnUntraced(function* (reference: string, seen: string | null) {
  const { send } = yield* Client
  let cursor = ""
  for (;;) {
    const answer = yield* send("GET", `${entriesPath}?limit=200${cursor}`, { patient: true })
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const entries = entriesIn(answer.text)
    if (entries.some((entry) => entry.reference === reference)) return true
    const { next } = pageOf(answer.text)
    if (next === null || entries.some((entry) => entry.id === seen)) return false
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
})

const waitForCredit = Effect.fnUntraced(function* (reference: string, seen: string | null) {
  const screen = yield* Screen
  yield* screen.status("Waiting for the payment (Ctrl-C stops waiting; the checkout stays open)")
  while (!(yield* creditedSince(reference, seen))) yield* Effect.sleep(`${lookSeconds} seconds`)
  yield* screen.status("")
})

const openers: Readonly<Record<string, readonly [string, ...Array<string>]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
}

/** Opens the checkout page in a browser. The address was printed before, for machines without one. */
const openBrowser = Effect.fnUntraced(function* (address: string) {
  const screen = yield* Screen
  const url = URL.canParse(address) ? new URL(address) : null
  if (!screen.askable || url === null || !/^https?:$/.test(url.protocol)) return
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"]
  const started = yield* Effect.callback<boolean>((resume) => {
    const child = spawn(program, [...args, url.href], { stdio: "ignore", detached: true })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.succeed(true))
    })
  })
  if (!started) yield* screen.say("Can't open a browser. Open the address above.")
})

export const topup = Command.make(
  "topup",
  {
    amount: Argument.String("amount").pipe(
      Argument.withDescription("USD, at least 10.00"),
      Argument.withSchema(TypedUsd)
    ),
    open: boolean("open", "open the payment page in a browser"),
    wait: boolean("wait", "wait until the wallet is credited"),
    json
  },
  Effect.fnUntraced(function* ({ amount, open, wait, json }) {
    const { send } = yield* Client
    const screen = yield* Screen
    const seen = wait ? yield* newest : null
    const answer = yield* send("POST", "/v1/wallet/topups/checkout", { body: { amount: Money.usd(amount) } })
    const asJson = formatOf(screen, { json }) === "json"
    const failure = yield* failureOf(answer)
    if (asJson) yield* screen.out(printed(answer.text))
    if (failure !== null) return yield* failure
    const opened = decoded(Opened, answer.text)
    if (opened === null) return asJson ? undefined : yield* lines(null, answer.text)
    const url = opened.checkout_url ?? null
    if (url === null)
      return yield* screen.say(`Credited $${Money.usd(amount)}. Simulated by the sandbox: no money moved.`)
    if (!asJson) yield* lines([url], answer.text)
    yield* screen.say("Pay on that page. The wallet is credited when the payment processor confirms the payment.")
    if (open) yield* openBrowser(url)
    if (!wait) return
    yield* waitForCredit(opened.session_id, seen).pipe(
      Effect.onInterrupt(() =>
        screen.warn("Stopped waiting. The checkout stays open; the wallet is credited when you pay.")
      )
    )
    yield* screen.say(`Credited $${Money.usd(amount)}.`)
  })
).pipe(
  Command.withDescription("Add funds: prints the address of the payment page"),
  Command.withExamples([
    { command: "rungate wallet topup 25.00 --open --wait", description: "Pay in a browser and wait for the credit" }
  ])
)
