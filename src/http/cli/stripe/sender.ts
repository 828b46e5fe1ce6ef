/**
 * Sends signed events to the service's webhook, as Stripe would, and sees what they do to the wallet.
 *
 * The only power in it is the signing secret, which comes from the environment: whoever has it could send the same with any other
 * tool. Before anything is opened, an event that means nothing shows that the service takes them from here.
 */
import { Clock, Config, Effect, Schema } from "effect"
import { memberText } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { Client } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, failureOf, pageOf } from "../answers/show.ts"
import { eventText } from "./events.ts"

const webhookPath = "/v1/webhooks/stripe"
/** A worker's turn comes within milliseconds; without a worker nothing ever happens. */
const turnSeconds = 5
const lookMillis = 200
/** The entry is among the newest, however busy the wallet is. */
const entriesMost = 200

const variable = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => fail("usage", `${name} can't be read.`))
  )

/** The first of them: while one secret replaces another the service takes either. */
const signingSecret = Effect.gen(function* () {
  const [secret = ""] = (yield* variable("STRIPE_WEBHOOK_SECRET")).split(",").map((one) => one.trim())
  if (secret !== "") return secret
  return yield* fail(
    "usage",
    "Set STRIPE_WEBHOOK_SECRET to the signing secret that the service was started with. It is no flag: every process can read those."
  )
})

const isLoopback = (url: string): boolean => {
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Whether events may be made up here at all. */
const permitted = Effect.fnUntraced(function* (url: string, remote: boolean) {
  if (/^(sk|rk)_live_/.test((yield* variable("STRIPE_SECRET_KEY")).trim())) {
    return yield* fail(
      "auth",
      "STRIPE_SECRET_KEY is a live key: events are made up for test mode only. Use the keys of a test account or sandbox of Stripe's."
    )
  }
  if (!remote && !isLoopback(url)) {
    return yield* fail("auth", `${url} is not on this machine. --remote sends made-up events there all the same.`)
  }
})

const Received = Schema.Struct({ received: Schema.Literal(true), outcome: Schema.String })

/** How to send one event. Answers its id, and `stored` or `ignored`. */
export const sender = Effect.fnUntraced(function* (remote: boolean) {
  const { send, url } = yield* Client
  yield* permitted(url, remote)
  const secret = yield* signingSecret
  // The SDK costs 15 ms to load, which only this needs.
  const { default: Stripe } = yield* Effect.promise(() => import("stripe"))
  const post = Effect.fnUntraced(function* (type: string, object: object) {
    const now = yield* Clock.currentTimeMillis
    const { id, text } = eventText(type, object, now)
    const signed = { payload: text, secret, timestamp: Math.floor(now / 1000) }
    const signature = yield* Effect.promise(() => Stripe.webhooks.generateTestHeaderStringAsync(signed))
    const answer = yield* send("POST", webhookPath, { text, headers: { "stripe-signature": signature } })
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const received = decoded(Received, answer.text)
    if (received === null) return yield* fail("failed", `${url} takes no events of Stripe's; is RUNGATE_URL right?`)
    return { id, type, outcome: received.outcome }
  })
  yield* post("rungate.trigger", {})
  return post
})

const Opened = Schema.Struct({ status: Schema.Literal("checkout"), session_id: Schema.String })

/** A checkout of the organization that the key belongs to. */
export const openCheckout = Effect.fnUntraced(function* (amount: Money.MicroUsd) {
  const { send } = yield* Client
  const answer = yield* send("POST", "/v1/wallet/topups/checkout", { body: { amount: Money.usd(amount) } })
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  const opened = decoded(Opened, answer.text)
  if (opened === null) return yield* fail("failed", "The service opened no checkout of Stripe's.")
  return opened.session_id
})

/** The ledger's entry of that name, as the API lists it; null when there is none in time. */
export const entryOf = Effect.fnUntraced(function* (reference: string) {
  const { send } = yield* Client
  const screen = yield* Screen
  const end = (yield* Clock.currentTimeMillis) + turnSeconds * 1000
  for (;;) {
    const answer = yield* send("GET", `/v1/wallet/transactions?limit=${entriesMost}`)
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
    const entry = pageOf(answer.text).items.find((item) => memberText(item, "reference") === JSON.stringify(reference))
    if (entry !== undefined || (yield* Clock.currentTimeMillis) > end) {
      yield* screen.status("")
      return entry ?? null
    }
    yield* screen.status("Waiting for the wallet's turn")
    yield* Effect.sleep(`${lookMillis} millis`)
  }
})
