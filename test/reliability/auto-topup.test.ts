/**
 * Automatic top-up under everything that can happen to it: crowds, declines, a processor that is away, a process that stops.
 *
 * Whatever happens, the local Stripe charges a card once per top-up, and the ledger shows exactly what was charged.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type App, backends, figures, startApp, until } from "../app.ts"
import type { Thing } from "../payments/account.ts"
import { type Desk, openDesk, webhookPath } from "../payments/cashdesk.ts"
import { type Holder, holder, inFlightOnce, keysOf } from "../payments/holder.ts"
import { type FaultOptions, startStripe } from "../payments/standin.ts"

/** What one run costs. */
const price = 0.003
const leaseSeconds = 2

const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json({ email: "jane.doe@example.com", email_status: "valid", credits_consumed: 0.25 })
})
afterAll(() => provider.stop(true))
const settings = {
  RUNGATE_LEASE_SECONDS: `${leaseSeconds}`,
  RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "s3cret",
  RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: `http://127.0.0.1:${provider.port}`
}

describe.each(backends)("automatic top-up over two processes, queues on %s", (backend) => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ backend, settings })
  })
  afterEach(async () => {
    desk.stripe.card({ decline: null })
    await desk.books()
    await inFlightOnce(desk.apps[0])
  })
  afterAll(() => desk.stop())
  const open = async (deposit = "25.00") => {
    const { org } = await desk.paid(deposit)
    return holder(desk.apps[0], desk.stripe, org)
  }
  const succeeded = (intent: Thing) =>
    desk.about(intent["id"]).find(({ type }) => type === "payment_intent.succeeded") ?? expect.unreachable("no event")

  test("T47 autotopup.storm: 50 runs at once, a slow charge, its event before its answer, and again after it", async () => {
    const [org, bystander] = [await open(), await open()]
    await bystander.set({ threshold: "24.00", amount: "10.00" })
    await org.set({ threshold: "24.95", amount: "20.00" })
    const slow = desk.stripe.fault({ on: "charge", at: "after", how: "hang" })
    await org.runs(50, desk.apps)
    await slow.struck
    // Everybody sees a balance below the threshold, and the charge is still on its way.
    await org.runs(10, desk.apps)
    expect([org.asks().length, (await org.payments()).length]).toEqual([1, 1])
    expect(await org.balance()).toBeCloseTo(25 - 60 * price, 6)

    const event = succeeded(org.charges()[0] ?? expect.unreachable("no charge"))
    await Promise.all([desk.tell(event, 0), desk.tell(event, 1)])
    await desk.applied(org)
    expect(await org.balance()).toBeCloseTo(45 - 60 * price, 6)
    slow.release()
    await until("its answer was taken, too", org.answers, (answers) => answers === 1)
    await desk.tell(event)
    await desk.applied()

    expect(await org.arrived()).toEqual(["20.00"])
    expect(await org.setting()).toEqual({ enabled: true, threshold: "24.95", amount: "20.00", last_error: null })
    expect([bystander.asks().length, await bystander.balance()]).toEqual([0, 25])
    const found = { charges: org.charges().length, asks: org.asks().length, keys: keysOf(org.asks()) }
    expect(found).toEqual({ charges: 1, asks: 1, keys: 1 })
    figures("T47 autotopup.storm", { backend, runs: 60, ...found, topups: 1, violations: found.charges - 1 })
  })

  test("T47 card declines: shown, asked again ever more rarely, and switched off at the fifth", async () => {
    const org = await open()
    desk.stripe.card({ decline: "expired_card" })
    await org.set({ threshold: "30.00", amount: "10.00" })
    const waits: Array<number> = []
    for (let declines = 1; declines <= 4; declines++) {
      await org.ended(declines)
      const { enabled, last_error } = await org.setting()
      expect([enabled, last_error]).toEqual([true, "Your card has expired."])
      // Neither runs nor a look of the cashier, here provoked, asks the card before its time.
      await org.runs(3, desk.apps)
      await desk.applied()
      expect(org.asks()).toHaveLength(declines)
      waits.push(await org.retryHours())
      await org.rest()
    }
    await org.ended(5)
    expect(waits).toEqual([1, 6, 24, 72])
    const off = await org.setting()
    expect(off).toMatchObject({ enabled: false, threshold: "30.00", amount: "10.00" })
    expect(off.last_error).toBe("Your card has expired. Automatic top-up was switched off after 5 declines in a row.")

    // What the processor says of it all, late and twice, adds nothing.
    const events = org.intents().flatMap((intent) => desk.about(intent["id"]))
    await desk.tellAll([...events, ...events])
    await org.runs(1)
    await desk.applied()
    expect(await org.setting()).toEqual(off)
    expect([org.asks().length, keysOf(org.asks()), org.charges().length]).toEqual([5, 5, 0])

    desk.stripe.card({ decline: null })
    await org.set({ threshold: "30.00", amount: "10.00" })
    await org.ended(6)
    expect(await org.setting()).toMatchObject({ enabled: true, last_error: null })
    expect(await org.arrived()).toEqual(["10.00"])
    figures("T47 autotopup.declines", { backend, declines: 5, waits_h: waits.join(" "), charges: org.charges().length })
  })

  test("T47 a process stops between the turn and the charge, and within the charge", async () => {
    const stripe = await startStripe()
    const all = { RUNGATE_MODE: "production", RUNGATE_RECONCILE_SECONDS: "86400", ...stripe.settings, ...settings }
    const http = await startApp({ backend, role: "http", settings: all })
    const apps = [http]
    const worker = async () => {
      const app = await startApp({ beside: http, role: "worker", settings: all })
      apps.push(app)
      return app
    }
    try {
      let charges = 0
      for (const on of [/^GET \/v1\/payment_intents\//, "charge"] as const) {
        const doomed = await worker()
        const org = await holder(http, stripe, await http.tenant())
        const { body } = await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })
        stripe.pay(body.session_id)
        await stripe.deliverAll(`${http.url}${webhookPath}`, { only: ({ data }) => data.object.id === body.session_id })
        await until("the checkout is credited", org.balance, (balance) => balance === 25)
        await org.set({ threshold: "25.00", amount: "10.00" })
        // As if nobody had asked yet which method it is: the cashier has to.
        await http.sql("UPDATE payment_methods SET payment_method = NULL WHERE org_id = $1", [org.org_id])
        const hung = stripe.fault({ on, how: "hang" })
        await org.runs(1)
        await hung.struck
        await doomed.stop()
        hung.release()
        const heir = await worker()
        await org.hurry()
        await org.ended(1)
        await heir.stop()
        expect([org.charges().length, keysOf(org.asks()), await org.arrived()]).toEqual([1, 1, ["10.00"]])
        charges += org.charges().length
      }
      await inFlightOnce(http)
      await http.books()
      figures("T47 autotopup.process_stops", { backend, stops: 2, charges, violations: charges - 2 })
    } finally {
      for (const app of apps.reverse()) await app.stop().catch(() => {})
      await stripe.stop()
    }
  }, 30_000)
})

describe("what else befalls a charge", () => {
  let desk: Desk
  let app: App
  beforeAll(async () => {
    desk = await openDesk({ settings })
    app = desk.apps[0]
  })
  afterEach(async () => {
    desk.stripe.card({ decline: null })
    await desk.books()
    await inFlightOnce(app)
  })
  afterAll(() => desk.stop())
  const open = async () => holder(app, desk.stripe, (await desk.paid("25.00")).org)
  const refill = { threshold: "30.00", amount: "10.00" }
  const tellAbout = async (org: Holder) => desk.tellAll(org.intents().flatMap((intent) => desk.about(intent["id"])))
  const charged = (org: Holder) =>
    until(
      "it is charged",
      async () => {
        await org.hurry()
        return org.balance()
      },
      (balance) => balance > 30
    )

  const away: ReadonlyArray<readonly [string, FaultOptions]> = [
    ["the connection is closed before it was heard", { at: "before", how: "close", times: 2 }],
    ["the connection is closed after it was made", { at: "after", how: "close", times: 2 }],
    ["500 before it was made", { at: "before", how: 500, times: 2 }],
    ["503 before it was made", { at: "before", how: 503, times: 2 }],
    ["429", { at: "before", how: 429, times: 2 }]
  ]
  test.each(away)("T47 Stripe is away: %s", async (_name, how) => {
    const org = await open()
    const fault = desk.stripe.fault({ on: "charge", ...how })
    await org.set(refill)
    await fault.struck
    await org.runs(3, desk.apps)
    await charged(org)
    expect(org.asks().length).toBeGreaterThanOrEqual(2)
    expect([org.charges().length, keysOf(org.asks()), await org.arrived()]).toEqual([1, 1, ["10.00"]])
    expect((await org.setting()).last_error).toBeNull()
  })

  test("T47 Stripe hangs: another process asks too, under the same key, and it is charged once", async () => {
    const org = await open()
    const fault = desk.stripe.fault({ on: "charge", how: "hang" })
    await org.set(refill)
    await fault.struck
    await org.hurry()
    await until(
      "the other one was told to wait",
      () => org.asks().length,
      (asks) => asks >= 2
    )
    expect(org.asks()[1]?.status).not.toBe(200)
    fault.release()
    await charged(org)
    await desk.applied()
    expect([org.charges().length, keysOf(org.asks()), await org.arrived()]).toEqual([1, 1, ["10.00"]])
  })

  test("T47 Stripe answers 500 to a charge that it made, for ever: its event credits it", async () => {
    const org = await open()
    const fault = desk.stripe.fault({ on: "charge", at: "after", how: 500 })
    await org.set(refill)
    await fault.struck
    await until(
      "it was asked again",
      async () => {
        await org.hurry()
        return org.asks().length
      },
      (asks) => asks >= 4
    )
    expect([org.charges().length, await org.arrived(), (await org.payments()).length]).toEqual([1, [], 1])
    await tellAbout(org)
    await charged(org)
    expect([org.charges().length, keysOf(org.asks()), await org.arrived()]).toEqual([1, 1, ["10.00"]])
  })

  test.each([
    ["made", "after", 1],
    ["never made", "before", 0]
  ] as const)(
    "T47 a charge of yesterday that was %s is looked up, and not asked for again",
    async (_name, at, made) => {
      const org = await open()
      const fault = desk.stripe.fault({ on: "charge", at, how: "close", times: 2 })
      await org.set(refill)
      await until("the answer is lost for good", fault.hits, (hits) => hits === 2)
      await app.sql(
        "UPDATE payments SET created_at = created_at - interval '21 hours' WHERE org_id = $1 AND kind = 'auto'",
        [org.org_id]
      )
      const asks = org.asks().length
      await until(
        "it has ended",
        async () => {
          await org.hurry()
          return (await org.payments())[0]?.["state"]
        },
        (state) => state !== "open"
      )
      expect([org.asks().length, org.charges().length]).toEqual([asks, made])
      if (made === 1) {
        expect([await org.arrived(), (await org.setting()).last_error]).toEqual([["10.00"], null])
      } else {
        expect((await org.setting()).last_error).toBe("The charge did not reach the payment processor.")
        expect(await org.retryHours()).toBe(1)
        await org.rest()
        await charged(org)
        expect([org.charges().length, keysOf(org.asks())]).toEqual([1, 2])
      }
    }
  )

  test("T47 a bank that wants its customer: declined with the way out, and the charge is cancelled", async () => {
    const org = await open()
    desk.stripe.card({ decline: "requires_action" })
    await org.set(refill)
    await org.ended(1)
    const { last_error } = await org.setting()
    expect(last_error).toBe(
      "The bank wants its customer to confirm this payment. Top up once through the checkout page."
    )
    expect(org.intents().map(({ status }) => status)).toEqual(["canceled"])
    await tellAbout(org)
    await desk.applied()
    expect([(await org.setting()).last_error, await org.retryHours()]).toEqual([last_error, 1])
  })

  test.each([
    ["expired_card", "charge", "Your card has expired."],
    ["requires_action", /^POST .*\/cancel$/, "The bank wants its customer to confirm this payment."]
  ] as const)("T47 %s: its event comes before its answer, and it is one decline", async (decline, on, message) => {
    const org = await open()
    desk.stripe.card({ decline })
    const fault = desk.stripe.fault({ on, at: "after", how: "hang" })
    await org.set(refill)
    await fault.struck
    await tellAbout(org)
    await org.ended(1)
    const told = await org.setting()
    expect(told.last_error).toStartWith(message)
    fault.release()
    await until("its answer was taken, too", org.answers, (answers) => answers === 1)
    expect([await org.setting(), await org.retryHours(), org.charges().length]).toEqual([told, 1, 0])
  })

  test.each(["settleCharge", "failCharge"] as const)(
    "T47 a charge that Stripe works on stays the only one: %s",
    async (end) => {
      const org = await open()
      desk.stripe.card({ decline: "processing" })
      await org.set(refill)
      const [intent = expect.unreachable("no intent")] = await until(
        "it is asked",
        org.intents,
        (all) => all.length > 0
      )
      await org.runs(5, desk.apps)
      await org.hurry()
      await until(
        "it was asked about",
        () => org.asks().length,
        (asks) => asks === 2
      )
      expect([keysOf(org.asks()), (await org.payments()).length, await org.arrived()]).toEqual([1, 1, []])
      desk.stripe[end](intent["id"])
      await tellAbout(org)
      await org.ended(1)
      const { last_error } = await org.setting()
      expect([await org.arrived(), last_error]).toEqual(
        end === "settleCharge" ? [["10.00"], null] : [[], "Your card was declined."]
      )
    }
  )

  test("T47 a new card is charged at once, and what the old one was declined for is forgotten", async () => {
    const org = await open()
    desk.stripe.card({ decline: "generic_decline" })
    await org.set({ threshold: "50.00", amount: "10.00" })
    await org.ended(1)
    desk.stripe.card({ decline: null })
    const { session_id } = await desk.paid("20.00", org)
    await org.ended(2)
    expect([await org.balance(), (await org.setting()).last_error]).toEqual([55, null])
    const session = desk.stripe.lists.sessions().find(({ id }) => id === session_id)
    const paid = desk.stripe.lists.payment_intents().find(({ id }) => id === session?.["payment_intent"])
    const methods = org.asks().map(({ params }) => params["payment_method"])
    expect(methods[1]).toBe(paid?.["payment_method"])
    expect(methods[0]).not.toBe(methods[1])
  })

  test("T47 a card that was removed at Stripe is a decline that says what to do", async () => {
    const org = await open()
    await org.set({ ...refill, threshold: "25.00" })
    const [{ payment_method } = {}] = await app.sql("SELECT payment_method FROM payment_methods WHERE org_id = $1", [
      org.org_id
    ])
    desk.stripe.removeMethod(String(payment_method))
    await org.runs(1)
    await org.ended(1)
    expect(await org.setting()).toMatchObject({
      enabled: true,
      last_error: "The saved payment method can't be charged any more. Top up once through the checkout page."
    })
    expect([org.charges().length, await org.retryHours()]).toEqual([0, 1])
  })

  test("T47 the daily maximum: reached, said, and over on the next day", async () => {
    const org = await open()
    await org.set({ threshold: "600.00", amount: "250.00" })
    const full = "The daily maximum of $500.00 for automatic top-ups is reached; the next is at 00:00 UTC."
    await until("the maximum is reached", org.setting, ({ last_error }) => last_error === full)
    await org.runs(3, desk.apps)
    await desk.applied()
    expect([await org.arrived(), org.asks().length]).toEqual([["250.00", "250.00"], 2])
    // Midnight: what was charged was charged yesterday.
    await app.sql("UPDATE auto_topups SET day = day - 1 WHERE org_id = $1", [org.org_id])
    await org.rest()
    await org.ended(3)
    expect(await org.arrived()).toEqual(["250.00", "250.00", "250.00"])
    expect(await org.setting()).toMatchObject({ enabled: true, last_error: null })
  })

  test("T47 switched off while a charge is in flight: that one is credited, and it is off", async () => {
    const org = await open()
    const fault = desk.stripe.fault({ on: "charge", how: "hang" })
    await org.set(refill)
    await fault.struck
    await org.set({ ...refill, enabled: false })
    fault.release()
    await charged(org)
    await org.set({ ...refill, threshold: "90.00", enabled: false })
    await org.runs(1)
    await desk.applied()
    expect([org.asks().length, await org.arrived(), (await org.setting()).enabled]).toEqual([1, ["10.00"], false])
  })

  test.each(["refund", "dispute"] as const)(
    "T47 a %s switches it off, or it would charge the card for what went back",
    async (kind) => {
      const org = await open()
      await org.set(refill)
      await charged(org)
      const intent: string = org.charges()[0]?.["id"]
      desk.stripe[kind](intent)
      await tellAbout(org)
      await until("it went back", org.balance, (balance) => balance === 25)
      await org.runs(1)
      await desk.applied()
      const { enabled, last_error } = await org.setting()
      expect([enabled, org.asks().length]).toEqual([false, 1])
      expect(last_error).toContain(`because a payment was ${kind === "refund" ? "refunded" : "disputed"}`)
    }
  )
})
