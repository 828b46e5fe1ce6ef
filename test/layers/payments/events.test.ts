/**
 * Every type of event and the facts it has: golden values, objects as Stripe writes them in this and in older API versions.
 */
import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { eventOf, eventTypes, StripeEvent } from "../../../src/layers/payments/StripeEvents.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { PaymentFact } from "../../../src/schema/wallet/PaymentFact.ts"
import type { Thing } from "./account.ts"
import { startStripe } from "./standin.ts"

const decode = Schema.decodeUnknownSync(StripeEvent)
const read = (type: string, object: unknown) =>
  eventOf(decode({ id: "evt_1", object: "event", type, livemode: false, data: { object } }))

const session = (changes: Thing = {}): Thing => ({
  id: "cs_test_1",
  object: "checkout.session",
  amount_total: 2550,
  client_reference_id: "org_1",
  currency: "usd",
  customer: "cus_1",
  metadata: { payment_id: "pay_1", org_id: "org_1" },
  mode: "payment",
  payment_intent: "pi_1",
  payment_status: "paid",
  status: "complete",
  ...changes
})
const intent = (changes: Thing = {}): Thing => ({
  id: "pi_1",
  object: "payment_intent",
  amount: 2000,
  amount_received: 2000,
  currency: "usd",
  customer: "cus_1",
  last_payment_error: null,
  metadata: { payment_id: "pay_1", org_id: "org_1" },
  payment_method: "pm_1",
  setup_future_usage: null,
  status: "succeeded",
  ...changes
})
const refund = (changes: Thing = {}): Thing => ({
  id: "re_1",
  object: "refund",
  amount: 500,
  charge: "ch_1",
  currency: "usd",
  metadata: { payment_id: "pay_written_by_somebody_in_the_dashboard" },
  payment_intent: "pi_1",
  status: "succeeded",
  ...changes
})
const withdrawal = { object: "balance_transaction", amount: -2000 }
const reinstatement = { object: "balance_transaction", amount: 2000 }
const dispute = (status: string, changes: Thing = {}): Thing => ({
  id: "dp_1",
  object: "dispute",
  amount: 2000,
  balance_transactions: [withdrawal],
  charge: "ch_1",
  currency: "usd",
  payment_intent: "pi_1",
  status,
  ...changes
})

const paid = {
  _tag: "Paid",
  session_id: "cs_test_1",
  payment_intent: "pi_1",
  customer: "cus_1",
  amount: dollars("25.50"),
  currency: "usd"
}
const back = (kind: string, standing: string) => ({
  _tag: "Reversed",
  reversal_id: kind === "refund" ? "re_1" : "dp_1",
  payment_intent: "pi_1",
  kind,
  amount: kind === "refund" ? dollars("5.00") : dollars("20.00"),
  standing
})
const noticed = [back("dispute", "noticed")]
const taken = [back("dispute", "taken")]
const returned = [back("dispute", "returned")]
const none = { balance_transactions: [] }
const confirm = "The bank wants its customer to confirm this payment. Top up once through the checkout page."

const cases: ReadonlyArray<readonly [string, string, Thing, ReadonlyArray<object>]> = [
  ["paid at once", "checkout.session.completed", session(), [paid]],
  ["complete, the money comes later", "checkout.session.completed", session({ payment_status: "unpaid" }), []],
  ["complete, nothing to pay", "checkout.session.completed", session({ payment_status: "no_payment_required" }), []],
  ["the money came", "checkout.session.async_payment_succeeded", session(), [paid]],
  [
    "the money did not come",
    "checkout.session.async_payment_failed",
    session({ payment_status: "unpaid" }),
    [{ _tag: "Failed", session_id: "cs_test_1", reason: "The payment failed." }]
  ],
  [
    "nobody paid",
    "checkout.session.expired",
    session({ status: "expired", payment_status: "unpaid", payment_intent: null, customer: null }),
    [{ _tag: "Expired", session_id: "cs_test_1" }]
  ],
  ["a subscription of another shop", "checkout.session.completed", session({ mode: "subscription" }), []],
  ["a session that saves a card", "checkout.session.expired", session({ mode: "setup", amount_total: null }), []],
  ["no amount", "checkout.session.completed", session({ amount_total: null }), []],
  ["no currency", "checkout.session.completed", session({ currency: undefined }), []],
  ["half a cent", "checkout.session.completed", session({ amount_total: 2550.5 }), []],
  ["less than nothing", "checkout.session.completed", session({ amount_total: -2550 }), []],
  ["an amount in words", "checkout.session.completed", session({ amount_total: "2550" }), []],
  [
    "euros, for the turn to judge",
    "checkout.session.completed",
    session({ currency: "eur" }),
    [{ ...paid, currency: "eur" }]
  ],
  [
    "whole objects for references, as an old endpoint sends them",
    "checkout.session.completed",
    session({ payment_intent: { id: "pi_1", object: "payment_intent" }, customer: { id: "cus_1" }, novelty: [{}] }),
    [paid]
  ],
  [
    "a charge succeeded",
    "payment_intent.succeeded",
    intent({ amount_received: 1999 }),
    [{ ...paid, session_id: null, amount: dollars("19.99") }]
  ],
  [
    "a charge failed",
    "payment_intent.payment_failed",
    intent({ status: "requires_payment_method", last_payment_error: { code: "card_declined", message: "No funds." } }),
    [{ _tag: "Failed", session_id: null, reason: "No funds." }]
  ],
  [
    "a charge whose bank wants to see its customer",
    "payment_intent.payment_failed",
    intent({ status: "requires_payment_method", last_payment_error: { code: "authentication_required" } }),
    [{ _tag: "Failed", session_id: null, reason: confirm }]
  ],
  [
    "a charge was cancelled, having waited for its payer",
    "payment_intent.canceled",
    intent({ status: "canceled" }),
    [{ _tag: "Failed", session_id: null, reason: confirm }]
  ],
  ["a refund", "refund.created", refund(), [back("refund", "taken")]],
  ["a refund on its way", "refund.created", refund({ status: "pending" }), [back("refund", "taken")]],
  ["a refund that waits", "refund.updated", refund({ status: "requires_action" }), [back("refund", "taken")]],
  ["a refund without a status", "refund.updated", refund({ status: null }), [back("refund", "taken")]],
  ["a refund that failed", "refund.updated", refund({ status: "failed" }), [back("refund", "returned")]],
  [
    "a refund that was called off",
    "charge.refund.updated",
    refund({ status: "canceled" }),
    [back("refund", "returned")]
  ],
  ["the old name of an update", "charge.refund.updated", refund(), [back("refund", "taken")]],
  ["a failure by its name", "refund.failed", refund({ status: "pending" }), [back("refund", "returned")]],
  ["a refund in another currency", "refund.created", refund({ currency: "eur" }), []],
  ["a refund of nothing", "refund.created", refund({ amount: 0 }), []],
  ["an inquiry", "charge.dispute.created", dispute("warning_needs_response", none), noticed],
  ["an inquiry in work", "charge.dispute.updated", dispute("warning_under_review", none), noticed],
  ["an inquiry that is over", "charge.dispute.closed", dispute("warning_closed", none), noticed],
  ["a dispute", "charge.dispute.created", dispute("needs_response"), taken],
  ["a dispute before its movement is booked", "charge.dispute.created", dispute("needs_response", none), taken],
  ["a dispute in work", "charge.dispute.updated", dispute("under_review"), taken],
  ["a dispute appealed", "charge.dispute.updated", dispute("appeal_under_review"), taken],
  ["a dispute lost", "charge.dispute.closed", dispute("lost"), taken],
  ["a dispute won", "charge.dispute.closed", dispute("won"), returned],
  ["a dispute fended off", "charge.dispute.closed", dispute("prevented", none), noticed],
  ["a dispute settled with our money", "charge.dispute.closed", dispute("prevented"), taken],
  [
    "a dispute fended off later",
    "charge.dispute.closed",
    dispute("prevented", { balance_transactions: [withdrawal, reinstatement] }),
    returned
  ],
  ["a status of tomorrow, money gone", "charge.dispute.updated", dispute("in_arbitration"), taken],
  ["a status of tomorrow, no money gone", "charge.dispute.updated", dispute("in_arbitration", none), noticed],
  ["the money is gone", "charge.dispute.funds_withdrawn", dispute("warning_under_review", none), taken],
  ["the money is back", "charge.dispute.funds_reinstated", dispute("under_review"), returned],
  ["the money is gone, told after it came back", "charge.dispute.funds_withdrawn", dispute("won"), returned],
  ["an object of another shape", "charge.dispute.created", { id: 7 }, []],
  ["a type of another trade", "invoice.paid", session(), []],
  ["a type that objects have by birth", "constructor", session(), []]
]

describe("facts", () => {
  for (const [name, type, object, facts] of cases) {
    test(`${type}: ${name}`, () => {
      const { event_id, type: told, facts: found, ask_reversals } = read(type, object)
      expect({ event_id, told, found, ask_reversals }).toEqual({
        event_id: "evt_1",
        told: type,
        found: facts as ReadonlyArray<PaymentFact>,
        ask_reversals: false
      })
    })
  }

  test("charge.refunded: says that money went back, and has the refunds asked", () => {
    const charge = { id: "ch_1", object: "charge", metadata: { payment_id: "pay_1" }, payment_intent: "pi_1" }
    const about = { payment_id: "pay_1", session_id: null, payment_intent: "pi_1" }
    expect(read("charge.refunded", charge)).toMatchObject({ about, facts: [], ask_reversals: true })
    expect(read("charge.refunded", { ...charge, payment_intent: null }).ask_reversals).toBe(false)
  })

  test("all types that we subscribe to have a case here, in as many as one list may name", () => {
    const tested = new Set(cases.map(([, type]) => type)).add("charge.refunded")
    expect(eventTypes.filter((type) => !tested.has(type))).toEqual([])
    expect(eventTypes.length).toBeLessThanOrEqual(20)
  })

  test("an intent of the sandbox's has none: the audit would not ask the processor about its money", () => {
    const made = { payment_intent: "pi_sim_pay_1" }
    for (const [type, object] of [
      ["checkout.session.completed", session(made)],
      ["payment_intent.succeeded", intent({ id: "pi_sim_pay_1" })],
      ["refund.created", refund(made)]
    ] as const) {
      const { about, facts } = read(type, object)
      expect([type, about.payment_intent, facts]).toEqual([type, null, []])
    }
  })

  test("they survive the mailbox", () => {
    const [fact] = read("checkout.session.completed", session()).facts
    const stored = JSON.stringify(Schema.encodeSync(PaymentFact)(fact!))
    expect(JSON.parse(stored).amount).toBe("25.50")
    expect(Schema.decodeUnknownSync(PaymentFact)(JSON.parse(stored))).toEqual(fact!)
  })
})

describe("what an event is about", () => {
  test("a session tells all, an intent its own ids, money that goes back only the intent", () => {
    const all = { payment_id: "pay_1", session_id: "cs_test_1", payment_intent: "pi_1" }
    expect(read("checkout.session.completed", session()).about).toEqual(all)
    expect(read("payment_intent.succeeded", intent()).about).toEqual({ ...all, session_id: null })
    const only = { payment_id: null, session_id: null, payment_intent: "pi_1" }
    expect(read("refund.created", refund()).about).toEqual(only)
    expect(read("charge.dispute.created", dispute("lost")).about).toEqual(only)
    expect(read("checkout.session.completed", session({ metadata: null })).about).toEqual({ ...all, payment_id: null })
  })

  test("an id that PostgreSQL can't read, which another product wrote, names no payment", () => {
    const other = session({ metadata: { payment_id: "pay_1\0" } })
    expect(read("checkout.session.completed", other).about.payment_id).toBe("pay_1\ufffd")
  })
})

test("the local Stripe speaks as the goldens do: a payment's whole life", async () => {
  const stripe = await startStripe()
  const { payment_intent } = await (async () => {
    const response = await fetch(`${stripe.url}/v1/checkout/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${stripe.settings.STRIPE_SECRET_KEY}` },
      body: "mode=payment&line_items[0][quantity]=1&line_items[0][price_data][unit_amount]=2550&line_items[0][price_data][currency]=usd"
    })
    const { id } = await response.json()
    stripe.pay(id, { async: true })
    stripe.settleAsync(id)
    return stripe.lists.sessions()[0] as { payment_intent: string }
  })()
  stripe.failRefund(stripe.refund(payment_intent, 100))
  const disputed = stripe.dispute(payment_intent, { inquiry: true })
  stripe.escalate(disputed)
  stripe.closeDispute(disputed, "won")
  const story = stripe.events.flatMap((event) =>
    eventOf(decode(event)).facts.map((fact) => [event["type"], fact._tag === "Reversed" ? fact.standing : fact._tag])
  )
  expect(story).toEqual([
    ["payment_intent.succeeded", "Paid"],
    ["checkout.session.async_payment_succeeded", "Paid"],
    ["refund.created", "taken"],
    ["refund.updated", "taken"],
    ["charge.refund.updated", "taken"],
    ["refund.updated", "returned"],
    ["refund.failed", "returned"],
    ["charge.refund.updated", "returned"],
    ["charge.dispute.created", "noticed"],
    ["charge.dispute.updated", "taken"],
    ["charge.dispute.funds_withdrawn", "taken"],
    ["charge.dispute.closed", "returned"],
    ["charge.dispute.funds_reinstated", "returned"]
  ])
  await stripe.stop()
})
