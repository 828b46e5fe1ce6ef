/**
 * What befalls a single automatic charge: a processor that is away, slow or asked too late, banks that say no, and owners who change
 * their minds. Whatever it is, the card is charged once per top-up, and its owner is told why it was not.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, until } from "../kit/app.ts"
import { type Desk, openDesk } from "../layers/payments/cashdesk.ts"
import { type Holder, holder, inFlightOnce, keysOf, startVerifier } from "../layers/payments/holder.ts"
import type { FaultOptions } from "../layers/payments/standin.ts"

const provider = startVerifier()
const settings = { RUNGATE_LEASE_SECONDS: "2", ...provider.settings }
afterAll(provider.stop)

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
  /** Looks again as soon as the last look has failed, and not while it is under way: its repetitions would mix with the next one's. */
  const impatiently = async (org: Holder) => {
    const payment = (await org.payments()).at(-1)
    const failures = desk.apps
      .flatMap(({ logs }) => logs)
      .filter((line) => line.includes(`${payment?.["payment_id"]}: `))
    if (failures.length >= Number(payment?.["looks"])) await org.hurry(failures.length)
    return payment?.["state"]
  }
  const charged = (org: Holder) =>
    until(
      "it is charged",
      async () => {
        await impatiently(org)
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
    // Stripe's client asks once more after "wait": the next test's faults must not meet that call.
    await until(
      "both processes were answered",
      () => org.asks().filter((ask) => ask.status === 200).length,
      (answered) => answered >= 2
    )
    await desk.applied()
    expect([org.charges().length, keysOf(org.asks()), await org.arrived()]).toEqual([1, 1, ["10.00"]])
  })

  test("T47 Stripe answers 500 to a charge that it made, for ever: the third look finds it, and its event adds nothing", async () => {
    const org = await open()
    const fault = desk.stripe.fault({ on: "charge", at: "after", how: 500 })
    await org.set(refill)
    await fault.struck
    await charged(org)
    // Two tries, and each is repeated once by Stripe's own client.
    expect(org.asks().map((ask) => ask.status)).toEqual([500, 500, 500, 500])
    await tellAbout(org)
    await desk.applied()
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
        () => impatiently(org),
        (state) => state !== "open"
      )
      expect([org.asks().length, org.charges().length]).toEqual([asks, made])
      if (made === 1) {
        expect([await org.arrived(), (await org.setting()).last_error]).toEqual([["10.00"], null])
      } else {
        expect((await org.setting()).last_error).toBe("The payment processor has no record of this charge.")
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
      await until(
        "it was asked about",
        async () => {
          await org.hurry(1)
          return org.asks().length
        },
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

  test("T47 a charge that failed and arrives after all leaves the next one, which is in flight, the only one", async () => {
    const org = await open()
    desk.stripe.card({ decline: "processing" })
    await org.set({ threshold: "50.00", amount: "10.00" })
    const [intent = expect.unreachable("no intent")] = await until("it is asked", org.intents, (all) => all.length > 0)
    desk.stripe.failCharge(intent["id"])
    await tellAbout(org)
    await org.ended(1)
    await org.rest()
    await until("the next one is asked", org.intents, (all) => all.length === 2)
    desk.stripe.settleCharge(intent["id"])
    await tellAbout(org)
    await until("the first one has arrived", org.arrived, (all) => all.length === 1)
    expect((await org.payments()).map((row) => row["state"])).toEqual(["paid", "open"])
    desk.stripe.card({ decline: null })
    desk.stripe.settleCharge(org.intents()[0]?.["id"])
    await tellAbout(org)
    await until("both have arrived", org.arrived, (all) => all.length >= 2)
    await until("it is lifted above its threshold", org.balance, (balance) => balance === 55)
    expect([org.charges().length, keysOf(org.asks())]).toEqual([3, 3])
  })

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

  test("T47 all in all, every charge at Stripe is one top-up on a ledger, and every top-up one charge", async () => {
    await until(
      "nothing is in flight",
      () => app.sql("SELECT 1 FROM payments WHERE kind = 'auto' AND state = 'open'"),
      (rows) => rows.length === 0
    )
    await desk.applied()
    const booked = await app.sql("SELECT reference FROM ledger WHERE type = 'topup' AND note = 'automatic top-up'")
    const charges = desk.stripe.charges()
    expect(booked.map((row) => row["reference"]).sort()).toEqual(charges.map(({ id }) => id).sort())
    const payments = new Set(charges.map(({ metadata }) => metadata.payment_id))
    const found = { charges: charges.length, payments: payments.size, topups: booked.length }
    figures("T47 autotopup.charges", { ...found, violations: found.charges - found.payments })
    expect(found.charges).toBe(found.payments)
    expect(found.charges).toBeGreaterThan(15)
  })
})
