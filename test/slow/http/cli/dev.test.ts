/** `rungate dev stripe trigger` against a service with the local Stripe: what it books, what the audits say, and where it is refused. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Schema } from "effect"
import { eventText, eventTypes, intentOf, newReversal, triggerOf } from "../../../../src/http/cli/stripe/events.ts"
import { eventOf, eventTypes as known, StripeEvent } from "../../../../src/layers/payments/StripeEvents.ts"
import { dollars } from "../../../../src/schema/money/Money.ts"
import { runMain } from "../../../chaos/processes.ts"
import { moved } from "../../../layers/payments/cashdesk.ts"
import { type LocalStripe, startStripe } from "../../../layers/payments/standin.ts"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"
import { dueToday } from "../../../kit/input-samples.ts"

let app: App
let stripe: LocalStripe
let home: Home
beforeAll(async () => {
  stripe = await startStripe()
  const settings = { RUNGATE_MODE: "production", RUNGATE_RECONCILE_SECONDS: "86400", ...stripe.settings }
  app = await startApp({ settings })
  home = newHome({
    RUNGATE_URL: app.url,
    STRIPE_WEBHOOK_SECRET: `${stripe.settings.STRIPE_WEBHOOK_SECRET},whsec_older`
  })
})
afterAll(async () => {
  await app.stop()
  await stripe.stop()
  home.remove()
})

const trigger = (org: Tenant | null, line: string, more: Readonly<Record<string, string>> = {}) =>
  home.shell(`rungate dev stripe trigger ${line}`, { ...(org === null ? {} : { RUNGATE_API_KEY: org.key }), ...more })
const payments = (org: Tenant) =>
  app.sql("SELECT payment_id, kind, state, session_id FROM payments WHERE org_id = $1 ORDER BY payment_id", [
    org.org_id
  ])

test.concurrent("every event that the service reads can be triggered, and is read as what it says", () => {
  expect<ReadonlyArray<string>>(eventTypes.toSorted()).toEqual(known.toSorted())
  const decode = Schema.decodeUnknownSync(StripeEvent)
  const read = eventTypes.map((type) => {
    const subject = {
      session_id: "cs_test_1",
      payment_id: "pay_1",
      payment_intent: intentOf("cs_test_1"),
      reversal_id: newReversal(type),
      cents: 2_550,
      outcome: "lost" as const
    }
    const { id, text } = eventText(type, triggerOf(type).object(subject), 0)
    const event = decode(JSON.parse(text))
    const { event_id, about, facts, ask_reversals } = eventOf(event)
    expect([event_id, event.livemode]).toEqual([id, false])
    expect([subject.payment_intent, null]).toContain(about.payment_intent)
    for (const fact of facts) {
      if ("amount" in fact) expect(fact.amount).toBe(dollars("25.50"))
      // No card is saved that does not exist.
      if (fact._tag === "Paid") expect(fact.customer).toBeNull()
    }
    const [fact] = facts
    return [type, ask_reversals ? "asks" : fact?._tag === "Reversed" ? fact.standing : fact?._tag]
  })
  expect(Object.fromEntries(read)).toEqual({
    "checkout.session.completed": "Paid",
    "checkout.session.async_payment_succeeded": "Paid",
    "checkout.session.async_payment_failed": "Failed",
    "checkout.session.expired": "Expired",
    "payment_intent.succeeded": "Paid",
    "payment_intent.payment_failed": "Failed",
    "payment_intent.canceled": "Failed",
    "refund.created": "taken",
    "refund.updated": "taken",
    "charge.refund.updated": "taken",
    "refund.failed": "returned",
    "charge.refunded": "asks",
    "charge.dispute.created": "taken",
    "charge.dispute.updated": "taken",
    "charge.dispute.closed": "taken",
    "charge.dispute.funds_withdrawn": "taken",
    "charge.dispute.funds_reinstated": "returned"
  })
})

test.concurrent("a checkout is opened and paid, refunded in part, and the refund fails; the books hold, and Stripe's audit tells", async () => {
  const org = await app.tenant()
  const screen = home.terminal(
    "rungate dev stripe trigger checkout.session.completed --amount 30.00",
    {
      RUNGATE_API_KEY: org.key
    },
    120
  )
  expect(await screen.ended).toBe(0)
  const seen = Bun.stripANSI(screen.seen())
  expect(seen).toMatch(
    /sent +checkout\.session\.completed evt_trigger\w+: stored\r\nledger +topup \$30\.00, balance \$30\.00\r\nNo money moved/
  )
  const [payment] = await payments(org)
  const session = String(payment?.["session_id"])
  expect(seen).toContain(session)

  const part = await trigger(org, `refund.created --session ${session} --amount 5.00`)
  expect([part.code, part.body.entries]).toEqual([0, (await org.ledger()).slice(0, 1)])
  const failed = await trigger(org, `refund.failed --session ${session} --amount 5.00 --object ${part.body.object}`)
  expect([failed.code, failed.body.events.length]).toEqual([0, 1])
  expect(await moved(org)).toEqual(["topup 30.00", "refund -5.00", "refund 5.00"])
  await app.books()

  // Minutes later it is no news any more that Stripe doesn't have it.
  for (const table of ["payments", "payment_events"]) {
    await app.sql(`UPDATE ${table} SET created_at = now() - interval '1 hour' WHERE payment_id = $1`, [
      payment?.["payment_id"]
    ])
  }
  const audit = runMain(["audit"], { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production", ...stripe.settings })
  expect((await audit.ended).code).toBe(1)
  expect(audit.output()).toContain("The books add up")
  expect(audit.output()).toContain(
    `${org.org_id} was credited 30.00 USD for ${session} ${intentOf(session)}, which is not settled at the processor`
  )
})

test.concurrent("disputes bring their payment along; payments that fail or expire credit nothing; what is real is found by its name", async () => {
  const [disputer, loser, poor, real] = await Promise.all([app.tenant(), app.tenant(), app.tenant(), app.tenant()])
  const { body: checkout } = await real.post("/v1/wallet/topups/checkout", { amount: "25.00" })
  const { payment_intent } = stripe.pay(checkout.session_id)
  await stripe.deliverAll(`${app.url}/v1/webhooks/stripe`, {
    only: (event) => event["data"].object.id === checkout.session_id
  })
  await until("it is credited", real.wallet, (wallet) => wallet.balance === "25.00")
  stripe.card({ decline: "processing" })
  const auto = { enabled: true, threshold: "30.00", amount: "25.00" }
  await app.call(await real.session(), "POST", "/v1/wallet/auto-topup", { body: auto })
  const [charge] = await until(
    "an automatic top-up is under way",
    async () => (await payments(real)).filter((one) => one["kind"] === "auto"),
    (found) => found.length === 1
  )
  const refunded = stripe.refund(payment_intent, 1_000)

  const said = await Promise.all([
    trigger(disputer, "charge.dispute.closed"),
    trigger(loser, "charge.dispute.closed --outcome lost"),
    trigger(poor, "checkout.session.expired"),
    trigger(poor, "checkout.session.async_payment_failed"),
    trigger(real, `payment_intent.succeeded --payment ${charge?.["payment_id"]}`),
    trigger(real, `charge.refunded --payment-intent ${payment_intent}`)
  ])
  expect(said.map(({ code, err }) => [code, err.startsWith("rungate:")])).toEqual(said.map(() => [0, false]))
  expect(await moved(disputer)).toEqual(["topup 25.00", "refund -25.00", "refund 25.00"])
  expect(await moved(loser)).toEqual(["topup 25.00", "refund -25.00"])
  const states = () => payments(poor)
  await until("both have ended", states, (rows) => rows.every(({ state }) => state !== "open"))
  expect([(await states()).map(({ state }) => state).toSorted(), await moved(poor)]).toEqual([
    ["expired", "failed"],
    []
  ])
  await until("the refund is booked", real.ledger, (entries) => entries.some(({ reference }) => reference === refunded))
  expect((await moved(real)).toSorted()).toEqual(["refund -10.00", "topup 25.00", "topup 25.00"])
  await app.books()
})

test.concurrent.if(dueToday(3))(
  "without the secret, on a live key, elsewhere, in the sandbox, on a live service: nothing is opened and nothing credited",
  async () => {
    const live = await startStripe({ live: true })
    const [sandbox, earnest] = await Promise.all([
      startApp(),
      startApp({ settings: { RUNGATE_MODE: "production", RUNGATE_RECONCILE_SECONDS: "86400", ...live.settings } })
    ])
    const [org, sandboxed, customer] = await Promise.all([app.tenant(), sandbox.tenant(), earnest.tenant()])
    const completed = "checkout.session.completed"
    const { body: asked } = await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })
    const said = await Promise.all([
      trigger(org, completed, { STRIPE_WEBHOOK_SECRET: "" }),
      trigger(org, completed, { STRIPE_SECRET_KEY: "sk_live_1" }),
      trigger(org, completed, { RUNGATE_URL: "http://192.0.2.1:8787" }),
      trigger(org, completed, { STRIPE_WEBHOOK_SECRET: "whsec_wrong" }),
      trigger(sandboxed, completed, { RUNGATE_URL: sandbox.url }),
      trigger(customer, completed, { RUNGATE_URL: earnest.url }),
      trigger(org, "payment_intent.succeeded"),
      trigger(org, "charge.refunded"),
      trigger(org, `${completed} --amount 0.001`),
      trigger(org, "invoice.paid"),
      trigger(org, ""),
      trigger(org, `${completed} --session cs_of_nobody`),
      trigger(org, `${completed} --session ${asked.session_id} --amount 2500.00`)
    ])
    expect(said.map(({ code, err }) => [code, err])).toEqual([
      [5, expect.stringContaining("Set STRIPE_WEBHOOK_SECRET")],
      [4, expect.stringContaining("is a live key")],
      [4, expect.stringContaining("--remote")],
      [5, expect.stringContaining("No signature matches")],
      [5, expect.stringContaining("The sandbox has no payment processor")],
      [5, expect.stringContaining("The event is from test mode")],
      [5, expect.stringContaining("--payment pay_")],
      [5, expect.stringContaining("--payment-intent pi_")],
      [5, expect.stringContaining("whole cents")],
      [5, expect.stringContaining("--list")],
      [5, expect.stringContaining("--list")],
      [250, expect.stringContaining("has no such payment")],
      [8, expect.stringContaining("the amount differs")]
    ])
    for (const { err } of said) expect(err).not.toContain("whsec_")
    expect((await payments(org)).map(({ session_id }) => session_id)).toEqual([asked.session_id])
    expect([await moved(org), live.lists.sessions(), (await sandboxed.wallet()).balance]).toEqual([[], [], "0.00"])

    await Promise.all([sandbox.stop(), earnest.stop(), live.stop()])
  },
  60_000
)
