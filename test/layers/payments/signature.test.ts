/**
 * T44: attacks on the webhook's signature. Each message is built from a good one by one change; only what Stripe itself may send
 * is let through, and no answer repeats a secret.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { outcome, type Processor, processorOf, stripeLayer } from "./processor.ts"
import { startStripe, webhookSecret } from "./standin.ts"
import type { Thing } from "./account.ts"

const now = 1_800_000_000
const event: Thing = {
  id: "evt_1Good",
  object: "event",
  api_version: "2026-10-28.endive",
  created: now,
  livemode: false,
  pending_webhooks: 1,
  request: null,
  type: "checkout.session.expired",
  data: {
    object: {
      id: "cs_1",
      object: "checkout.session",
      mode: "payment",
      amount_total: 2500,
      currency: "usd",
      metadata: {}
    }
  }
}
const text = (changes: Thing = {}) => JSON.stringify({ ...event, ...changes }, null, 2)
const good = text()
const mac = (body: string, time: number | string = now, secret = webhookSecret) =>
  createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")
const signed = (body = good, time: number | string = now, secret = webhookSecret) =>
  `t=${time},v1=${mac(body, time, secret)}`
const other = "whsec_another_one"

const processors: Record<string, Processor> = {}
const stops: Array<() => Promise<void>> = []
beforeAll(async () => {
  for (const [name, live, secrets] of [
    ["test", false, webhookSecret],
    ["live", true, webhookSecret],
    ["rotating", false, `whsec_the_new_one, ${webhookSecret}`]
  ] as const) {
    const stripe = await startStripe({ live })
    const { processor, stop } = await processorOf(stripeLayer({ ...stripe.settings, STRIPE_WEBHOOK_SECRET: secrets }))
    processors[name] = processor
    stops.push(stop, stripe.stop)
  }
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

const verdict = (body: string, header: string | undefined, at = now, name = "test") =>
  outcome(processors[name]!.verify(body, header, at))

describe("let through", () => {
  const cases: ReadonlyArray<readonly [string, string, string, (number | undefined)?, string?]> = [
    ["a good message", good, signed()],
    ["299 seconds old", good, signed(), now + 299],
    ["300 seconds old", good, signed(), now + 300],
    ["300 seconds in the future, for clocks differ", good, signed(), now - 300],
    ["the old secret while it is replaced", good, signed(), now, "rotating"],
    ["the new secret while it replaces one", good, signed(good, now, "whsec_the_new_one"), now, "rotating"],
    ["one good signature among those of other secrets", good, `t=${now},v1=${mac(good, now, other)},v1=${mac(good)}`],
    ["a v0 beside the good one, as test mode sends it", good, `${signed()},v0=${mac(good, now, other)}`],
    ["a live event with a live key", text({ livemode: true }), signed(text({ livemode: true })), now, "live"],
    ["fields that nobody knows yet", text({ novelty: { a: [1] } }), signed(text({ novelty: { a: [1] } }))],
    ["letters beyond ASCII", text({ note: "Größe ✓ 💶" }), signed(text({ note: "Größe ✓ 💶" }))]
  ]
  for (const [name, body, header, at, who] of cases) {
    test(name, async () => {
      expect(await verdict(body, header, at, who)).toEqual({
        event_id: "evt_1Good",
        type: "checkout.session.expired",
        about: { payment_id: null, session_id: "cs_1", payment_intent: null },
        facts: [{ _tag: "Expired", session_id: "cs_1" }],
        ask_reversals: false
      })
    })
  }
})

describe("refused", () => {
  const live = text({ livemode: true })
  const connected = text({ account: "acct_1Another" })
  const cut = good.slice(0, -20)
  const same = JSON.stringify(JSON.parse(good))
  const malformed = "header is malformed"
  const unmatched = "No signature matches"
  const noEvent = "not a Stripe event"
  const cases: ReadonlyArray<readonly [string, string, string | undefined, string, (number | undefined)?, string?]> = [
    ["no header", good, undefined, "Stripe-Signature header is missing"],
    ["an empty header", good, "", "Stripe-Signature header is missing"],
    ["an empty body", "", signed(""), "body is empty"],
    ["a wrong secret", good, signed(good, now, other), unmatched],
    ["the endpoint of another account", good, signed(good, now, "whsec_of_their_endpoint"), unmatched],
    ["neither of two secrets", good, signed(good, now, other), unmatched, now, "rotating"],
    [
      "both secrets as if they were one",
      good,
      signed(good, now, `whsec_the_new_one, ${webhookSecret}`),
      unmatched,
      now,
      "rotating"
    ],
    ["a changed byte", good.replace("2500", "9500"), signed(), unmatched],
    ["a byte more", `${good}\n`, signed(), unmatched],
    ["the same JSON written anew", same, signed(), unmatched],
    ["a cut body", cut, signed(), unmatched],
    ["a signature for another time", good, `t=${now + 1},v1=${mac(good)}`, unmatched],
    [
      "the signature of the body without its time",
      good,
      `t=${now},v1=${createHmac("sha256", webhookSecret).update(good).digest("hex")}`,
      unmatched
    ],
    ["v0 only", good, `t=${now},v0=${mac(good)}`, malformed],
    ["a scheme that is not ours", good, `t=${now},v2=${mac(good)}`, malformed],
    ["a good signature and a strange part", good, `${signed()},x=1`, malformed],
    ["two times, the second one signed", good, `t=${now - 1},${signed()}`, malformed],
    ["two times, the first one signed", good, `${signed()},t=${now + 86_400}`, malformed],
    ["the same time twice", good, `t=${now},${signed()}`, malformed],
    ["no time", good, `v1=${mac(good)}`, malformed],
    ["an empty time", good, `t=,v1=${mac(good, "")}`, malformed],
    ["a time below zero", good, signed(good, -now), malformed],
    ["a time with a fraction", good, signed(good, `${now}.5`), malformed],
    ["a time in another notation", good, signed(good, "1.8e9"), malformed],
    ["a time with letters after it", good, signed(good, `${now}x`), malformed],
    ["no signature", good, `t=${now}`, malformed],
    ["an empty signature", good, `t=${now},v1=`, malformed],
    ["half a signature", good, `t=${now},v1=${mac(good).slice(0, 32)}`, malformed],
    ["a signature in capitals", good, `t=${now},v1=${mac(good).toUpperCase()}`, malformed],
    ["spaces between the parts", good, `t=${now}, v1=${mac(good)}`, malformed],
    ["two headers that a proxy has joined", good, `${signed()}, ${signed()}`, malformed],
    ["twenty signatures", good, `t=${now}${`,v1=${mac(good, 0)}`.repeat(19)},v1=${mac(good)}`, malformed],
    ["a thousand signatures", good, `t=${now}${`,v1=${mac(good, 0)}`.repeat(1000)},v1=${mac(good)}`, malformed],
    ["301 seconds old", good, signed(), "301 seconds ago", now + 301],
    ["a day old", good, signed(), "86400 seconds ago", now + 86_400],
    ["from the next day", good, signed(), "86400 seconds in the future", now - 86_400],
    ["301 seconds in the future", good, signed(), "301 seconds in the future", now - 301],
    ["the time of the Epoch", good, signed(good, 0), `${now} seconds ago`],
    ["a test event with a live key", good, signed(), "from test mode", now, "live"],
    ["a live event with a test key", live, signed(live), "from live mode"],
    ["a connected account's event", connected, signed(connected), "about a connected account"],
    ["signed, and cut before it was signed", cut, signed(cut), noEvent],
    ["signed, and no JSON", "paid=1", signed("paid=1"), noEvent],
    ["signed, and a list", `[${good}]`, signed(`[${good}]`), noEvent],
    ["signed, and nothing", "null", signed("null"), noEvent],
    ["signed, and another object", text({ object: "charge" }), signed(text({ object: "charge" })), noEvent],
    ["signed, and a thin event", text({ object: "v2.core.event" }), signed(text({ object: "v2.core.event" })), noEvent],
    ["signed, and of no mode", text({ livemode: null }), signed(text({ livemode: null })), noEvent],
    ["signed, and without an id", text({ id: "" }), signed(text({ id: "" })), noEvent],
    ["signed, and without its object", text({ data: {} }), signed(text({ data: {} })), noEvent]
  ]
  for (const [name, body, header, message, at, who] of cases) {
    test(name, async () => {
      const told = await verdict(body, header, at, who)
      expect(told).toStartWith("SignatureRefused: ")
      expect(told).toContain(message)
      expect(told).not.toContain("whsec_")
    })
  }
  test("they are as many as the plan counts", () => expect(cases.length).toBeGreaterThanOrEqual(40))
})
