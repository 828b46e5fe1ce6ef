/**
 * What nobody told us: webhooks that were lost, or came while the service was down, are made up for by our own look at Stripe's records, and
 * a webhook that comes after all changes nothing.
 *
 * Two processes reconcile every second, both over the same database.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { startApp, type Tenant, until } from "../../kit/app.ts"
import { type Desk, moved, openDesk, type Sale } from "../../layers/payments/cashdesk.ts"
import type { FaultOptions } from "../../layers/payments/standin.ts"

const everySecond = { RUNGATE_RECONCILE_SECONDS: "1" }
let desk: Desk
beforeAll(async () => {
  desk = await openDesk({ settings: everySecond })
})
afterAll(() => desk.stop())
const faults: Array<{ readonly lift: () => void }> = []
afterEach(async () => {
  for (const fault of faults.splice(0)) fault.lift()
  await desk.books()
})

const broken = (options: FaultOptions) => {
  const fault = desk.stripe.fault({ times: 1_000_000, ...options })
  faults.push(fault)
  return fault
}
/** Stripe's list of events can't be read: only looking at a session can help. */
const withoutEvents = () => broken({ on: /^GET \/v1\/events$/, how: 400 })
/** Its time to be looked at has come; that is a minute after it was opened. */
const lookNow = ({ payment_id }: Sale) =>
  desk.apps[0].sql("UPDATE payments SET look_at = now() - interval '1 second' WHERE payment_id = $1", [payment_id])
const expectEntries = (org: Tenant, ...expected: ReadonlyArray<string>) =>
  until(
    `the ledger has ${expected.join(", ")}`,
    () => moved(org),
    (found) => JSON.stringify(found) === JSON.stringify(expected)
  )
const stateOf = ({ payment_id }: Sale) => desk.payment(payment_id).then(({ state }) => state)
const looks = async ({ payment_id }: Sale) =>
  Number((await desk.apps[0].sql("SELECT looks FROM payments WHERE payment_id = $1", [payment_id]))[0]?.["looks"])

test("a session that was paid and never announced is credited, and the late webhook changes nothing", async () => {
  const deaf = withoutEvents()
  const sale = await desk.buyer()
  const { payment_intent } = desk.stripe.pay(sale.session_id)
  await lookNow(sale)
  await expectEntries(sale.org, "topup 25.00")
  expect(
    desk.apps.some(({ logs }) =>
      logs.some((line) => line.includes(`${sale.payment_id} was paid, but no webhook arrived`))
    )
  ).toBe(true)
  await desk.tellAll([...desk.about(payment_intent), ...desk.about(payment_intent)])
  await desk.applied()
  expect(await moved(sale.org)).toEqual(["topup 25.00"])
  expect(await desk.payment(sale.payment_id)).toMatchObject({
    state: "paid",
    payment_intent,
    session_id: sale.session_id
  })
  deaf.lift()
})

test("an expired session ends its payment, an open one stays, and neither credits", async () => {
  const deaf = withoutEvents()
  const [over, open] = await Promise.all([desk.buyer(), desk.buyer()])
  desk.stripe.expire(over.session_id)
  await Promise.all([lookNow(over), lookNow(open)])
  await until(
    "the expired one ends",
    () => stateOf(over),
    (state) => state === "expired"
  )
  await until(
    "the open one was looked at",
    () => looks(open),
    (count) => count > 0
  )
  expect([await stateOf(open), await over.org.ledger(), await open.org.ledger()]).toEqual(["open", [], []])
  deaf.lift()
  // The customer takes their time.
  desk.stripe.pay(open.session_id)
  await expectEntries(open.org, "topup 25.00")
})

test("a checkout whose session nobody noted ends after a day, and is credited all the same when it was paid", async () => {
  const org = await desk.apps[0].tenant()
  desk.stripe.fault({ on: "checkout", at: "after", how: 500 })
  expect((await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })).status).toBe(503)
  const deaf = withoutEvents()
  const aged =
    "UPDATE payments SET created_at = now() - interval '27 hours', look_at = now() WHERE org_id = $1 RETURNING payment_id"
  const [row] = await desk.apps[0].sql(aged, [org.org_id])
  const state = async () => (await desk.payment(String(row?.["payment_id"])))["state"]
  await until("it ends", state, (found) => found === "expired")
  const session = desk.stripe.sessionsOf(String(row?.["payment_id"]))[0]
  desk.stripe.pay(session?.id)
  deaf.lift()
  await expectEntries(org, "topup 25.00")
  expect(await state()).toBe("paid")
})

test("events that were never delivered are read: payments, refunds and disputes, each once", async () => {
  const sales = await Promise.all([desk.buyer("10.00"), desk.buyer("20.00"), desk.buyer("30.00")])
  const [refunded, disputed, kept] = sales
  const intents = sales.map(({ session_id }) => desk.stripe.pay(session_id).payment_intent)
  desk.stripe.refund(intents[0] ?? "", 400)
  desk.stripe.closeDispute(desk.stripe.dispute(intents[1] ?? ""), "lost")
  await until(
    "all is heard",
    () => Promise.all(sales.map(({ org }) => org.wallet())),
    (wallets) => wallets.map(({ balance }) => balance).join() === "6.00,0.00,30.00"
  )
  for (const intent of intents) await desk.tellAll(desk.about(intent).toReversed())
  await desk.applied()
  expect(await Promise.all([refunded, disputed, kept].map((sale) => sale && moved(sale.org)))).toEqual([
    ["topup 10.00", "refund -4.00"],
    ["topup 20.00", "refund -20.00"],
    ["topup 30.00"]
  ])
})

test("an event that Stripe lists late, with a time of before the last look, is found", async () => {
  const sale = await desk.buyer()
  const { payment_intent } = desk.stripe.pay(sale.session_id)
  for (const event of desk.about(payment_intent)) event["created"] -= 10 * 60
  await expectEntries(sale.org, "topup 25.00")
})

test("Stripe is down meanwhile: it is asked again and again, and nothing is lost or made up", async () => {
  const { org, intent } = await desk.paid("10.00")
  const sale = await desk.checkout(org, "20.00")
  const away = broken({ on: /^GET /, how: "close" })
  desk.stripe.pay(sale.session_id)
  desk.stripe.refund(intent, 100)
  await lookNow(sale)
  await until(
    "it was asked some times",
    () => away.hits(),
    (hits) => hits >= 6
  )
  await until(
    "the session was asked for, too",
    () => looks(sale),
    (count) => count > 0
  )
  expect([await moved(org), await stateOf(sale)]).toEqual([["topup 10.00"], "open"])
  away.lift()
  await until(
    "all is heard",
    () => org.wallet(),
    ({ balance }) => balance === "29.00"
  )
  expect((await moved(org)).toSorted()).toEqual(["refund -1.00", "topup 10.00", "topup 20.00"])
})

test("what happened while no process was running is heard after the start", async () => {
  const one = await startApp({ settings: { RUNGATE_MODE: "production", ...desk.stripe.settings, ...everySecond } })
  const org = await one.tenant()
  const { body } = await org.post("/v1/wallet/topups/checkout", { amount: "25.00" })
  const { payment_intent } = desk.stripe.pay(body.session_id)
  await expectEntries(org, "topup 25.00")
  const late = (await org.post("/v1/wallet/topups/checkout", { amount: "15.00" })).body.session_id
  await one.stop()
  desk.stripe.refund(payment_intent, 500)
  desk.stripe.pay(late)
  const two = await startApp({ settings: one.settings, beside: one })
  const again = org.over(two)
  await until(
    "all is heard",
    () => again.wallet(),
    ({ balance }) => balance === "35.00"
  )
  expect((await moved(again)).toSorted()).toEqual(["refund -5.00", "topup 15.00", "topup 25.00"])
  await two.books()
  await two.stop()
})
