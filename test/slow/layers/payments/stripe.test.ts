/**
 * Payments over the local Stripe: what is asked of it, what its answers mean, and what becomes of calls that are lost, repeated
 * or refused. The first part is the suite that the simulated processor passes as well.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { SimulatedPayments } from "../../../../src/layers/payments/Simulated.ts"
import { dollars } from "../../../../src/schema/money/Money.ts"
import {
  chargeAsk,
  checkoutAsk,
  outcome,
  type Processor,
  processorOf,
  run,
  stripeLayer
} from "../../../layers/payments/processor.ts"
import { type LocalStripe, startStripe } from "../../../layers/payments/standin.ts"

let stripe: LocalStripe
let processor: Processor
let stops: ReadonlyArray<() => Promise<void>>
const parties: Array<{ readonly name: string; readonly processor: Processor }> = []

beforeAll(async () => {
  stripe = await startStripe()
  const real = await processorOf(stripeLayer(stripe.settings))
  const simulated = await processorOf(SimulatedPayments)
  processor = real.processor
  parties.push({ name: "stripe", processor }, { name: "simulated", processor: simulated.processor })
  stops = [real.stop, simulated.stop, stripe.stop]
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

const longAgo = new Date(Date.now() - 3_600_000)

describe("every processor", () => {
  for (const at of [0, 1]) {
    const party = () => parties[at]!
    const name = ["stripe", "simulated"][at]!

    test(`${name}: a checkout asked twice is one session, with an address and an end`, async () => {
      const ask = checkoutAsk()
      const first = await run(party().processor.checkout(ask))
      expect(first.session_id).toStartWith("cs_")
      expect(first.url).toStartWith("https://")
      expect(first.expires_at.getTime()).toBeGreaterThan(Date.now())
      expect((await run(party().processor.checkout(ask))).session_id).toBe(first.session_id)
      expect((await run(party().processor.checkout(checkoutAsk()))).session_id).not.toBe(first.session_id)
    })

    test(`${name}: a charge asked twice is one charge of the whole amount`, async () => {
      const ask = chargeAsk(stripe.customer(), "12.34")
      const first = await run(party().processor.charge(ask))
      expect(first).toMatchObject({ _tag: "Succeeded", amount: dollars("12.34"), currency: "usd" })
      expect(await run(party().processor.charge(ask))).toEqual(first)
      const other = await run(party().processor.charge(chargeAsk(stripe.customer(), "12.34")))
      expect(other).not.toEqual(first)
    })

    test(`${name}: a charge says which payment it is, and what it left to charge again`, async () => {
      const ask = chargeAsk(stripe.customer())
      const charged = await run(party().processor.charge(ask))
      if (charged._tag !== "Succeeded") throw new Error("not charged")
      expect(await run(party().processor.paymentOf(charged.payment_intent))).toBe(ask.payment_id)
      expect(await run(party().processor.reversals(charged.payment_intent))).toEqual([])
    })

    test(`${name}: what nobody signed is refused`, async () => {
      expect(await outcome(party().processor.verify("{}", undefined, Date.now() / 1000))).toStartWith(
        "SignatureRefused"
      )
    })

    test(`${name}: nothing is found of charges that never were`, async () => {
      const { customer } = stripe.customer()
      expect(await run(party().processor.findCharge(customer, "pay_never", longAgo))).toBeNull()
      expect(await run(party().processor.paymentOf("pi_elsewhere"))).toBeNull()
    })
  }
})

describe("checkout", () => {
  test("asks for whole cents of one currency, with our ids everywhere", async () => {
    const ask = checkoutAsk("25.50")
    const { session_id } = await run(processor.checkout(ask))
    const { params, key } = stripe.calls.findLast(({ method }) => method === "POST")!
    const metadata = { payment_id: ask.payment_id, org_id: ask.org_id }
    expect(key).toBe(ask.payment_id)
    expect(params).toEqual({
      mode: "payment",
      line_items: [
        {
          quantity: "1",
          price_data: { currency: "usd", unit_amount: "2550", product_data: { name: "Rungate credit" } }
        }
      ],
      client_reference_id: ask.org_id,
      metadata,
      payment_intent_data: { metadata, setup_future_usage: "off_session" },
      adaptive_pricing: { enabled: "false" },
      success_url: ask.success_url,
      cancel_url: ask.cancel_url,
      customer_creation: "always"
    })
    expect(await run(processor.session(session_id))).toEqual({
      session_id,
      ...metadata,
      status: "open",
      paid: false,
      amount: dollars("25.50"),
      currency: "usd",
      payment_intent: null,
      customer: null
    })
  })

  test("a paid session shows its intent and customer, and leaves a method to charge", async () => {
    const { session_id } = await run(processor.checkout(checkoutAsk()))
    const paid = stripe.pay(session_id)
    const { payment_intent, customer, payment_method } = paid
    expect(await run(processor.session(session_id))).toMatchObject({
      status: "complete",
      paid: true,
      payment_intent,
      customer
    })
    expect(await run(processor.savedMethod(payment_intent))).toEqual({
      customer,
      payment_method,
      label: "visa ending in 4242"
    })
    expect(await run(processor.charge(chargeAsk(paid)))).toMatchObject({ _tag: "Succeeded" })
    stripe.removeMethod(payment_method)
    expect(await run(processor.savedMethod(payment_intent))).toBeNull()
  })

  test("a session whose money takes days is complete and not paid", async () => {
    const { session_id } = await run(processor.checkout(checkoutAsk()))
    stripe.pay(session_id, { async: true })
    expect(await run(processor.session(session_id))).toMatchObject({ status: "complete", paid: false })
    stripe.settleAsync(session_id)
    expect(await run(processor.session(session_id))).toMatchObject({ status: "complete", paid: true })
  })

  test("the known customer is used, and a deleted one becomes a new one, once", async () => {
    const { customer } = stripe.customer()
    const first = await run(processor.checkout(checkoutAsk("25.00", customer)))
    expect(stripe.pay(first.session_id).customer).toBe(customer)
    stripe.removeCustomer(customer)
    const ask = checkoutAsk("25.00", customer)
    const second = await run(processor.checkout(ask))
    expect((await run(processor.checkout(ask))).session_id).toBe(second.session_id)
    expect(stripe.pay(second.session_id).customer).not.toBe(customer)
    expect(stripe.sessionsOf(ask.payment_id)).toHaveLength(1)
  })

  test("a call that is lost on its way back is repeated, and is one session", async () => {
    const ask = checkoutAsk()
    stripe.fault({ on: "checkout", at: "after", how: "close" })
    const { session_id } = await run(processor.checkout(ask))
    expect(stripe.sessionsOf(ask.payment_id).map(({ id }) => id)).toEqual([session_id])
  })

  for (const how of ["close", 500, 503, 429, 409] as const) {
    test(`Stripe that answers ${how} is unavailable, and nothing is known`, async () => {
      const ask = checkoutAsk()
      const fault = stripe.fault({ on: "checkout", how, times: 2 })
      expect(await outcome(processor.checkout(ask))).toStartWith("ProcessorUnavailable: Stripe ")
      expect(fault.hits()).toBe(how === 429 ? 1 : 2)
      fault.lift()
      expect(stripe.sessionsOf(ask.payment_id)).toEqual([])
      expect(await run(processor.checkout(ask))).toHaveProperty("session_id")
    })
  }

  test("a wrong key is told to the operator without repeating it", async () => {
    const wrong = "sk_test_ofSomebodyElse"
    const { processor, stop } = await processorOf(stripeLayer({ ...stripe.settings, STRIPE_SECRET_KEY: wrong }))
    const message = await outcome(processor.checkout(checkoutAsk()))
    expect(message).toContain("Check STRIPE_SECRET_KEY")
    expect(message).not.toContain(wrong)
    await stop()
  })

  test("the key does not follow a redirect", async () => {
    const heard: Array<string | null> = []
    const elsewhere = Bun.serve({
      port: 0,
      fetch: (request) => {
        heard.push(request.headers.get("authorization"))
        return Response.json({})
      }
    })
    const pointing = Bun.serve({ port: 0, fetch: () => Response.redirect(elsewhere.url.href, 307) })
    const settings = { ...stripe.settings, STRIPE_API_BASE: pointing.url.origin }
    const { processor, stop } = await processorOf(stripeLayer(settings))
    expect(await outcome(processor.checkout(checkoutAsk()))).toStartWith("ProcessorUnavailable")
    expect(heard).toEqual([])
    await stop()
    await pointing.stop(true)
    await elsewhere.stop(true)
  })
})

describe("charge", () => {
  const declines = [
    ["insufficient_funds", "Your card was declined."],
    ["expired_card", "Your card has expired."],
    ["authentication_required", "The bank wants its customer to confirm"],
    ["requires_action", "The bank wants its customer to confirm"]
  ] as const
  for (const [decline, message] of declines) {
    test(`${decline} is a decline, stays one when it is looked up, and leaves nothing that could succeed`, async () => {
      const method = stripe.customer()
      const ask = chargeAsk(method)
      stripe.card({ decline })
      const charged = await run(processor.charge(ask))
      stripe.card({ decline: null })
      expect(charged).toEqual({ _tag: "Declined", message: expect.stringContaining(message) })
      expect(await run(processor.charge(ask))).toEqual(charged)
      expect(await run(processor.findCharge(method.customer, ask.payment_id, longAgo))).toEqual(charged)
      const [intent] = stripe.lists.payment_intents()
      expect(["canceled", "requires_payment_method"]).toContain(intent!["status"])
      expect(stripe.charges(ask.payment_id)).toEqual([])
    })
  }

  test("one that its payer confirms before it is cancelled has succeeded", async () => {
    const method = stripe.customer()
    const ask = chargeAsk(method)
    stripe.card({ decline: "requires_action" })
    const cancelling = stripe.fault({ on: /\/cancel$/, how: "hang" })
    const charging = run(processor.charge(ask))
    await cancelling.struck
    stripe.card({ decline: null })
    stripe.settleCharge(stripe.lists.payment_intents()[0]!["id"])
    cancelling.release()
    expect(await charging).toMatchObject({ _tag: "Succeeded", amount: ask.amount })
  })

  test("one in work is pending until Stripe says more", async () => {
    const method = stripe.customer()
    const ask = chargeAsk(method)
    stripe.card({ decline: "processing" })
    const charged = await run(processor.charge(ask))
    stripe.card({ decline: null })
    if (charged._tag !== "Pending") throw new Error("not pending")
    const look = () => run(processor.findCharge(method.customer, ask.payment_id, longAgo))
    expect(await look()).toEqual(charged)
    stripe.settleCharge(charged.payment_intent)
    expect(await look()).toMatchObject({ _tag: "Succeeded", payment_intent: charged.payment_intent })
  })

  test("a method or a customer that is gone is a decline that names no id", async () => {
    const method = stripe.customer()
    stripe.removeMethod(method.payment_method)
    const charged = await run(processor.charge(chargeAsk(method)))
    expect(charged).toEqual({ _tag: "Declined", message: expect.stringContaining("can't be charged any more") })
    stripe.removeCustomer(method.customer)
    expect(await run(processor.charge(chargeAsk(method)))).toEqual(charged)
  })

  test("an answer that is lost twice leaves one charge, which is found, and asking again is the same one", async () => {
    const method = stripe.customer()
    const ask = chargeAsk(method)
    stripe.fault({ on: "charge", at: "after", how: "close", times: 2 })
    expect(await outcome(processor.charge(ask))).toBe("ProcessorUnavailable: Stripe could not be reached.")
    // Asked with the database's time, when Stripe's clock runs behind it.
    const since = new Date((stripe.now() + 200) * 1000)
    const found = await run(processor.findCharge(method.customer, ask.payment_id, since))
    expect(found).toMatchObject({ _tag: "Succeeded", amount: ask.amount })
    expect(await run(processor.charge(ask))).toEqual(found!)
    expect(stripe.charges(ask.payment_id)).toHaveLength(1)
  })

  test("a 500 after the charge is replayed under its key, and only the lookup tells", async () => {
    const method = stripe.customer()
    const ask = chargeAsk(method)
    stripe.fault({ on: "charge", at: "after", how: 500 })
    for (let times = 0; times < 2; times++)
      expect(await outcome(processor.charge(ask))).toStartWith("ProcessorUnavailable")
    expect(await run(processor.findCharge(method.customer, ask.payment_id, longAgo))).toMatchObject({
      _tag: "Succeeded"
    })
    expect(stripe.charges(ask.payment_id)).toHaveLength(1)
  })

  test("the same payment with another amount is not charged, and nobody calls it declined", async () => {
    const ask = chargeAsk(stripe.customer())
    await run(processor.charge(ask))
    const other = await outcome(processor.charge({ ...ask, amount: dollars("1.00") }))
    expect(other).toContain("ProcessorUnavailable: Stripe has this payment with other details")
    expect(stripe.charges(ask.payment_id)).toHaveLength(1)
  })

  test("two processes that charge the same payment at once charge it once", async () => {
    const ask = chargeAsk(stripe.customer())
    const slow = stripe.fault({ on: "charge", at: "after", how: "hang" })
    const first = run(processor.charge(ask))
    await slow.struck
    expect(await outcome(processor.charge(ask))).toStartWith("ProcessorUnavailable")
    slow.release()
    expect(await first).toMatchObject({ _tag: "Succeeded" })
    expect(stripe.charges(ask.payment_id)).toHaveLength(1)
  })
})

describe("what became of payments", () => {
  const paid = async () => {
    const ask = checkoutAsk("30.00")
    const { session_id } = await run(processor.checkout(ask))
    return { ...ask, session_id, ...stripe.pay(session_id) }
  }

  /** A time after everything so far, further than clocks may differ. */
  const later = () => {
    stripe.travel(1_000)
    return new Date(stripe.now() * 1000)
  }

  test("refunds and disputes are listed with how they stand", async () => {
    const { payment_intent } = await paid()
    const refund = stripe.refund(payment_intent, 500)
    const failed = stripe.refund(payment_intent, 300)
    stripe.failRefund(failed)
    const inquiry = stripe.dispute(payment_intent, { cents: 100, inquiry: true })
    const lost = stripe.dispute(payment_intent, { cents: 200 })
    const won = stripe.dispute(payment_intent, { cents: 400 })
    stripe.closeDispute(lost, "lost")
    stripe.closeDispute(won, "won")
    const told = await run(processor.reversals(payment_intent))
    const short = told.map((one) =>
      one._tag === "Reversed" ? [one.reversal_id, one.kind, one.amount, one.standing] : one
    )
    expect(short.sort()).toEqual(
      [
        [refund, "refund", dollars("5.00"), "taken"],
        [failed, "refund", dollars("3.00"), "returned"],
        [inquiry, "dispute", dollars("1.00"), "noticed"],
        [lost, "dispute", dollars("2.00"), "taken"],
        [won, "dispute", dollars("4.00"), "returned"]
      ].sort()
    )
  })

  test("settled payments are listed once each, over many pages, and other shops' never", async () => {
    const since = later()
    const checkout = await paid()
    const open = await run(processor.checkout(checkoutAsk()))
    stripe.pay(open.session_id, { async: true })
    const method = stripe.customer()
    const asks = Array.from({ length: 120 }, () => chargeAsk(method, "1.00"))
    for (const ask of asks) await run(processor.charge(ask))
    const foreign = stripe.lists.payment_intents().find(({ metadata }) => metadata.payment_id === asks[0]!.payment_id)!
    delete foreign["metadata"].payment_id
    const settled = await run(processor.settledSince(since))
    expect(settled.map(({ payment_id }) => payment_id).sort()).toEqual(
      [checkout.payment_id, ...asks.slice(1).map(({ payment_id }) => payment_id)].sort()
    )
    expect(settled.find(({ payment_id }) => payment_id === checkout.payment_id)).toEqual({
      payment_id: checkout.payment_id,
      org_id: "org_1",
      session_id: checkout.session_id,
      payment_intent: checkout.payment_intent,
      amount: dollars("30.00"),
      currency: "usd"
    })
  })

  test("events since a time come oldest first, only of types that matter, over many pages", async () => {
    const since = later()
    const before = stripe.events.length
    for (let count = 0; count < 60; count++) await paid()
    const told = await run(processor.eventsSince(since))
    const types = ["payment_intent.succeeded", "checkout.session.completed"]
    const sent = stripe.events.slice(before).filter(({ type }) => types.includes(type))
    expect(told.map(({ event_id }) => event_id)).toEqual(sent.map(({ id }) => id))
    expect(told).toHaveLength(120)
  })
})
