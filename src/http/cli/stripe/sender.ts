/**
 * Sends signed events to the service's webhook, as Stripe does.
 *
 * It needs the signing secret from the environment, and has no other privilege.
 */
import { Clock, Config, Effect, Schema } from "effect"
import { Client } from "../answers/Client.ts"
import { decoded, succeeded } from "../answers/show.ts"
import { fail, bad, failedWith } from "../terminal/exits.ts"
import { eventText } from "./events.ts"

const variable = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => bad(`${name} can't be read.`))
  )

const isLoopback = (url: string): boolean => /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(new URL(url).hostname)

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
  // During a rotation the variable has two, and the service accepts both.
  const [secret = ""] = (yield* variable("STRIPE_WEBHOOK_SECRET")).split(",").map((one) => one.trim())
  if (secret === "") {
    return yield* bad(
      "Set STRIPE_WEBHOOK_SECRET to the signing secret of the service. It is not a flag, because other processes can read flags."
    )
  }
  // The SDK costs 15 ms to load, which only this needs.
  const { default: Stripe } = yield* Effect.promise(() => import("stripe"))
  const post = Effect.fnUntraced(function* (type: string, object: object) {
    const now = yield* Clock.currentTimeMillis
    const { id, text } = eventText(type, object, now)
    const signed = { payload: text, secret, timestamp: Math.floor(now / 1000) }
    const signature = yield* Effect.promise(() => Stripe.webhooks.generateTestHeaderStringAsync(signed))
    const answer = yield* send("POST", "/v1/webhooks/stripe", { text, headers: { "stripe-signature": signature } })
    const received = decoded(Received, (yield* succeeded(answer)).text)
    if (received === null) return yield* failedWith(`${url} did not accept the Stripe event. Check RUNGATE_URL.`)
    return { id, type, outcome: received.outcome }
  })
  // An event without effect shows whether the service accepts the signature, before anything is opened.
  yield* post("rungate.trigger", {})
  return post
})
