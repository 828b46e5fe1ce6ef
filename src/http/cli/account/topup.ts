/**
 * `rungate wallet topup <amount>`: opens a checkout. The wallet is credited after the payment processor confirms the payment.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { pageOf } from "../../../schema/nouns/Noun.ts"
import { TopUp, Transaction } from "../../../schema/nouns/Wallet.ts"
import { TopUpsApi } from "../../api/TopUps.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { ask, call } from "../answers/operation.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json, lines, printed, read } from "../answers/show.ts"
import { amountArgument, boolean, withExamples } from "../terminal/flags.ts"

/** Polling interval while the user pays. */
const lookSeconds = 1

/** More top-ups than an organization makes between two looks. */
const query = { type: "topup", limit: "20" } as const

const isCredited = (reference: string) =>
  Effect.map(ask(WalletApi.endpoints.transactions, { query }, pageOf(Transaction), { patient: true }), ({ items }) =>
    items.some((entry) => entry.reference === reference)
  )

const waitForCredit = Effect.fnUntraced(function* (reference: string) {
  const screen = yield* Screen
  yield* screen.status("Waiting for the payment (Ctrl-C stops waiting; the checkout stays open)")
  while (!(yield* isCredited(reference))) yield* Effect.sleep(`${lookSeconds} seconds`)
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
    amount: amountArgument("USD, at least 10.00"),
    open: boolean("open", "open the payment page in a browser"),
    wait: boolean("wait", "wait until the wallet is credited"),
    json
  },
  Effect.fnUntraced(function* ({ amount, open, wait, json }) {
    const screen = yield* Screen
    const answer = yield* call(TopUpsApi.endpoints.checkout, { payload: { amount } })
    const asJson = formatOf(screen, { json }) === "json"
    if (asJson) yield* screen.out(printed(answer.text))
    const opened = yield* read(TopUp, answer)
    if (opened.status === "simulated")
      return yield* screen.say(`Credited $${amount}. Simulated by the sandbox: no money moved.`)
    const url = opened.checkout_url
    if (!asJson) yield* lines([url], answer.text)
    yield* screen.say("Pay on that page. The wallet is credited when the payment processor confirms the payment.")
    if (open) yield* openBrowser(url)
    if (!wait) return
    yield* waitForCredit(opened.session_id).pipe(
      Effect.onInterrupt(() =>
        screen.warn("Stopped waiting. The checkout stays open; the wallet is credited when you pay.")
      )
    )
    yield* screen.say(`Credited $${amount}.`)
  })
).pipe(
  Command.withDescription("Add funds: prints the address of the payment page"),
  withExamples({ "rungate wallet topup 25.00 --open --wait": "Pay in a browser and wait for the credit" })
)
