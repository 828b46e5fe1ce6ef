/**
 * Automatic top-up on either queue: crowds at the threshold, a card that declines, a process that stops.
 *
 * Whatever happens, the local Stripe charges a card once per top-up, and the ledger shows exactly what was charged.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, figures, startApp, until } from "../../kit/app.ts"
import type { Thing } from "../../layers/payments/account.ts"
import { type Desk, openDesk, webhookPath } from "../../layers/payments/cashdesk.ts"
import { holder, inFlightOnce, keysOf, startVerifier } from "../../layers/payments/holder.ts"
import { startStripe } from "../../layers/payments/standin.ts"

/** What one run costs. */
const price = 0.003

const provider = startVerifier()
const settings = { RUNGATE_LEASE_SECONDS: "2", ...provider.settings }
afterAll(provider.stop)

describe.each(oneBackend)("automatic top-up over two processes, queues on %s", (backend) => {
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
    figures("T47 autotopup.storm", { backend, ...found })
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
      // Neither runs nor a check by the payment worker, here provoked, asks the card before its time.
      await org.runs(3, desk.apps)
      await desk.applied()
      expect(org.asks()).toHaveLength(declines)
      waits.push(await org.retryHours())
      await org.rest()
    }
    await org.ended(5)
    expect(waits).toEqual([1, 6, 24, 72])
    const told = () =>
      desk.apps[0].sql(
        "SELECT data->>'payment_id' AS payment_id, data->>'reason' AS reason FROM events WHERE org_id = $1 AND kind = 'topup.failed'",
        [org.org_id]
      )
    const failed = await until("five alerts", told, (events) => events.length >= 5)
    expect(new Set(failed.map(({ payment_id }) => payment_id)).size).toBe(5)
    expect([failed.length, failed[0]?.["reason"]]).toEqual([5, "Your card has expired."])
    const off = await org.setting()
    expect(off).toMatchObject({ enabled: false, threshold: "30.00", amount: "10.00" })
    expect(off.last_error).toContain(
      "Your card has expired. Automatic top-up was switched off after 5 declines in a row"
    )

    // What the processor says of it all, late and twice, adds nothing.
    const events = org.intents().flatMap((intent) => desk.about(intent["id"]))
    await desk.tellAll([...events, ...events])
    await org.runs(1)
    await desk.applied()
    expect(await org.setting()).toEqual(off)
    expect([org.asks().length, keysOf(org.asks()), org.charges().length]).toEqual([5, 5, 0])

    desk.stripe.card({ decline: null })
    await org.set({ threshold: "30.00", amount: "10.00" })
    await desk.applied()
    expect(org.asks()).toHaveLength(5)
    await org.rest()
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
        // As if nobody had asked yet which method it is: the payment worker has to.
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
      figures("T47 autotopup.process_stops", { backend, charges })
    } finally {
      for (const app of apps.reverse()) await app.stop().catch(() => {})
      await stripe.stop()
    }
  })
})
