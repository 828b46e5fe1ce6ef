/**
 * Sends signed events to the service's webhook, as Stripe does, and reads the resulting ledger entries.
 *
 * It needs the signing secret from the environment, and has no other privilege. A harmless event is sent first, to check that
 * the service accepts the signature.
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
/** How long to wait for the ledger entry. A worker needs milliseconds. */
const turnSeconds = 5
const lookMillis = 200
/** The entry is among the newest, however busy the wallet is. */
const entriesMost = 200

const variable = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => fail("usage", `${name} can't be read.`))
  )

/** The first secret. During a rotation the variable has two, and the service accepts both. */
const signingSecret = Effect.gen(function* () {
  const [secret = ""] = (yield* variable("STRIPE_WEBHOOK_SECRET")).split(",").map((one) => one.trim())
  if (secret !== "") return secret
  return yield* fail(
    "usage",
    "Set STRIPE_WEBHOOK_SECRET to the signing secret of the service. It is not a flag, because other processes can read flags."
  )
})

const isLoopback = (url: string): boolean => {
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Refuses live keys, and remote services without --remote. */
const permitted = Effect.fnUntraced(function* (url: string, remote: boolean) {
  if (/^(sk|rk)_live_/.test((yield* variable("STRIPE_SECRET_KEY")).trim())) {
    return yield* fail(
      "auth",
      "STRIPE_SECRET_KEY is a live key. Simulated events work only in test mode: use the keys of a Stripe test account or sandbox."
    )
  }
  if (!remote && !isLoopback(url)) {
    return yield* fail("auth", `${url} is not on this machine. Pass --remote to send simulated events there.`)
  }
})

const Received = Schema.Struct({ received: Schema.Literal(true), outcome: Schema.String })

/** Returns a function that sends one event and returns its id and outcome (`stored` or `ignored`). */
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
    if (received === null) return yield* fail("failed", `${url} did not accept the Stripe event. Check RUNGATE_URL.`)
    return { id, type, outcome: received.outcome }
  })
  yield* post("rungate.trigger", {})
  return post
})

const Opened = Schema.Struct({ status: Schema.Literal("checkout"), session_id: Schema.String })

/** Opens a checkout for the organization of the key. */
export const openCheckout = Effect.fnUntraced(function* (amount: Money.MicroUsd) {
  const { send } = yield* Client
  const answer = yield* send("POST", "/v1/wallet/topups/checkout", { body: { amount: Money.usd(amount) } })
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  const opened = decoded(Opened, answer.text)
  if (opened === null)
    return yield* fail(
      "failed",
      "The service did not open a Stripe checkout. It must run with STRIPE_SECRET_KEY of a test account."
    )
  return opened.session_id
})

/** The ledger entry with this reference as JSON text; null after the timeout. */
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
    yield* screen.status("Waiting for the ledger entry")
    yield* Effect.sleep(`${lookMillis} millis`)
  }
})
